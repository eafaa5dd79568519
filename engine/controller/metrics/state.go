package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Standing is what a resource counts as.
type Standing struct {
	Conditions []string
	// Problems are the reasons of its problems, each once.
	Problems []string
	// IsWaiting: it is not ready, and nobody has to act as far as is known.
	IsWaiting bool
}

// Stands says that a resource counts as now, and no longer as before.
func (k Kind) Stands(before, now Standing) {
	for _, c := range before.Conditions {
		resources.WithLabelValues(string(k), c).Dec()
	}
	for _, p := range before.Problems {
		problems.WithLabelValues(string(k), p).Dec()
	}
	waiting.WithLabelValues(string(k)).Add(boolValue(now.IsWaiting) - boolValue(before.IsWaiting))
	for _, c := range now.Conditions {
		resources.WithLabelValues(string(k), c).Inc()
	}
	for _, p := range now.Problems {
		problems.WithLabelValues(string(k), p).Inc()
	}
}

// Pending says how many resources a read-only operator would change.
func (k Kind) Pending(n int) { pending.WithLabelValues(string(k)).Set(float64(n)) }

// KindStates replaces the states that kinds had, by name, by those that they have.
func KindStates(before, now map[string]verdict.State) {
	for kind, state := range now {
		kindState.WithLabelValues(kind, string(state), string(state.Verdict())).Set(1)
	}
	for kind, state := range before {
		if now[kind] != state {
			kindState.DeleteLabelValues(kind, string(state), string(state.Verdict()))
		}
	}
}

// Paused reports whether the whole kind is paused.
func (k Kind) Paused(yes bool) { paused.WithLabelValues(string(k)).Set(boolValue(yes)) }

// Unwatched says how many kinds of objects it may not list or watch.
func (k Kind) Unwatched(n int) { unwatched.WithLabelValues(string(k)).Set(float64(n)) }

// Failing says how many kinds of objects cannot be listed or watched although it may.
func (k Kind) Failing(n int) { failing.WithLabelValues(string(k)).Set(float64(n)) }

// Panicked counts a panic.
func (k Kind) Panicked() { panicked.WithLabelValues(string(k)).Inc() }

// Loads says what became of the newest version of the folder.
func (k Kind) Loads(well bool) {
	invalid.WithLabelValues(string(k)).Set(boolValue(!well))
	panicked.WithLabelValues(string(k))
}

// Loaded counts a version of the folder that was taken up.
func (k Kind) Loaded(well bool) {
	result := "loaded"
	if !well {
		result = "invalid"
	}
	loads.WithLabelValues(string(k), result).Inc()
}

// CRDDeleted reports whether the CRD of a kind that was served is gone.
func (k Kind) CRDDeleted(yes bool) { setFlag(crdDeleted, string(k), yes) }

// CRDMissing reports whether a kind that was never served has a folder and no CRD.
func (k Kind) CRDMissing(yes bool) { setFlag(noCRD, string(k), yes) }

// SecondFolder reports whether there is a folder that is not used.
func (k Kind) SecondFolder(yes bool) { setFlag(duplicate, string(k), yes) }

// Elsewhere reports whether another installation serves the kind.
func (k Kind) Elsewhere(yes bool) { setFlag(elsewhere, string(k), yes) }

// Leads reports whether this process is the one that works, or leads those that do.
func Leads(yes bool) { leads.WithLabelValues().Set(boolValue(yes)) }

// Buckets says how many buckets this process serves.
func Buckets(n int) { buckets.WithLabelValues().Set(float64(n)) }

// Unowned says how many buckets nobody has, as the leader sees it; others say 0.
func Unowned(n int) { unowned.WithLabelValues().Set(float64(n)) }

// RootMissing reports whether a root cannot be read.
func RootMissing(root string, isMissing bool) { setFlag(rootMissing, root, isMissing) }

// ReadOnly reports whether this process changes nothing.
func ReadOnly(yes bool) { readOnly.WithLabelValues().Set(boolValue(yes)) }

// Strangers says how many labelled objects name no resource that is served here,
// by the kind that they name; "" are those that name none of ours.
func Strangers(counts map[string]int) {
	strangers.Reset()
	for kind, n := range counts {
		strangers.WithLabelValues(kind).Set(float64(n))
	}
}

// Build says which version runs.
func Build(version string) {
	buildInfo.Reset()
	buildInfo.WithLabelValues(version, runtime.Version()).Set(1)
}

// setFlag gives a gauge a series of value 1, or none.
func setFlag(of *prometheus.GaugeVec, label string, yes bool) {
	if yes {
		of.WithLabelValues(label).Set(1)
	} else {
		of.DeleteLabelValues(label)
	}
}

// boolValue returns 1 for true.
func boolValue(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Queues measures the queues of kinds, which are named after them.
type Queues struct{}

// NewDepthMetric counts what is due.
func (Queues) NewDepthMetric(kind string) workqueue.GaugeMetric {
	return queueDepth.WithLabelValues(kind)
}

// NewLatencyMetric measures how long it waits.
func (Queues) NewLatencyMetric(kind string) workqueue.HistogramMetric {
	return queueSeconds.WithLabelValues(kind)
}

// NewAddsMetric measures nothing: reconciliations are counted.
func (Queues) NewAddsMetric(string) workqueue.CounterMetric { return nothing{} }

// NewWorkDurationMetric measures nothing: controller-runtime does.
func (Queues) NewWorkDurationMetric(string) workqueue.HistogramMetric { return nothing{} }

// NewUnfinishedWorkSecondsMetric measures nothing.
func (Queues) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric { return nothing{} }

// NewLongestRunningProcessorSecondsMetric measures nothing.
func (Queues) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return nothing{}
}

// NewRetriesMetric measures nothing: reconciliations are counted by what came of them.
func (Queues) NewRetriesMetric(string) workqueue.CounterMetric { return nothing{} }

// A nothing is a metric that is not kept.
type nothing struct{}

func (nothing) Inc()            {}
func (nothing) Set(float64)     {}
func (nothing) Observe(float64) {}
