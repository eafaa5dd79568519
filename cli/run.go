package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A runFlags is the flags of `jacquard run`.
type runFlags struct {
	access
	options  controller.Options
	selector string
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
		Long: `Run the operator: serve the custom resources of every kind that has a folder
and whose CRD the cluster has. Kinds come and go while it runs; changed folders
are taken up, and one that does not load leaves its last good version running.

The cluster is that of --kubeconfig, of KUBECONFIG, of the Pod's service
account, or of ~/.kube/config, in this order.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := logger(cmd.ErrOrStderr(), level)
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
	f.flags(c)
	flags.StringVar(&f.options.Namespace, "namespace", podNamespace(), "namespace of the operator: folders are read from its ConfigMaps too; default that of the Pod, if there is one")
	flags.StringSliceVar(&f.options.Namespaces, "namespaces", nil, "serve resources in these namespaces only, comma-separated, and make nothing elsewhere; default all")
	flags.StringVar(&f.selector, "selector", "", "serve resources with these labels only, as in team=a,env in (x,y); default all")
	flags.StringVar(&f.options.Identity, "identity", "", "name of this installation: of several ones one serves a resource; its last part names the Lease; default NAMESPACE/jacquard")
	flags.BoolVar(&f.options.InstallCRDs, "install-crds", false, "apply the CRDs of crds/ first")
	flags.BoolVar(&f.options.ReadOnly, "read-only", false, "watch and plan everything, and write nothing but Leases and Events")
	flags.IntVar(&f.options.Workers, "workers", 4, "resources of one kind that are served at the same time")
	flags.Float32Var(&f.qps, "kube-api-qps", 200, "requests per second that are sent to the API server, without watches; -1 for no limit")
	flags.IntVar(&f.burst, "kube-api-burst", 400, "requests that may be sent at once after a calm")
	flags.StringVar(&f.options.MetricsAddress, "metrics-bind-address", "0", "host:port of the metrics, 0 for none")
	flags.BoolVar(&f.options.MetricsSecure, "metrics-secure", true, "serve the metrics over TLS, to whose token the API server allows to get /metrics")
	flags.StringVar(&f.options.MetricsCertPath, "metrics-cert-path", "", "directory with tls.crt and tls.key of the metrics; default a certificate that nobody has signed")
	flags.StringVar(&level, "log-level", "info", "what is logged: error, info, debug, or a number up to 7, the higher the more")
	flags.StringVar(&f.options.ProbeAddress, "health-probe-bind-address", ":8081", "host:port of /healthz and /readyz, 0 for none")
	flags.StringVar((*string)(&f.options.Ready), "ready-folders", string(controller.ReadyRelease), "which folders must have loaded once for /readyz: all, release (those of --root and of the Helm release) or none")
	flags.StringVar(&f.options.Release, "release", "", "name of the Helm release that the operator belongs to: its folders have it as the label app.kubernetes.io/instance")
	flags.BoolVar(&f.options.LeaderElection, "leader-elect", true, "let one operator work at a time; so it is with false, too: two would work against each other")
	flags.StringVar(&f.options.LeaderElectionNamespace, "leader-election-namespace", "", "namespace of the Lease; default that of --namespace or of --identity, or default")
	c.MarkFlagsMutuallyExclusive("read-only", "install-crds")
	flags.DurationVar(&f.options.Lease.Duration, "leader-elect-lease-duration", controller.LeaseDuration, "how long others wait for a leader that is not heard of")
	flags.DurationVar(&f.options.Lease.RenewDeadline, "leader-elect-renew-deadline", controller.RenewDeadline, "how long a leader that cannot renew its Lease goes on")
	flags.DurationVar(&f.options.Lease.RetryPeriod, "leader-elect-retry-period", controller.RetryPeriod, "how often the Lease is renewed, and looked at by those that wait")
	return c
}

func (f *runFlags) run(cmd *cobra.Command, dirs []string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = f.qps, f.burst
	f.options.Config, f.options.Version = cfg, Version()
	if f.options.Selector, err = labels.Parse(f.selector); err != nil {
		return fmt.Errorf("--selector %s: %w", f.selector, err)
	}
	for _, dir := range dirs {
		root, err := folder.Open(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		f.options.Roots = append(f.options.Roots, root)
	}
	f.place(os.Getenv("KUBERNETES_SERVICE_HOST") != "")
	o, err := controller.New(f.options)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.Run(ctx)
}

// place says where the operator runs: the Lease of one outside of the cluster is
// in its own namespace, in that of its identity, or in default.
func (f *runFlags) place(inside bool) {
	o := &f.options
	if inside || o.Namespace != "" {
		return
	}
	o.Local = true
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
