package operator

import (
	"path"
	"time"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
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
	// Identity is the installation's name: of several installations one serves
	// a kind. Default "<namespace>/jacquard", or "jacquard" without namespace.
	Identity string
	// Workers is how many resources of one kind are served at the same time.
	Workers int
	// MetricsAddress and ProbeAddress are host:port; "0" means none.
	MetricsAddress, ProbeAddress string
	// LeaderElection makes sure that one operator works at a time; its Lease
	// is in LeaderElectionNamespace.
	LeaderElection          bool
	LeaderElectionNamespace string
	// ReadEvery is how often the roots are read again even though no file
	// event came.
	ReadEvery time.Duration
	// Settings override those of the folders' config.yaml; nil: none.
	Settings *kind.Config
	// Limits bound the templates.
	Limits template.Limits
}

func (o Options) withDefaults() Options {
	if o.Identity == "" {
		o.Identity = path.Join(o.Namespace, "jacquard")
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.ReadEvery == 0 {
		o.ReadEvery = 15 * time.Second
	}
	if o.MetricsAddress == "" {
		o.MetricsAddress = "0"
	}
	if o.ProbeAddress == "" {
		o.ProbeAddress = "0"
	}
	return o
}
