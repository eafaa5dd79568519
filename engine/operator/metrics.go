package operator

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var foldersBroken = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "jacquard_folder_broken", Help: "1 while the newest version of a kind's folder does not load.",
}, []string{"kind"})

var foldersIdle = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "jacquard_folder_not_used", Help: "1 while a kind has a second folder, which is not used.",
}, []string{"kind"})

var kindsElsewhere = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "jacquard_kind_served_elsewhere", Help: "1 while another installation serves a kind that this one has a folder for.",
}, []string{"kind"})

var rolloutStopped = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "jacquard_rollout_stopped", Help: "1 while the rollout of a kind's changed folder waits for approval.",
}, []string{"kind"})

func init() {
	metrics.Registry.MustRegister(foldersBroken, foldersIdle, kindsElsewhere, rolloutStopped)
}
