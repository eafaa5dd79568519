package operator

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var foldersBroken = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "jacquard_folder_broken", Help: "1 while the newest version of a kind's folder does not load.",
}, []string{"kind"})

func init() { metrics.Registry.MustRegister(foldersBroken) }
