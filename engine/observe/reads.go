package observe

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Query is one question about objects of a scope: the one of that name, or
// those that the selector matches.
type Query struct {
	Scope           Scope
	Namespace, Name string
	Selector        labels.Selector
}

// Reads watches what templates read and what is patched: objects that are not
// children. Bodies are kept only of objects that somebody reads or patched.
type Reads struct{}

// Lookup answers a query by name: the object, or nil if there is none. An
// error, such as ErrNotServed or a RuleError, means that it is not known.
func (r *Reads) Lookup(q Query) (*Live, error) { return nil, nil }

// Select answers a query by selector, sorted by namespace and name.
func (r *Reads) Select(q Query) ([]Live, error) { return nil, nil }

// Record declares what a resource read, in place of what it read before:
// changes of exactly that wake it. No queries: it is gone or reads nothing.
func (r *Reads) Record(reader api.Owner, queries []Query) {}

// Patched returns the objects of a kind that have fields of the patch manager
// of this uid (api.PatchManager), with bodies.
func (r *Reads) Patched(gvk schema.GroupVersionKind, uid types.UID) ([]Live, error) { return nil, nil }
