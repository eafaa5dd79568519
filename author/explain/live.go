package explain

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/health"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// An Observed is one live object.
type Observed struct {
	Object *unstructured.Unstructured
	// Rule is the health entry for its kind, or nil.
	Rule *health.Rule
	// Conditioned: its CRD declares conditions.
	Conditioned bool
	// Class is the StorageClass of a claim.
	Class readiness.StorageClass
	// Fate says what becomes of it; "" if it stays as it was applied.
	Fate string
	// Taken are the fields of it that others took.
	Taken []string
}

// A Live is what is to be said of a live object.
type Live struct {
	// Object is how people call it: Service default/web.
	Object string `json:"object"`
	// File is the file, without .yaml, that made it as it says itself.
	File string `json:"file,omitempty"`
	// Ready is how ready it is: "ready", "not ready", "failed", or "" if that
	// is not known; Message says why not.
	Ready   string `json:"ready,omitempty"`
	Message string `json:"message,omitempty"`
	// Deleting: it is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Applied is when our fields last changed, RFC 3339; "" if none of its
	// fields is ours.
	Applied string `json:"applied,omitempty"`
	// Ours are our field managers' entries, Others everybody else's.
	Ours   []ownership.Owner `json:"ours,omitempty"`
	Others []ownership.Owner `json:"others,omitempty"`
	// Fate says what becomes of the object; "" if it stays as it was applied.
	Fate string `json:"pendingChange,omitempty"`
	// Taken are fields that we apply and do not own: others have them.
	Taken []string `json:"lostFields,omitempty"`
	// Beside are the entries of lists, such as containers, ports and mounts, that others
	// added to those which we apply.
	Beside []string `json:"foreignEntries,omitempty"`
}

// A Condition is one condition of the resource.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// readConditions returns the conditions in the status of a resource.
func readConditions(u *unstructured.Unstructured) []Condition {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var all []Condition
	for _, item := range list {
		m, _ := item.(map[string]any)
		text := func(key string) string { s, _ := m[key].(string); return s }
		all = append(all, Condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return all
}

// The objects are the live objects of the resource, and which of them a document stands for.
type objects struct {
	all     []Observed
	matched []bool
	manager string
	// before is what the operator has waited for.
	before status.Reported
}

func newObjects(in Input) *objects {
	return &objects{in.Live, make([]bool, len(in.Live)), api.PatchManager(in.Resource.GetUID()),
		status.ReportedBy(in.Resource.Object)}
}

// matchChild returns the live object that a child stands for, or nil.
func (o *objects) matchChild(c render.Child) *Live {
	i := slices.IndexFunc(o.all, func(l Observed) bool {
		return identityOf(l.Object) == identityOf(c.Object)
	})
	if i < 0 {
		return nil
	}
	o.matched[i] = true
	return o.describeObject(o.all[i])
}

type id struct {
	apischema.GroupKind
	namespace, name string
}

// identityOf returns what identifies an object, whatever its version.
func identityOf(u *unstructured.Unstructured) id {
	return id{u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName()}
}

// listRest returns the objects that no document stands for.
func (o *objects) listRest() []Live {
	var all []Live
	for i, l := range o.all {
		if !o.matched[i] {
			all = append(all, *o.describeObject(l))
		}
	}
	slices.SortFunc(all, func(a, b Live) int { return strings.Compare(a.Object, b.Object) })
	return all
}

// describeObject returns what the report holds of an object.
func (o *objects) describeObject(l Observed) *Live {
	u := l.Object
	out := &Live{Object: u.GetKind() + " " + displayName(u), File: u.GetAnnotations()[api.AnnotationFile],
		Deleting: u.GetDeletionTimestamp() != nil, Fate: l.Fate, Taken: l.Taken,
		Beside: ListForeign(u.Object, u.GetManagedFields(), api.FieldManager)}
	out.Ready, out.Message = o.readyWord(l)
	owners, err := ownership.Owners(u.GetManagedFields())
	if err != nil {
		out.Message = err.Error()
		return out
	}
	for _, m := range owners {
		if m.Manager != api.FieldManager && m.Manager != o.manager {
			out.Others = append(out.Others, m)
			continue
		}
		out.Ours = append(out.Ours, m)
		out.Applied = max(out.Applied, m.Time)
	}
	return out
}

func (o *objects) readyWord(l Observed) (word, message string) {
	v, err := readiness.Of(l.Object.Object, l.Rule, l.Conditioned)
	u := l.Object
	child := status.Child{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	v = SettleVerdict(o.before, child, v)
	if v.State == readiness.Unbound {
		v = SettleClaim(o.before, child, v, l.Class, FindConsumer(l.Object.Object, o.listBodies()))
	}
	switch {
	case err != nil:
		return "", err.Error()
	case v.IsReady():
		return "ready", v.Message
	case v.IsFailed():
		return "failed", v.Message
	}
	return "not ready", v.Message
}

// listBodies returns the live objects.
func (o *objects) listBodies() []map[string]any {
	all := make([]map[string]any, len(o.all))
	for i, l := range o.all {
		all[i] = l.Object.Object
	}
	return all
}
