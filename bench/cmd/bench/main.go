// Command bench measures an operator that makes a Deployment and a Service of
// every custom resource, from the outside: it starts a control plane of its
// own, runs the operator by a command, and reports time, API requests, CPU and
// memory of each phase next to what a raw client reaches in the same run.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jacquard-operator/jacquard/bench/internal/audit"
	"github.com/jacquard-operator/jacquard/bench/internal/cluster"
	"github.com/jacquard-operator/jacquard/bench/internal/load"
	"github.com/jacquard-operator/jacquard/bench/internal/proc"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

// options are the flags.
type options struct {
	name        string
	operator    string
	assets      string
	dir         string
	port        int
	withKCM     bool
	n           int
	appCRD      bool
	manifests   stringList
	crTemplate  string
	updatePatch string
	quiet       time.Duration
	idle        time.Duration
	timeout     time.Duration
	maxLoad     float64
	loadWait    time.Duration
	out         string
	times       map[string]int
	profile     string
	pprof       string
}

type stringList []string

func (l *stringList) String() string     { return strings.Join(*l, ",") }
func (l *stringList) Set(s string) error { *l = append(*l, s); return nil }

func parseFlags() options {
	var o options
	flag.StringVar(&o.name, "name", "operator", "name of the run in the report")
	flag.StringVar(&o.operator, "operator", "", "shell command that runs the operator; KUBECONFIG is set for it (required)")
	flag.StringVar(&o.assets, "assets", filepath.Join("..", ".bin"), "folder of etcd, kube-apiserver and, for -kcm, kube-controller-manager")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "bench-run"), "working directory; emptied first")
	flag.IntVar(&o.port, "port", 26443, "first of four free loopback ports, below those that the system gives clients")
	flag.BoolVar(&o.withKCM, "kcm", false, "also run kube-controller-manager")
	flag.IntVar(&o.n, "n", 500, "number of custom resources")
	flag.BoolVar(&o.appCRD, "app-crd", true, "install the harness's App CRD; false when the operator or a manifest brings its own")
	flag.Var(&o.manifests, "manifest", "YAML file applied before the operator starts (may be repeated)")
	flag.StringVar(&o.crTemplate, "cr-template", "",
		"file with a text/template of the custom resource (.Name .Namespace .Image .Replicas); default: the App of the harness")
	flag.StringVar(&o.updatePatch, "update-patch", `{"spec":{"image":"%s"}}`, "merge patch of the update phase; %s is the image")
	flag.DurationVar(&o.quiet, "quiet", 10*time.Second, "settled: this long without operator writes")
	flag.DurationVar(&o.idle, "idle", 60*time.Second, "length of the idle phase")
	flag.DurationVar(&o.timeout, "timeout", 300*time.Second, "time limit of create, update, restart and delete, each")
	flag.Float64Var(&o.maxLoad, "max-load", 0.7, "start only under this 1-minute load average")
	flag.DurationVar(&o.loadWait, "load-wait", 3*time.Minute, "start anyway after waiting this long for the load to fall")
	flag.StringVar(&o.out, "out", "", "file for the JSON report; default: standard output")
	o.times = map[string]int{}
	flag.Func("times", "how often drift, restart or delete is done, such as drift=4: a phase that is too short to measure (may be repeated)",
		o.setTimes)
	flag.StringVar(&o.profile, "profile", "",
		"directory for CPU profiles of the operator and the API server, and heap profiles, of each phase")
	flag.StringVar(&o.pprof, "pprof", "", "host:port where the operator serves /debug/pprof/; for -profile")
	flag.Parse()
	if o.operator == "" {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

func (o *options) setTimes(s string) error {
	phase, text, _ := strings.Cut(s, "=")
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 || !slices.Contains([]string{"drift", "restart", "delete"}, phase) {
		return fmt.Errorf("%q is not PHASE=TIMES", s)
	}
	o.times[phase] = times
	return nil
}

func main() {
	o := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	result, err := run(ctx, o)
	if result != nil {
		if werr := writeReport(result, o.out); werr != nil {
			log.Print(werr)
		}
	}
	if err != nil {
		log.Fatalf("%s: %v", o.name, err)
	}
}

// writeReport writes a report to a file, or prints it if file is "".
func writeReport(r *report.Report, file string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if file == "" {
		_, err = fmt.Printf("%s\n", raw)
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

func waitLoad(ctx context.Context, limit float64, patience time.Duration) float64 {
	deadline := time.Now().Add(patience)
	for proc.LoadAverage() > limit && time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
	return proc.LoadAverage()
}

func run(ctx context.Context, o options) (*report.Report, error) {
	template, err := readTemplate(o.crTemplate)
	if err != nil {
		return nil, err
	}
	result := &report.Report{Name: o.name, N: o.n, Operator: o.operator, Started: time.Now()}
	result.LoadAverage = waitLoad(ctx, o.maxLoad, o.loadWait)

	c, err := cluster.Start(ctx, cluster.Options{Assets: o.assets, Dir: o.dir, BasePort: o.port, WithKCM: o.withKCM})
	if err != nil {
		return nil, err
	}
	defer c.Stop()
	ctx, cancel := context.WithCancel(ctx) // the watches end before the control plane does
	defer cancel()
	requests, err := audit.Follow(c.AuditLog())
	if err != nil {
		return nil, err
	}
	defer requests.Stop()
	client, err := load.NewClient(c.Config())
	if err != nil {
		return nil, err
	}
	if err := installManifests(ctx, client, o); err != nil {
		return nil, err
	}
	result.Raw, err = client.Raw(ctx, o.n)
	if err != nil {
		return nil, fmt.Errorf("raw client: %w", err)
	}
	observer, err := load.Observe(ctx, c.Config())
	if err != nil {
		return nil, err
	}
	b := &bench{
		options: o, result: result, cluster: c, requests: requests, client: client, observer: observer,
		template: template, keys: load.Keys("bench", o.n), table: report.NewTable(os.Stderr, result),
	}
	defer b.stopOperator()
	return result, b.runPhases(ctx)
}

func readTemplate(file string) (*load.Template, error) {
	if file == "" {
		return load.ParseTemplate("")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return load.ParseTemplate(string(text))
}

// installManifests applies the App CRD and the manifests.
func installManifests(ctx context.Context, client *load.Client, o options) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var texts [][]byte
	if o.appCRD {
		texts = append(texts, load.AppCRD)
	}
	for _, f := range o.manifests {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		objects, err := load.Documents(text)
		if err != nil {
			return err
		}
		if err := client.ApplyManifest(ctx, objects); err != nil {
			return err
		}
	}
	return nil
}
