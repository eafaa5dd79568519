//go:build !operator

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A reach is how a command that only looks reaches a cluster, and where in it.
type reach struct {
	access
	namespace string
}

// addFlags adds the flags that choose the cluster and the namespace.
func (r *reach) addFlags(cmd *cobra.Command) {
	r.access.addFlags(cmd)
	cmd.Flags().StringVarP(&r.namespace, "namespace", "n", "",
		"namespace of resources without one; default that of the kubeconfig's context")
}

// chooseNamespace returns the namespace of --namespace, or else that of the context.
func (r *reach) chooseNamespace() string {
	if r.namespace != "" {
		return r.namespace
	}
	namespace, _, err := r.newLoader().Namespace()
	if err != nil || namespace == "" {
		return "default"
	}
	return namespace
}

// A sight is a cluster and, if there are any, the folders to look at it with.
type sight struct {
	*liveview.Survey
	catalog *catalog.Catalog
	// kept compiles the folder of a kind, where that is not one of the catalog.
	kept func(context.Context, *liveview.Kind) (*kind.Kind, error)
}

// openSight looks at the cluster. kinds may be nil.
func (r *reach) openSight(ctx context.Context, kinds *catalog.Catalog) (*sight, error) {
	cfg, err := r.clientConfig()
	if err != nil {
		return nil, err
	}
	s := &sight{catalog: kinds}
	s.Survey, err = liveview.Open(ctx, cfg, s.onFile)
	return s, err
}

// onFile is a CRD of crds/ or schemas/, or nil.
func (s *sight) onFile(name string) *apiextensionsv1.CustomResourceDefinition {
	if s.catalog == nil {
		return nil
	}
	for _, among := range []map[string]*schema.CRD{s.catalog.CRDs, s.catalog.Schemas} {
		if crd := among[name]; crd != nil {
			return crd.Object
		}
	}
	return nil
}

// compileFolder finds a kind of the cluster and compiles its folder for it.
func (s *sight) compileFolder(ctx context.Context, name string) (diff.Sight, error) {
	k, err := s.Kind(ctx, name)
	if err != nil {
		return diff.Sight{}, err
	}
	var live *schema.CRD
	if k.CRD != nil && k.Unread == nil {
		if live, err = schema.FromObject(k.CRD); err != nil {
			return diff.Sight{}, fmt.Errorf("reading CRD %s: %w", k.Name, err)
		}
	}
	var folder *kind.Kind
	if s.kept != nil {
		folder, err = s.kept(ctx, k)
	} else {
		folder, err = s.catalog.Against(k.Name, live, s.Scopes)
	}
	if err != nil {
		return diff.Sight{}, err
	}
	k, err = s.As(k, folder.GVK)
	return diff.Sight{Survey: s.Survey, Kind: k, Folder: folder}, err
}

// A target names a live resource: NAME/[NAMESPACE/]RESOURCE.
type target struct{ kind, namespace, name string }

// targetOf reads a target; false if it is none, or a file of that name is there.
func targetOf(arg, namespace string) (target, bool) {
	if _, err := os.Stat(arg); err == nil || arg == "-" {
		return target{}, false
	}
	for _, end := range []string{".yaml", ".yml", ".json"} {
		if strings.HasSuffix(arg, end) {
			return target{}, false
		}
	}
	return parseTarget(arg, namespace)
}

// parseTarget reads a target; false if it is none. Without a namespace of its
// own it is in the one that is given.
func parseTarget(arg, namespace string) (target, bool) {
	switch parts := strings.Split(arg, "/"); len(parts) {
	case 2:
		return target{parts[0], namespace, parts[1]}, parts[0] != "" && parts[1] != ""
	case 3:
		return target{parts[0], parts[1], parts[2]}, parts[0] != "" && parts[1] != "" && parts[2] != ""
	}
	return target{}, false
}

// read reads the resource that a target of this kind names.
func (s *sight) read(ctx context.Context, k *liveview.Kind, t target) (*unstructured.Unstructured, error) {
	if !k.Resource.Namespaced {
		t.namespace = ""
	}
	resource, err := s.Get(ctx, k, t.namespace, t.name)
	if err == nil && resource == nil {
		err = fmt.Errorf("reading %s %s: there is none of that name", k.Name, strings.TrimPrefix(t.namespace+"/"+t.name, "/"))
	}
	return resource, err
}
