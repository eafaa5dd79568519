package controller

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
	// Config is the cluster. Its RateLimiter limits what is written.
	Config *rest.Config
	// Roots hold templates/ (and crds/, for InstallCRDs).
	Roots []*folder.Root
	// InstallCRDs applies the CRDs of all roots before anything else: of those that
	// there are, only if that breaks nothing, or AllowBreaking is set.
	InstallCRDs, AllowBreaking bool
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
	// AllEvents: the way of a resource to Ready is told by events too, which takes a
	// request or two for each resource. Trouble, what ends it, and what is deleted
	// always are.
	AllEvents bool
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
	// Ready says which folders must have loaded for /readyz; default ReadyRelease.
	// Release is the name of the Helm release that the operator belongs to.
	Ready   Readiness
	Release string
	// One operator of an installation works at a time: the process that holds the
	// installation's Lease, under an id of its own. The Lease is in
	// LeaderElectionNamespace, by default in Namespace; without both there is no Lease.
	LeaderElectionNamespace string
	// Local: it runs outside of the cluster, on somebody's machine. It reports where
	// its Lease is, and gives its claims up when it is told to end.
	Local bool
	Lease Lease
	// Buckets: the replicas of the installation divide the resources among them, in so
	// many buckets, unless they are read-only; 0: one of them serves all resources.
	Buckets int
	// Settings override those of the folders' config.yaml; nil: none.
	Settings *kind.Config
}

// MostBuckets is how many buckets there may be: more make no spread better.
const MostBuckets = 256

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
	RetryPeriod   = 3 * time.Second
)

func (l Lease) withDefaults() Lease {
	return Lease{cmp.Or(l.Duration, LeaseDuration), cmp.Or(l.RenewDeadline, RenewDeadline), cmp.Or(l.RetryPeriod, RetryPeriod)}
}

// leaseNamespace is where the installation's Lease is, or "".
func (o Options) leaseNamespace() string { return cmp.Or(o.LeaderElectionNamespace, o.Namespace) }

// usesLease reports whether a process serves only while it holds the Lease.
func (o Options) usesLease() bool { return o.leaseNamespace() != "" }

// reportNamespace returns the namespace of the report and of stored revisions, or "".
func (o Options) reportNamespace() string {
	if o.Local {
		return o.leaseNamespace()
	}
	return o.Namespace
}

func (o Options) withDefaults() Options {
	o.Lease = o.Lease.withDefaults()
	if o.Identity == "" {
		o.Identity = path.Join(o.Namespace, "jacquard")
	}
	o.Ready = cmp.Or(o.Ready, ReadyRelease)
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
