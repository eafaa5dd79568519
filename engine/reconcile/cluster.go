package reconcile

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// Children tells which children there are: [observe.Children] from caches, a
// survey by asking once. The methods are those of observe.Children.
type Children interface {
	State(gvk schema.GroupVersionKind) observe.State
	Of(gvk schema.GroupVersionKind, uid types.UID) ([]observe.Live, error)
	Note(gvk schema.GroupVersionKind, o *unstructured.Unstructured)
	Look(ctx context.Context, gvk schema.GroupVersionKind) error
}

// Reads answers what templates read, and what is patched: [observe.Reads] from
// caches, a survey by asking once. The methods are those of observe.Reads.
type Reads interface {
	State(scope observe.Scope) observe.State
	Lookup(q observe.Query) (*observe.Live, error)
	Select(q observe.Query) ([]observe.Live, error)
	Patched(gvk schema.GroupVersionKind, uid types.UID) ([]observe.Live, error)
	Tick() uint64
	Record(reader api.Owner, queries []observe.Query)
	Note(gvk schema.GroupVersionKind, o *unstructured.Unstructured)
	Look(ctx context.Context, scope observe.Scope) error
}
