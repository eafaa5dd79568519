package operator

import (
	"cmp"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Options are what an operator is started with.
type Options struct {
	// Config is the cluster. Its QPS is left as it is.
	Config *rest.Config
	// Roots hold templates/ (and crds/, for InstallCRDs).
	Roots []*folder.Root
	// InstallCRDs applies the CRDs of all roots before anything else.
	InstallCRDs bool
	// Namespace is the operator's own: folders are read from its ConfigMaps
	// too. Empty means that none are.
	Namespace string
	// Namespaces are those whose resources are served; none means all. Nothing
	// is made elsewhere.
	Namespaces []string
	// Selector is what the labels of the resources that are served must match;
	// nil means anything.
	Selector labels.Selector
	// Identity is the installation's name: of several installations one serves
	// a resource. Its last part names the Lease of the leader. Default
	// "<namespace>/jacquard", or "jacquard" without namespace.
	Identity string
	// ReadOnly: everything is watched, rendered and planned, and nothing is
	// written but Leases and Events.
	ReadOnly bool
	// Version is that of the program, for its metrics and report.
	Version string
	// Workers is how many resources of one kind are served at the same time.
	Workers int
	// MetricsAddress and ProbeAddress are host:port; "0" means none.
	MetricsAddress, ProbeAddress string
	// MetricsSecure serves the metrics over TLS, to whom the API server knows by
	// their token and allows to get /metrics. MetricsCertPath is a directory with
	// tls.crt and tls.key, which are read again when they change; empty: a
	// certificate that nobody has signed.
	MetricsSecure   bool
	MetricsCertPath string
	// LeaderElection makes sure that one operator works at a time; its Lease
	// is in LeaderElectionNamespace.
	LeaderElection          bool
	LeaderElectionNamespace string
	Lease                   Lease
	// Settings override those of the folders' config.yaml; nil: none.
	Settings *kind.Config
}

// A Lease is how the leader is found. Zero values are the defaults.
type Lease struct {
	// Duration is how long followers wait for a leader that they do not hear
	// of, RenewDeadline how long a leader that cannot renew its Lease goes on:
	// it is to be shorter. RetryPeriod is how often either of them tries.
	Duration, RenewDeadline, RetryPeriod time.Duration
}

// The defaults of a Lease.
const (
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second
)

func (l Lease) withDefaults() Lease {
	return Lease{cmp.Or(l.Duration, LeaseDuration), cmp.Or(l.RenewDeadline, RenewDeadline), cmp.Or(l.RetryPeriod, RetryPeriod)}
}

func (o Options) withDefaults() Options {
	o.Lease = o.Lease.withDefaults()
	if o.Identity == "" {
		o.Identity = path.Join(o.Namespace, "jacquard")
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.MetricsAddress == "" {
		o.MetricsAddress = "0"
	}
	if o.ProbeAddress == "" {
		o.ProbeAddress = "0"
	}
	return o
}
