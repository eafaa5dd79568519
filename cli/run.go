package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/operator"
)

// A runFlags is the flags of `jacquard run`.
type runFlags struct {
	access
	options operator.Options
}

func newRun() *cobra.Command {
	var f runFlags
	var roots []string
	var settings string
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
			ctrl.SetLogger(logger(cmd))
			var err error
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
	flags.StringVar(&f.options.Identity, "identity", "", "name of this installation: of several ones one serves a kind; default NAMESPACE/jacquard")
	flags.BoolVar(&f.options.InstallCRDs, "install-crds", false, "apply the CRDs of crds/ first")
	flags.IntVar(&f.options.Workers, "workers", 4, "resources of one kind that are served at the same time")
	flags.StringVar(&f.options.MetricsAddress, "metrics-bind-address", "0", "host:port of the metrics, 0 for none")
	flags.StringVar(&f.options.ProbeAddress, "health-probe-bind-address", ":8081", "host:port of /healthz and /readyz, 0 for none")
	flags.BoolVar(&f.options.LeaderElection, "leader-elect", true, "let one operator work at a time")
	flags.StringVar(&f.options.LeaderElectionNamespace, "leader-election-namespace", "", "namespace of the Lease; default that of the Pod")
	return c
}

// logger logs JSON to stderr; client-go's own log goes there too.
func logger(cmd *cobra.Command) logr.Logger {
	l := zap.New(zap.UseDevMode(false), zap.WriteTo(cmd.ErrOrStderr()))
	klog.SetLogger(l)
	return l
}

func (f *runFlags) run(cmd *cobra.Command, dirs []string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = 200, 400
	f.options.Config = cfg
	for _, dir := range dirs {
		root, err := folder.Open(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		f.options.Roots = append(f.options.Roots, root)
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" && f.options.LeaderElection && f.options.LeaderElectionNamespace == "" {
		f.options.LeaderElectionNamespace = "default"
	}
	o, err := operator.New(f.options)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.Run(ctx)
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
