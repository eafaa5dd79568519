// Package report has the result of a run and its printed forms.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/bench/internal/audit"
	"github.com/jacquard-operator/jacquard/bench/internal/load"
)

// Report is the result of one run.
type Report struct {
	Name        string         `json:"name"`
	N           int            `json:"n"`
	Operator    string         `json:"operator"`
	Started     time.Time      `json:"started"`
	LoadAverage float64        `json:"loadAverage"` // 1 minute, before anything was started
	Raw         load.RawResult `json:"raw"`
	Phases      []*Phase       `json:"phases"`
}

// Phase is the result of one phase.
type Phase struct {
	Name      string  `json:"name"`
	Goal      string  `json:"goal"`
	Want      int     `json:"want,omitempty"`    // how many objects have a goal
	Reached   int     `json:"reached,omitempty"` // how many reached it in time
	Seconds   float64 `json:"seconds"`           // from the start to the last object at its goal (or to the time limit)
	Settled   float64 `json:"settledSeconds"`    // from the start to the operator's last write
	TimedOut  bool    `json:"timedOut,omitempty"`
	NotQuiet  bool    `json:"notQuiet,omitempty"` // the operator did not stop writing (restart: requesting) in time
	P50       float64 `json:"p50Milliseconds,omitempty"`
	P99       float64 `json:"p99Milliseconds,omitempty"`
	RatioRaw  float64 `json:"ratioToRaw,omitempty"`
	OthersP99 float64 `json:"othersP99Milliseconds,omitempty"` // of another client's requests

	// Of the operator, from the start of the phase until it had settled.
	Requests     audit.Counts `json:"requests"`
	RequestsPer  float64      `json:"requestsPerObject,omitempty"`
	CPUSeconds   float64      `json:"cpuSeconds"`
	PeakRSS      float64      `json:"peakRSSMiB"`
	SteadyRSS    float64      `json:"steadyRSSMiB"` // median of the readings
	WholeSeconds float64      `json:"wholeSeconds"` // length of the phase, the wait for quiet included

	// Of others in the same span, to judge the conditions of the run.
	ControlPlaneCPU float64 `json:"controlPlaneCPUSeconds"`
	HarnessCPU      float64 `json:"harnessCPUSeconds"`
	ForeignCPU      float64 `json:"foreignCPUSeconds"` // the rest of the machine

	Notes map[string]any `json:"notes,omitempty"`
}

// Sum is one result of a phase that was done several times: times, requests and
// CPU add up, and of memory and latencies the highest counts.
func Sum(phases []*Phase) *Phase {
	sum := *phases[0]
	for _, p := range phases[1:] {
		sum.Want += p.Want
		sum.Reached += p.Reached
		sum.Seconds += p.Seconds
		sum.Settled += p.Settled
		sum.TimedOut = sum.TimedOut || p.TimedOut
		sum.NotQuiet = sum.NotQuiet || p.NotQuiet
		sum.P50, sum.P99 = max(sum.P50, p.P50), max(sum.P99, p.P99)
		sum.Requests = sum.Requests.Plus(p.Requests)
		sum.CPUSeconds += p.CPUSeconds
		sum.PeakRSS, sum.SteadyRSS = max(sum.PeakRSS, p.PeakRSS), max(sum.SteadyRSS, p.SteadyRSS)
		sum.WholeSeconds += p.WholeSeconds
		sum.ControlPlaneCPU += p.ControlPlaneCPU
		sum.HarnessCPU += p.HarnessCPU
		sum.ForeignCPU += p.ForeignCPU
	}
	if sum.Want > 0 {
		sum.RequestsPer = float64(sum.Requests.Total()) / float64(sum.Want)
	}
	return &sum
}

// Note adds a remark.
func (p *Phase) Note(key string, value any) {
	if p.Notes == nil {
		p.Notes = map[string]any{}
	}
	p.Notes[key] = value
}

// Outcome fills the outcome of a phase from the times at which the objects got to their goals.
func (p *Phase) Outcome(start time.Time, at []time.Time) {
	p.Want, p.Reached = len(at), 0
	var last time.Time
	for _, t := range at {
		if !t.IsZero() {
			p.Reached++
		}
		if t.After(last) {
			last = t
		}
	}
	p.TimedOut = p.Reached < p.Want
	p.Seconds = last.Sub(start).Seconds()
	if p.TimedOut {
		p.Seconds = time.Since(start).Seconds()
	}
}

// Latencies fills the percentiles from the spans start[i] .. at[i]; zero times are left out.
func (p *Phase) Latencies(start, at []time.Time) {
	var ms []float64
	for i := range at {
		if !at[i].IsZero() && !start[i].IsZero() {
			ms = append(ms, at[i].Sub(start[i]).Seconds()*1000)
		}
	}
	p.P50, p.P99 = percentileOf(ms, 50), percentileOf(ms, 99)
}

// Bystander fills the percentile of another client's requests.
func (p *Phase) Bystander(took []time.Duration) {
	var ms []float64
	for _, t := range took {
		ms = append(ms, t.Seconds()*1000)
	}
	p.OthersP99 = percentileOf(ms, 99)
}

// percentileOf returns a percentile of values, or 0 if there are none.
func percentileOf(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*percent/100]
}

// Table prints the phases of a running benchmark.
type Table struct{ out io.Writer }

// NewTable prints the head of the table.
func NewTable(out io.Writer, r *Report) Table {
	fmt.Fprintf(out, "%s: N=%d load=%.2f raw: apply 2N %.2fs, create 2N %.2fs, update N %.2fs\n",
		r.Name, r.N, r.LoadAverage, r.Raw.ApplySeconds, r.Raw.CreateSeconds, r.Raw.UpdateSeconds)
	fmt.Fprintf(out, "%-9s %10s %9s %7s %8s %8s %8s %7s %7s %7s %7s %7s %7s %8s\n",
		"phase", "reached", "seconds", "ratio", "settled", "p50 ms", "p99 ms", "writes", "reads", "other", "req/obj", "cpu s", "rss MiB",
		"foreign")
	return Table{out}
}

// Line prints a phase.
func (t Table) Line(p *Phase) {
	fmt.Fprintf(t.out, "%-9s %10s %9.2f %7.2f %8.2f %8.0f %8.0f %7d %7d %7d %7.2f %7.2f %7.0f %8.2f %s\n",
		p.Name, p.Progress(), p.Seconds, p.RatioRaw, p.Settled, p.P50, p.P99,
		p.Requests.Writes, p.Requests.Reads, p.Requests.Other, p.RequestsPer, p.CPUSeconds, p.PeakRSS, p.ForeignCPU, p.Remarks())
}

// Progress is how many objects reached the goal, of how many.
func (p *Phase) Progress() string {
	if p.Want == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Reached, p.Want)
}

// Remarks are the notes in one line, with what went wrong first.
func (p *Phase) Remarks() string {
	var words []string
	if p.TimedOut {
		words = append(words, "TIMED OUT")
	}
	if p.NotQuiet {
		words = append(words, "NOT QUIET")
	}
	for _, k := range slices.Sorted(maps.Keys(p.Notes)) {
		words = append(words, fmt.Sprintf("%s=%v", k, p.Notes[k]))
	}
	return strings.Join(words, " ")
}

// Remark prints a line of text.
func (t Table) Remark(text string) { fmt.Fprintf(t.out, "  %s\n", text) }
