// Command compare runs Jacquard and both baselines by turns, each on a control
// plane of its own, and prints the ratios beside the goals.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/jacquard-operator/jacquard/bench/internal/compare"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

const (
	// tooShort and enough are seconds: a phase that takes less than the one in any
	// of the programs is done until it takes the other, as often in all of them.
	tooShort, enough = 1, 3
	// mostForeign is the greatest part of the CPUs' time that other processes may
	// take; a run in which they take more is done again, mostTries times.
	mostForeign = 0.05
	mostTries   = 3
	pprof       = "127.0.0.1:16460"
)

type comparison struct {
	n, rounds int
	bin       string
	repo      string
	dir       string
	profile   string
	workers   int
	quiet     time.Duration
}

// A program is what is measured.
type program struct {
	name, operator string
	args           []string
}

func main() {
	c := comparison{}
	flag.IntVar(&c.n, "n", 500, "number of custom resources")
	flag.IntVar(&c.rounds, "rounds", 5, "how often each program is measured")
	flag.StringVar(&c.repo, "repository", "..", "directory of the repository, with programs in .bin and .bin/bench")
	flag.StringVar(&c.dir, "out", filepath.Join(os.TempDir(), "jacquard-compare"), "directory for the reports of all runs; emptied first")
	flag.StringVar(&c.profile, "profile", "", "directory for profiles of one more run of Jacquard, built with the tag profile")
	flag.IntVar(&c.workers, "workers", 10, "how many resources the baselines reconcile at a time")
	flag.DurationVar(&c.quiet, "quiet", 3*time.Second, "a phase has ended this long after the operator's last write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := c.run(ctx); err != nil {
		log.Fatal(err)
	}
}

func (c *comparison) run(ctx context.Context) error {
	repo, err := filepath.Abs(c.repo)
	if err != nil {
		return err
	}
	c.repo, c.bin = repo, filepath.Join(repo, ".bin")
	if err := errors.Join(os.RemoveAll(c.dir), os.MkdirAll(c.dir, 0o755), c.writeFolder()); err != nil {
		return err
	}
	programs := c.listPrograms("jacquard")
	pilot, err := c.runRound(ctx, "pilot", programs, nil)
	if err != nil {
		return err
	}
	times := enlargeTimes(pilot)
	fmt.Fprintf(os.Stderr, "phases that are too short are done several times: %v\n", times)
	var rounds []compare.Round
	for n := range c.rounds {
		programs = append(programs[1:], programs[0]) // who begins changes
		round, err := c.runRound(ctx, fmt.Sprint("round-", n+1), programs, times)
		if ctx.Err() != nil && len(rounds) > 0 {
			c.profile = ""
			break // what was measured before the interrupt is printed
		}
		if err != nil {
			return err
		}
		rounds = append(rounds, round)
	}
	fmt.Printf("N = %d, %d rounds, %d CPUs, %s; done several times: %v\n\n", c.n, len(rounds), runtime.NumCPU(), runtime.Version(), times)
	if err := compare.Write(os.Stdout, rounds, compare.Goals(c.n, max(1, times["restart"]))); err != nil || c.profile == "" {
		return err
	}
	if err := os.MkdirAll(c.profile, 0o755); err != nil {
		return err
	}
	profiled := c.listPrograms(filepath.Join("bench", "jacquard-profile"))[0]
	profiled.operator = "export JACQUARD_PPROF=" + pprof + "; " + profiled.operator
	profiled.args = append(profiled.args, "-profile", c.profile, "-pprof", pprof)
	_, err = c.measureProgram(ctx, filepath.Join(c.dir, "profiled.json"), profiled, times)
	return err
}

// writeFolder writes the kind App without its status.yaml, since the baselines have nothing like
// it.
func (c *comparison) writeFolder() error {
	const app = "apps.app.huolala.cn"
	root := filepath.Join(c.dir, "root")
	templates := filepath.Join(root, "templates", app)
	err := errors.Join(
		os.CopyFS(templates, os.DirFS(filepath.Join(c.repo, "templates", app))),
		os.Remove(filepath.Join(templates, "status.yaml")),
		os.RemoveAll(filepath.Join(templates, "tests")),
		os.MkdirAll(filepath.Join(root, "crds"), 0o755))
	if err != nil {
		return err
	}
	crd, err := os.ReadFile(filepath.Join(c.repo, "crds", app+".yaml"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "crds", app+".yaml"), crd, 0o644)
}

// listPrograms returns the programs that are compared.
func (c *comparison) listPrograms(jacquard string) []program {
	root := filepath.Join(c.dir, "root")
	baseline := func(name string) program {
		return program{name: name, operator: fmt.Sprintf("exec %s -concurrency %d", filepath.Join(c.bin, "bench", name), c.workers)}
	}
	return []program{
		{compare.Jacquard, fmt.Sprintf("exec %s run --root %s --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:0",
			filepath.Join(c.bin, jacquard), root),
			[]string{"-app-crd=false", "-manifest", filepath.Join(root, "crds", "apps.app.huolala.cn.yaml")}},
		baseline(compare.HandwrittenSSA),
		baseline(compare.Handwritten),
	}
}

// runRound measures each program. It measures one again if other processes took too much of the
// CPUs.
func (c *comparison) runRound(ctx context.Context, name string, programs []program, times map[string]int) (compare.Round, error) {
	round := compare.Round{}
	for _, p := range programs {
		for try := range mostTries {
			r, err := c.measureProgram(ctx, filepath.Join(c.dir, fmt.Sprintf("%s-%s-%d.json", name, p.name, try+1)), p, times)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", name, p.name, err)
			}
			if round[p.name] = r; foreignShare(r) <= mostForeign {
				break
			}
			fmt.Fprintf(os.Stderr, "other processes took %.0f %% of the CPUs\n", 100*foreignShare(r))
		}
	}
	return round, nil
}

// measureProgram runs the harness once for a program.
func (c *comparison) measureProgram(ctx context.Context, file string, p program, times map[string]int) (*report.Report, error) {
	args := []string{"-name", p.name, "-operator", p.operator, "-assets", c.bin, "-n", fmt.Sprint(c.n),
		"-quiet", c.quiet.String(), "-idle", "10s", "-load-wait", "30s",
		"-dir", filepath.Join(c.dir, "run"), "-out", file}
	for phase, n := range times {
		args = append(args, "-times", fmt.Sprintf("%s=%d", phase, n))
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "bench", "bench"), append(args, p.args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends its control plane
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &report.Report{}
	return r, json.Unmarshal(text, r)
}

// foreignShare returns the part of the CPUs' time that other processes took.
func foreignShare(r *report.Report) float64 {
	var used, had float64
	for _, p := range r.Phases {
		used += p.ForeignCPU
		had += p.WholeSeconds * float64(runtime.NumCPU())
	}
	return used / had
}

// enlargeTimes returns how often to do the phases that are too short to measure.
func enlargeTimes(pilot compare.Round) map[string]int {
	times := map[string]int{}
	for _, r := range pilot {
		for _, p := range r.Phases {
			if slices.Contains([]string{"drift", "restart", "delete"}, p.Name) && p.Seconds < tooShort {
				times[p.Name] = max(times[p.Name], int(math.Ceil(enough/max(p.Seconds, 0.1))))
			}
		}
	}
	return times
}
