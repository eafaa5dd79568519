package metrics

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A Metric is what there is to know of a metric before it has any value.
type Metric struct {
	Name string
	// Type is counter, gauge or histogram.
	Type   string
	Labels []string
	// Description is Markdown, with links as in docs/metrics.md. Its first sentence, as
	// plain text, is the help that the endpoint serves.
	Description string
}

// defined are the metrics of the operator. Beside them the endpoint serves those
// of controller-runtime, client-go, and the Go runtime.
var defined []Metric

// All returns the metrics of the operator in the order of the documents.
func All() []Metric { return slices.Clone(defined) }

// registerMetric registers a metric, and notes it for the documents.
func registerMetric[C prometheus.Collector](m Metric, c C) C {
	defined = append(defined, m)
	metrics.Registry.MustRegister(c)
	return c
}

// newCounter registers a counter.
func newCounter(name, description string, labels ...string) *prometheus.CounterVec {
	m := Metric{name, "counter", labels, description}
	return registerMetric(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: m.helpText()}, labels))
}

// newGauge registers a gauge.
func newGauge(name, description string, labels ...string) *prometheus.GaugeVec {
	m := Metric{name, "gauge", labels, description}
	return registerMetric(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: m.helpText()}, labels))
}

// newHistogram registers a histogram of seconds.
func newHistogram(name, description string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	m := Metric{name, "histogram", labels, description}
	return registerMetric(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: m.helpText(), Buckets: buckets}, labels))
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// helpText returns the first sentence of the description without Markdown.
func (m Metric) helpText() string {
	sentence, _, _ := strings.Cut(m.Description, ". ")
	sentence = link.ReplaceAllString(sentence, "$1")
	return strings.TrimSuffix(strings.ReplaceAll(sentence, "`", ""), ".") + "."
}

// Each replica holds a Lease of its own by client-go's leader election, which takes every
// one of them for a leader: jacquard_leader says which one leads.
var _ = metrics.Registry.Unregister(prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "leader_election_master_status"}, []string{"name"}))
