package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/bench/internal/audit"
	"github.com/jacquard-operator/jacquard/bench/internal/cluster"
	"github.com/jacquard-operator/jacquard/bench/internal/load"
	"github.com/jacquard-operator/jacquard/bench/internal/proc"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

const (
	probes       = 10               // custom resources made one by one before the load
	drifted      = 50               // Deployments of each kind of drift, and of the noise
	driftTimeout = 60 * time.Second // for the repair
	noiseRounds  = 20               // one status patch per Deployment and second
	settleLimit  = 120 * time.Second
)

// bench is one run on a started control plane.
type bench struct {
	options
	result   *report.Report
	cluster  *cluster.Cluster
	requests *audit.Log
	client   *load.Client
	observer *load.Observer
	template *load.Template
	keys     []load.Key
	table    report.Table

	gvr      schema.GroupVersionResource // of the custom resource
	process  *proc.Process               // the running operator
	sampler  *proc.Sampler
	endedCPU time.Duration // of operator processes that were killed
	drifts   int           // how often drift was measured
}

// runPhases starts the operator and runs all phases.
func (b *bench) runPhases(ctx context.Context) error {
	if err := b.startOperator(); err != nil {
		return err
	}
	for _, phase := range []func(context.Context) error{
		b.probePhase, b.createPhase, b.idlePhase, b.updatePhase, b.repeatPhase("drift", b.driftPhase),
		b.repeatPhase("restart", b.restartPhase), b.noisePhase, b.repeatPhase("delete", b.removePhase),
	} {
		if err := phase(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// repeatPhase returns a phase that runs as often as -times says and makes one result of all. What
// was deleted is created again before, which is not measured.
func (b *bench) repeatPhase(name string, phase func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		first := len(b.result.Phases)
		for n := range max(1, b.times[name]) {
			if n > 0 && name == "delete" {
				if err := b.removeChildren(ctx, b.keys); err != nil {
					return err
				}
				if err := b.createPhase(ctx); err != nil {
					return err
				}
				b.result.Phases = b.result.Phases[:len(b.result.Phases)-1]
			}
			if err := phase(ctx); err != nil {
				return err
			}
		}
		b.result.Phases = append(b.result.Phases[:first], report.Sum(b.result.Phases[first:]))
		return nil
	}
}

func (b *bench) startOperator() error {
	p, err := proc.Start(b.operatorLog(),
		[]string{"KUBECONFIG=" + b.cluster.OperatorKubeconfig()}, "/bin/sh", "-c", b.operator)
	if err != nil {
		return err
	}
	b.process, b.sampler = p, p.Sample()
	return nil
}

func (b *bench) stopOperator() {
	b.endedCPU += b.process.CPU()
	b.sampler.Stop()
	b.process.Kill()
}

func (b *bench) operatorLog() string { return filepath.Join(b.dir, "operator.log") }

// whileOperatorRuns is a context that ends with the running operator or with the time.
func (b *bench) whileOperatorRuns(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := b.process.Done()
	go func() {
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (b *bench) operatorCPU() time.Duration { return b.endedCPU + b.process.CPU() }

// cpuReading has the CPU time used so far, by whom.
type cpuReading struct{ operator, controlPlane, harness, machine time.Duration }

func (b *bench) readCPU() cpuReading {
	return cpuReading{b.operatorCPU(), b.cluster.CPU(), proc.SelfCPU(), proc.MachineCPU()}
}

// measurePhase runs the body, waits for the operator to settle, and completes and prints the phase.
// settle returns the time of the operator's last relevant request. nil means that the phase has no
// wait.
func (b *bench) measurePhase(ctx context.Context, p *report.Phase, settle func(user string) time.Time,
	body func(start time.Time) error) error {
	select {
	case <-b.process.Done():
		return fmt.Errorf("phase %s: the operator has ended, see %s", p.Name, b.operatorLog())
	default:
	}
	stop := b.takeProfiles(ctx, p.Name)
	defer stop()
	cpu := b.readCPU()
	start := time.Now()
	if err := body(start); err != nil {
		return fmt.Errorf("phase %s: %w", p.Name, err)
	}
	if settle != nil {
		last, quiet := b.waitQuiet(ctx, settle)
		p.NotQuiet = !quiet
		if last.After(start) {
			p.Settled = last.Sub(start).Seconds()
		}
	} else {
		time.Sleep(200 * time.Millisecond) // let the audit log catch up
	}
	end := time.Now()
	used := b.readCPU()
	p.WholeSeconds = end.Sub(start).Seconds()
	p.Requests = b.requests.Count(cluster.OperatorUser, start, end)
	if p.Want > 0 {
		p.RequestsPer = float64(p.Requests.Total()) / float64(p.Want)
	}
	p.CPUSeconds = (used.operator - cpu.operator).Seconds()
	p.ControlPlaneCPU = (used.controlPlane - cpu.controlPlane).Seconds()
	p.HarnessCPU = (used.harness - cpu.harness).Seconds()
	p.ForeignCPU = (used.machine - cpu.machine).Seconds() - p.CPUSeconds - p.ControlPlaneCPU - p.HarnessCPU
	if rss := b.sampler.Between(start, end); len(rss) > 0 {
		slices.Sort(rss)
		p.PeakRSS = float64(rss[len(rss)-1]) / (1 << 20)
		p.SteadyRSS = float64(rss[len(rss)/2]) / (1 << 20)
	}
	b.result.Phases = append(b.result.Phases, p)
	b.table.Line(p)
	return ctx.Err()
}

// waitQuiet waits until the operator's last relevant request is b.quiet ago.
func (b *bench) waitQuiet(ctx context.Context, lastRequest func(user string) time.Time) (last time.Time, quiet bool) {
	begin := time.Now()
	for time.Since(begin) < settleLimit && ctx.Err() == nil {
		last = lastRequest(cluster.OperatorUser)
		since := last
		if since.Before(begin) {
			since = begin
		}
		if time.Since(since) >= b.quiet {
			return last, true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return last, false
}

// secondsSince returns the rounded seconds since a time.
func secondsSince(since time.Time) float64 { return roundHundredths(time.Since(since).Seconds()) }

// roundHundredths rounds to two decimals.
func roundHundredths(v float64) float64 { return float64(int(v*100+0.5)) / 100 }
