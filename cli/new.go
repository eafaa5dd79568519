//go:build !operator

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/scaffold"
)

type newOptions struct {
	root       string
	names      scaffold.Names
	deployment bool
	crd        string
	example    string
	manifests  []string
	chart      string
}

func newNew() *cobra.Command {
	var o newOptions
	cmd := &cobra.Command{
		Use:   "new KIND",
		Short: "Scaffold a kind: CRD, folder, example and golden cases",
		Long: `Scaffold a kind that passes lint and test, and runs, at once: crds/<name>.yaml,
templates/<name>/ with golden cases, and examples/<name>.yaml. KIND is a kind
(Website), a plural (websites), or either with its group (websites.example.com).

By default it scaffolds a ConfigMap, to show the parts; with --deployment, a
Deployment and a Service. --from-crd uses an existing CRD. --from-manifests turns
existing manifests into templates; what varies goes into the spec. It may be given
several times, and accepts directories and - (stdin); names after KIND are more
such files. --from-chart uses the directory of a Helm chart: its values become the
spec.

Existing files are never overwritten.`,
		Example: `  jacquard new Website --group example.com --deployment
  jacquard new --from-crd crd.yaml
  jacquard new Shop --group example.com --from-manifests shop/*.yaml
  jacquard new Shop --group example.com --from-chart charts/shop
  kubectl get deployment,service -o yaml | jacquard new Shop --group example.com --from-manifests -`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(oneWay(cmd), o.checkFlags(cmd), o.checkArgs(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.root, "root", ".", "directory to write crds/, templates/ and examples/ to")
	flags.StringVar(&o.names.Group, "group", "", "API group of the kind, such as example.com")
	flags.StringVar(&o.names.Version, "version", "", "version of the API (default v1alpha1)")
	flags.StringVar(&o.names.Kind, "kind", "", "the kind, if KIND is the plural")
	flags.StringVar(&o.names.Plural, "plural", "", "the plural, if it is irregular")
	flags.BoolVar(&o.deployment, "deployment", false, "scaffold a Deployment and a Service")
	flags.StringVar(&o.crd, "from-crd", "", "file of an existing CRD")
	flags.StringVar(&o.example, "example", "", "with --from-crd: file of a resource that becomes the example")
	flags.StringArrayVar(&o.manifests, "from-manifests", nil, "file or directory of manifests that become templates")
	flags.StringVar(&o.chart, "from-chart", "", "directory of a Helm chart that becomes a kind")
	return cmd
}

// ways are the flags that say what the kind is made of.
var ways = []string{"deployment", "from-crd", "from-manifests", "from-chart"}

// oneWay refuses two ways to make a kind at once.
func oneWay(cmd *cobra.Command) error {
	first := ""
	for _, way := range ways {
		switch {
		case !cmd.Flags().Changed(way):
		case cmd.Flags().Lookup(way).Value.String() == "":
			return fmt.Errorf("--%s says nothing: name a file or directory", way)
		case first != "":
			return fmt.Errorf("--%s and --%s exclude each other", first, way)
		default:
			first = way
		}
	}
	return nil
}

// checkFlags refuses flags without a value, and those that the chosen way has no use for. A CRD
// already defines its names.
func (o *newOptions) checkFlags(cmd *cobra.Command) error {
	if slices.Contains(o.manifests, "") {
		return errors.New("--from-manifests says nothing: name a file or directory")
	}
	if o.crd == "" && o.example != "" {
		return errors.New("--example is for --from-crd")
	}
	for _, flag := range []string{"group", "version", "kind", "plural"} {
		if o.crd != "" && cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s and --from-crd exclude each other: the CRD says it", flag)
		}
	}
	return nil
}

// checkArgs refuses command lines with too many or too few arguments.
func (o *newOptions) checkArgs(args []string) error {
	switch {
	case o.crd != "" && len(args) > 1:
		return fmt.Errorf("--from-crd takes one CRD; what is %s?", args[1])
	case o.crd != "":
		return nil
	case len(args) == 0:
		return errors.New("a KIND is missing, such as: new Website --group example.com")
	case len(args) > 1 && len(o.manifests) == 0:
		return fmt.Errorf("one kind at a time; what is %s?", args[1])
	}
	names, err := scaffold.ParseNames(args[0], o.names)
	o.names = names
	return err
}

func (o *newOptions) run(cmd *cobra.Command, args []string) error {
	draft, err := o.makeDraft(cmd, args)
	if err != nil {
		return err
	}
	return createKind(cmd, o.root, draft)
}

// makeDraft makes the kind that the flags ask for.
func (o *newOptions) makeDraft(cmd *cobra.Command, args []string) (*scaffold.Draft, error) {
	switch {
	case o.crd != "":
		return o.fromCRD(cmd, slices.Clone(args))
	case len(o.manifests) > 0:
		return o.fromManifests(cmd, append(slices.Clone(o.manifests), args[1:]...))
	case o.chart != "":
		return o.fromChart()
	case o.deployment:
		return scaffold.Form(scaffold.FormDeployment, o.names)
	}
	return scaffold.Form(scaffold.FormConfigMap, o.names)
}
