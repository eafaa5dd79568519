package reconcile

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The metrics are labelled by kind, the CRD's name, never by an object's name.
var (
	applies = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jacquard_writes_total", Help: "Writes to children that the API server accepted, by kind and what was done.",
	}, []string{"kind", "action"})
	refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jacquard_refusals_total", Help: "Writes to children that the API server refused, by kind and reason.",
	}, []string{"kind", "reason"})
	statusWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jacquard_status_writes_total", Help: "Statuses written, by kind.",
	}, []string{"kind"})
	remembered = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jacquard_remembered_resources", Help: "Resources that this process remembers something of, by kind.",
	}, []string{"kind"})
	renderSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "jacquard_render_seconds", Help: "Time to render the children of one resource.", Buckets: prometheus.ExponentialBuckets(0.00005, 4, 8),
	}, []string{"kind"})
)

func init() {
	metrics.Registry.MustRegister(applies, refusals, statusWrites, remembered, renderSeconds)
}
