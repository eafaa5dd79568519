package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A runFlags is the flags of `jacquard run`.
type runFlags struct {
	access
	options  controller.Options
	selector string
	events   string
	qps      float32
	burst    int
}

func newRun() *cobra.Command {
	var f runFlags
	var roots []string
	var settings, level string
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the operator",
		Long: `Run the operator: serve the custom resources of every kind that has a folder and
whose CRD the cluster has. Kinds may be added and removed while it runs. It loads
changed folders; if one does not load, its previous version stays in use.

The cluster is that of --kubeconfig, of KUBECONFIG, of the Pod's service account,
or of ~/.kube/config, in this order.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := newLogger(cmd.ErrOrStderr(), level)
			if err != nil {
				return &exit{exitUsage, err}
			}
			ctrl.SetLogger(l)
			if f.options.Settings, err = readSettings(settings); err != nil {
				return err
			}
			return f.run(cmd, roots)
		},
	}
	rootFlag(c, &roots)
	configFlag(c, &settings)
	flags := c.Flags()
	f.addFlags(c)
	refuseNamespace(c)
	operatorNamespaceFlag(c, &f.options.Namespace, podNamespace(), "namespace of the operator, whose ConfigMaps may contain folders; default the Pod's")
	flags.StringSliceVar(&f.options.Namespaces, "namespaces", nil,
		"only serve resources in these namespaces, comma-separated, and create nothing elsewhere; default all")
	flags.StringVar(&f.selector, "selector", "", "only serve resources with these labels, such as team=a,env in (x,y); default all")
	flags.StringVar(&f.options.Identity, "installation", "",
		"name of this installation; its last part names the Lease; default NAMESPACE/jacquard")
	flags.BoolVar(&f.options.InstallCRDs, "install-crds", false, "apply the CRDs of crds/ first; one that would break existing resources or clients is not applied")
	flags.BoolVar(&f.options.AllowBreaking, "allow-breaking", false, "with --install-crds: also apply CRDs that break existing resources or clients")
	flags.BoolVar(&f.options.ReadOnly, "read-only", false, "watch and plan everything, but write only Leases and Events")
	flags.StringVar(&f.events, "events", "problems",
		"which events of resources there are: problems (trouble, what ends it, and what is deleted) or all (also the way to Ready)")
	flags.IntVar(&f.options.Workers, "workers", 4, "number of resources of one kind that are reconciled at the same time")
	flags.Float32Var(&f.qps, "kube-api-qps", -1,
		"requests per second to the API server, without watches; -1 for no limit: the API server says when it is too busy")
	flags.IntVar(&f.burst, "kube-api-burst", 400, "requests to the API server that may exceed --kube-api-qps at once")
	flags.StringVar(&f.options.MetricsAddress, "metrics-bind-address", "0", "host:port of the metrics; 0 for none")
	flags.BoolVar(&f.options.MetricsSecure, "metrics-secure", true,
		"serve the metrics over TLS, only to clients with a token that may get /metrics")
	flags.StringVar(&f.options.MetricsCertPath, "metrics-cert-path", "",
		"directory with tls.crt and tls.key for the metrics; default a self-signed certificate")
	flags.StringVar(&level, "log-level", "info", "level of the log: error, info, debug, or a number up to 7 for more details")
	flags.StringVar(&f.options.ProbeAddress, "health-probe-bind-address", probeAddress(inPod()),
		"host:port of /healthz and /readyz; 0 for none; in a Pod :8081")
	flags.StringVar((*string)(&f.options.Ready), "ready-folders", string(controller.ReadyRelease),
		"folders that must have loaded once for /readyz: all, release (those of --root and of the Helm release) or none")
	flags.StringVar(&f.options.Release, "release", "",
		"name of the operator's Helm release, which its folders have as the label app.kubernetes.io/instance")
	c.MarkFlagsMutuallyExclusive("read-only", "install-crds")
	f.leaderFlags(c)
	return c
}

// leaderFlags are the flags of leader election.
func (f *runFlags) leaderFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.options.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the Lease; default that of --operator-namespace, that of --installation, or default")
	flags.DurationVar(&f.options.Lease.Duration, "leader-elect-lease-duration", controller.LeaseDuration,
		"how long others wait for a leader that does not renew its Lease")
	flags.DurationVar(&f.options.Lease.RenewDeadline, "leader-elect-renew-deadline", controller.RenewDeadline,
		"how long a leader tries to renew its Lease before it stops")
	flags.DurationVar(&f.options.Lease.RetryPeriod, "leader-elect-retry-period", controller.RetryPeriod,
		"how often the leader renews the Lease, and others check it")
	flags.IntVar(&f.options.Buckets, "buckets", replicas.Buckets,
		"number of buckets into which the replicas of this installation divide its resources; 0: one replica serves all")
}

func (f *runFlags) run(cmd *cobra.Command, dirs []string) error {
	cfg, err := f.loadConfig() // the operator limits its requests by itself
	if err != nil {
		return err
	}
	cfg.DisableCompression = true // it costs the API server more than the network of a cluster saves
	if cfg.QPS = -1; f.qps > 0 {  // one limiter for all clients
		cfg.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(f.qps, max(1, f.burst))
	}
	if f.options.Buckets < 0 || f.options.Buckets > controller.MostBuckets {
		return fmt.Errorf("--buckets %d: it is between 0 and %d", f.options.Buckets, controller.MostBuckets)
	}
	if f.options.AllowBreaking && !f.options.InstallCRDs {
		return errors.New("--allow-breaking is about the CRDs that --install-crds applies: give both, or none")
	}
	if f.events != "problems" && f.events != "all" {
		return fmt.Errorf("--events %s: it is problems or all", f.events)
	}
	f.options.AllEvents = f.events == "all"
	f.options.Config, f.options.Version = cfg, Version()
	if f.options.Selector, err = labels.Parse(f.selector); err != nil {
		return fmt.Errorf("--selector %s: %w", f.selector, err)
	}
	for _, dir := range dirs {
		root := folder.FromDir(dir)
		if !cmd.Flags().Changed("root") { // the current directory may hold something else
			root = root.AsOptional()
		}
		f.options.Roots = append(f.options.Roots, root)
	}
	f.setPlace(inPod())
	if err := runOperator(cmd.Context(), f.options); err != nil {
		ctrl.Log.Error(err, "the operator ends")
		return &exit{code: exitFailed} // the log has the reason, each line of which is JSON
	}
	return nil
}

// runOperator runs an operator until it is asked to end.
func runOperator(ctx context.Context, options controller.Options) error {
	o, err := controller.New(options)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.Run(ctx)
}

// inPod reports whether this is a Pod's container.
func inPod() bool { return os.Getenv("KUBERNETES_SERVICE_HOST") != "" }

// probeAddress is where the kubelet asks a Pod; elsewhere nobody from other machines does.
func probeAddress(inside bool) string {
	if inside {
		return ":8081"
	}
	return "127.0.0.1:8081"
}

// setPlace sets where the operator runs. The Lease of an operator without a namespace of its own is
// in that of --leader-election-namespace, in that of its identity, or in default: none runs without
// a Lease.
func (f *runFlags) setPlace(inside bool) {
	o := &f.options
	if o.Namespace != "" {
		return
	}
	o.Local = !inside
	namespace, _, both := strings.Cut(o.Identity, "/")
	if !both {
		namespace = ""
	}
	o.LeaderElectionNamespace = cmp.Or(o.LeaderElectionNamespace, namespace, "default")
}

// readSettings reads a file of settings; nil if its name is "".
func readSettings(file string) (*kind.Config, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	return kind.ReadConfig(file, data)
}
