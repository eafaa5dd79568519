// Package compare sets the runs of several operators side by side.
package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

// A Round has one run of each program, by name, made one after the other.
type Round map[string]*report.Report

// The programs that are compared.
const (
	Jacquard       = "jacquard"
	Handwritten    = "handwritten"
	HandwrittenSSA = "handwritten-ssa"
)

// A Metric is one figure of a run.
type Metric struct {
	Name   string
	Format string
	Of     func(*report.Report) float64
}

// sumPhases returns a function that adds up a figure of some phases.
func sumPhases(figure func(*report.Phase) float64, names ...string) func(*report.Report) float64 {
	return func(r *report.Report) (sum float64) {
		for _, p := range r.Phases {
			if slices.Contains(names, p.Name) {
				sum += figure(p)
			}
		}
		return sum
	}
}

// phaseSeconds returns how long a phase took.
func phaseSeconds(p *report.Phase) float64 { return p.Seconds }

// cpuSeconds returns the CPU time of the operator in a phase.
func cpuSeconds(p *report.Phase) float64 { return p.CPUSeconds }

// controlPlane returns the CPU time of the control plane in a phase.
func controlPlane(p *report.Phase) float64 { return p.ControlPlaneCPU }

// countWrites returns how many writes the operator made in a phase.
func countWrites(p *report.Phase) float64 { return float64(p.Requests.Writes) }

// countReads returns how many reads the operator made in a phase.
func countReads(p *report.Phase) float64 { return float64(p.Requests.Reads) }

// othersP99 returns the 99th percentile of another client's requests in a phase.
func othersP99(p *report.Phase) float64 { return p.OthersP99 }

// requestsPer returns how many requests a phase took for each resource.
func requestsPer(p *report.Phase) float64 { return p.RequestsPer }

// peakMemory returns the highest memory of all phases, in MiB.
func peakMemory(r *report.Report) (mib float64) {
	for _, p := range r.Phases {
		mib = max(mib, p.PeakRSS)
	}
	return mib
}

// allMetrics returns what is printed of each phase.
func allMetrics() []Metric {
	all := []Metric{{"peak RSS, MiB", "%.0f", peakMemory}}
	all = append(all, Metric{"single: p50, ms", "%.0f", sumPhases(func(p *report.Phase) float64 { return p.P50 }, "single")},
		Metric{"single: p99, ms", "%.0f", sumPhases(func(p *report.Phase) float64 { return p.P99 }, "single")})
	all = append(all, Metric{"create: another client's p99, ms", "%.0f", sumPhases(othersP99, "create")})
	for _, name := range []string{"create", "update", "drift", "restart", "delete"} {
		all = append(all, Metric{name + ": seconds", "%.2f", sumPhases(phaseSeconds, name)})
	}
	for _, name := range []string{"create", "idle", "update", "drift", "restart", "noise", "delete"} {
		all = append(all,
			Metric{name + ": operator CPU s", "%.2f", sumPhases(cpuSeconds, name)},
			Metric{name + ": control-plane CPU s", "%.2f", sumPhases(controlPlane, name)},
			Metric{name + ": writes", "%.0f", sumPhases(countWrites, name)},
			Metric{name + ": reads", "%.0f", sumPhases(countReads, name)})
	}
	return all
}

// Plotted are the figures that are drawn over the number of resources.
func Plotted() []Metric {
	each := func(of func(*report.Report) float64) func(*report.Report) float64 {
		return func(r *report.Report) float64 { return 1000 * of(r) / float64(r.N) }
	}
	return []Metric{
		{"created resources/s", "%.0f", func(r *report.Report) float64 { return float64(r.N) / sumPhases(phaseSeconds, "create")(r) }},
		{"operator CPU, ms for a create and an update", "%.1f", each(sumPhases(cpuSeconds, "create", "update"))},
		{"control-plane CPU, ms for the same", "%.1f", each(sumPhases(controlPlane, "create", "update"))},
		{"peak memory, MiB", "%.0f", peakMemory},
	}
}

// A Goal is an upper bound: of the ratio to handwritten-ssa, or of the figure.
type Goal struct {
	Metric
	Limit float64
	Ratio bool
}

// Goals are the goals for N custom resources; times is how often the operator was
// restarted.
func Goals(n, restarts int) []Goal {
	memory := 1.4
	if n > 1000 {
		memory = 1.6
	}
	ratio := func(name string, limit float64, of func(*report.Report) float64) Goal {
		return Goal{Metric{name, "%.2f", of}, limit, true}
	}
	count := func(name string, limit float64, of func(*report.Report) float64) Goal {
		return Goal{Metric{name, "%.2f", of}, limit, false}
	}
	goals := []Goal{
		ratio("create: seconds", 1.10, sumPhases(phaseSeconds, "create")),
		ratio("update: seconds", 1.10, sumPhases(phaseSeconds, "update")),
		ratio("create and update: operator CPU", 1.30, sumPhases(cpuSeconds, "create", "update")),
		ratio("create and update: control-plane CPU", 1.10, sumPhases(controlPlane, "create", "update")),
		ratio("drift: seconds", 1.5, sumPhases(phaseSeconds, "drift")),
		ratio("restart: operator CPU", 1.5, sumPhases(cpuSeconds, "restart")),
		count("restart: writes for each", 1, func(r *report.Report) float64 { return sumPhases(countWrites, "restart")(r) / float64(restarts) }),
		count("restart: reads", 0, sumPhases(countReads, "restart")),
		ratio("noise: operator CPU", 1.3, sumPhases(cpuSeconds, "noise")),
		count("noise: writes", 0, sumPhases(countWrites, "noise")),
		ratio("peak RSS", memory, peakMemory),
		count("create: requests for each, events included", 3.0, sumPhases(requestsPer, "create")),
	}
	if n > 1000 { // fewer take too little time to tell
		goals = append(goals, ratio("create: another client's p99", 1.2, sumPhases(othersP99, "create")))
	}
	return goals
}

// A Spread is the median of some figures, and the least and the greatest.
type Spread struct{ Median, Min, Max float64 }

// Of returns the spread of some figures; those that are not a number are left out.
func Of(figures []float64) Spread {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(figures)), func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
	if len(sorted) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}

// Figures are a metric of one program, round by round.
func Figures(rounds []Round, program string, m Metric) []float64 {
	out := make([]float64, len(rounds))
	for i, r := range rounds {
		out[i] = m.Of(r[program])
	}
	return out
}

// Ratios are those of a metric of Jacquard to another program, round by round.
func Ratios(rounds []Round, to string, m Metric) []float64 {
	ours, theirs := Figures(rounds, Jacquard, m), Figures(rounds, to, m)
	for i := range ours {
		ours[i] /= theirs[i]
	}
	return ours
}

// Met reports whether a goal is met by the median, and what was reached.
func (g Goal) Met(rounds []Round) (Spread, bool) {
	reached := Of(Figures(rounds, Jacquard, g.Metric))
	if g.Ratio {
		reached = Of(Ratios(rounds, HandwrittenSSA, g.Metric))
	}
	return reached, math.Round(reached.Median*100) <= math.Round(g.Limit*100)
}

// Write prints the goals with verdicts, and all figures, as Markdown.
func Write(w io.Writer, rounds []Round, goals []Goal) error {
	p := &printer{w: w}
	p.printLine("| goal | limit | reached: median (min to max) | |\n|---|---|---|---|")
	for _, g := range goals {
		reached, met := g.Met(rounds)
		verdict := "missed"
		if met {
			verdict = "met"
		}
		p.printLine("| %s%s | %.2f | %s | %s |", g.Name, map[bool]string{true: ", to handwritten-ssa"}[g.Ratio], g.Limit,
			reached.formatText("%.2f"), verdict)
	}
	p.printLine("\n| figure, medians | jacquard | handwritten-ssa | handwritten | to handwritten-ssa: median (min to max) | to handwritten |\n|---|---|---|---|---|---|")
	for _, m := range allMetrics() {
		of := func(program string) string { return fmt.Sprintf(m.Format, Of(Figures(rounds, program, m)).Median) }
		p.printLine("| %s | %s | %s | %s | %s | %s |", m.Name, of(Jacquard), of(HandwrittenSSA), of(Handwritten),
			Of(Ratios(rounds, HandwrittenSSA, m)).formatText("%.2f"), Of(Ratios(rounds, Handwritten, m)).formatText("%.2f"))
	}
	return p.err
}

// formatText formats the median, and the least and the greatest figure. It returns "" if there are
// none.
func (s Spread) formatText(format string) string {
	if math.IsNaN(s.Median) {
		return ""
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", s.Median, s.Min, s.Max)
}

// A printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

// printLine prints a line, and keeps the first error.
func (p *printer) printLine(format string, args ...any) {
	_, err := fmt.Fprintf(p.w, format+"\n", args...)
	p.err = cmp.Or(p.err, err)
}
