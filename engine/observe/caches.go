package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Children tells which children there are: [cluster.Children] from caches, a
// survey by asking once. The methods are those of cluster.Children.
type Children interface {
	State(gvk schema.GroupVersionKind, in ...string) live.State
	Of(gvk schema.GroupVersionKind, uid types.UID, in ...string) ([]live.Object, error)
	RecordWrite(gvk schema.GroupVersionKind, o *unstructured.Unstructured)
	Resync(ctx context.Context, gvk schema.GroupVersionKind) error
}

// Reads answers what templates read, and what is patched: [cluster.Reads] from
// caches, a survey by asking once. The methods are those of cluster.Reads.
type Reads interface {
	State(scope cluster.Scope) live.State
	Lookup(q cluster.Query) (*live.Object, error)
	Select(q cluster.Query) ([]live.Object, error)
	Patched(gvk schema.GroupVersionKind, uid types.UID, in ...string) ([]live.Object, error)
	Tick() uint64
	Record(reader api.Owner, queries []cluster.Query)
	RecordWrite(gvk schema.GroupVersionKind, o *unstructured.Unstructured)
	Resync(ctx context.Context, scope cluster.Scope) error
}

// Caches are what is known of the cluster.
type Caches struct {
	Children Children
	Reads    Reads
	Served   func() *cluster.Served
	// DeclaresConditions reports whether a CRD declares status.conditions for a
	// kind of child.
	DeclaresConditions func(schema.GroupKind) bool
	// Defined reports whether a CRD defines a kind, be it served just now or not.
	Defined func(schema.GroupKind) bool
	// Namespaces are those that the operator is limited to; none means all.
	Namespaces []string
	// Shard is which resources of the kind are served, and by whom.
	Shard shard.Shard
	// CRD returns the metadata of a CRD, or nil.
	CRD func(name string) metav1.Object
}
