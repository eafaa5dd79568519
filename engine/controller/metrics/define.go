package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A metric is what there is to know of a metric before it has any value.
type metric struct {
	Name string
	// Type is counter, gauge or histogram.
	Type   string
	Labels []string
	Help   string
}

// defined are the metrics of the operator. Beside them the endpoint serves those
// of controller-runtime, client-go, and the Go runtime.
var defined []metric

// define registers a metric.
func define[C prometheus.Collector](m metric, c C) C {
	defined = append(defined, m)
	metrics.Registry.MustRegister(c)
	return c
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return define(metric{name, "counter", labels, help},
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return define(metric{name, "gauge", labels, help},
		prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

// histogram is of seconds.
func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return define(metric{name, "histogram", labels, help},
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
}

// Each replica holds a Lease of its own by client-go's leader election, which takes every
// one of them for a leader: jacquard_leads says which one leads.
var _ = metrics.Registry.Unregister(prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "leader_election_master_status"}, []string{"name"}))
