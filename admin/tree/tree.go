package tree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Tree is what became of one custom resource.
type Tree struct {
	// Kind is the name of its CRD, and Resource how people call it: Page
	// default/hello.
	Kind      string    `json:"kind"`
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Created   time.Time `json:"created"`
	Deleting  bool      `json:"deleting,omitempty"`
	// Meaning is what the state of the resource means.
	verdict.Meaning
	// Revision is the digest of the state of the folder that serves it, if the CRD
	// says so.
	Revision string `json:"revision,omitempty"`
	// Server is the replica that serves it, if replicas divide the resources, or why none
	// does.
	Server     *health.Server `json:"server,omitempty"`
	Conditions []Condition    `json:"conditions"`
	// Children are those that are not ready first.
	Children []*Node  `json:"children"`
	Notes    []string `json:"notes,omitempty"`
}

// A Condition is one of the resource's conditions.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Old: it is about an earlier generation of the resource.
	Old bool `json:"outdated,omitempty"`
	// Color is that of the state which the condition stands for.
	Color verdict.Color `json:"color"`
}

// A Node is a child, a patched object, or what one of these owns.
type Node struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// File is the template that made it, without .yaml; "" for what others made.
	File    string    `json:"file,omitempty"`
	Created time.Time `json:"created"`
	Ready   bool      `json:"ready"`
	// Meaning is what its state means.
	verdict.Meaning
	Message string `json:"message,omitempty"`
	// Patched: it is somebody else's, and fields of it are set.
	Patched bool `json:"patched,omitempty"`
	// Beside are the entries of lists, such as containers, ports and mounts, that others
	// added to those which we apply, with their managers.
	Beside []string `json:"foreignEntries,omitempty"`
	Owns   []*Node  `json:"dependents,omitempty"`

	uid types.UID
}

// Of looks at one resource.
func Of(view *liveview.View, resource *unstructured.Unstructured) *Tree {
	view.ListChildren()
	cluster := view.Cluster()
	t := &Tree{
		Kind: view.Version().Name, Resource: formatName(resource), Namespace: resource.GetNamespace(), Name: resource.GetName(),
		Created:  resource.GetCreationTimestamp().Time,
		Deleting: resource.GetDeletionTimestamp() != nil, Meaning: health.StateOf(resource).Meaning(),
		Conditions: readConditions(resource), Children: []*Node{},
	}
	t.Revision = view.Revision()
	owner := liveview.NewOwner(t.Kind, resource)
	j := judge{version: view.Version(), cluster: cluster, reported: reportedChildren(resource), before: status.ReportedBy(resource.Object)}
	var children []live.Object
	for gvk := range view.Version().Children {
		current, _ := cluster.Children.Of(gvk, owner.UID) // what is wrong is among the troubles
		for _, l := range current {
			if plan.Ours(owner, l.Meta) {
				children = append(children, l)
				j.children = append(j.children, l.Body)
			}
		}
	}
	for _, l := range children {
		t.Children = append(t.Children, j.judgeObject(l))
	}
	t.addPatched(view, j, owner.UID)
	t.addOwned(view, j)
	sortNodes(t.Children)
	t.Notes = append(append(t.Notes, view.Notes()...), view.Troubles()...)
	slices.Sort(t.Notes)
	t.Notes = slices.Compact(t.Notes)
	return t
}

// Look looks at one resource, and at which replica serves it.
func Look(ctx context.Context, s *liveview.Survey, k *liveview.Kind, resource *unstructured.Unstructured) *Tree {
	t := Of(s.View(ctx, k, nil, resource), resource)
	t.Server = health.ServerOf(ctx, s, k, resource)
	return t
}

// formatName returns how people call an object: Page default/hello.
func formatName(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}

// addPatched adds the objects that the resource patches.
func (t *Tree) addPatched(view *liveview.View, j judge, uid types.UID) {
	for _, gvk := range view.Version().Patched {
		current, _ := j.cluster.Reads.Patched(gvk, uid)
		for _, l := range current {
			n := j.judgeObject(l)
			n.Patched, n.File = true, ""
			t.Children = append(t.Children, n)
		}
	}
}

var pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// A judge decides whether objects are ready, as the operator does.
type judge struct {
	version *observe.Version
	cluster reconcile.Cluster
	// reported are the children of status.children. Without the folder, its health
	// expressions are not known here, and the operator's decision stands.
	reported map[childKey]reportedChild
	// before is what the operator has waited for.
	before status.Reported
	// children are the children of the resource.
	children []map[string]any
}

type childKey struct {
	schema.GroupKind
	namespace, name string
}

type reportedChild struct {
	ready   bool
	message string
}

// reportedChildren returns what status.children says of each child.
func reportedChildren(resource *unstructured.Unstructured) map[childKey]reportedChild {
	items, _, _ := unstructured.NestedSlice(resource.Object, "status", "children")
	all := map[childKey]reportedChild{}
	for _, item := range items {
		m, _ := item.(map[string]any)
		text := func(key string) string { s, _ := m[key].(string); return s }
		ready, told := m["ready"].(bool)
		if told {
			gk := schema.FromAPIVersionAndKind(text("apiVersion"), text("kind")).GroupKind()
			all[childKey{gk, text("namespace"), text("name")}] = reportedChild{ready, text("message")}
		}
	}
	return all
}

// judgeObject judges one object, and sets what its state means.
func (j judge) judgeObject(l live.Object) *Node {
	n, isFailed := j.assessObject(l)
	n.Meaning = n.stateOf(l.Meta.GetDeletionTimestamp() != nil, isFailed).Meaning()
	return n
}

// stateOf returns the row of the table of states for the node's object.
func (n *Node) stateOf(isDeleting, isFailed bool) verdict.State {
	switch {
	case isDeleting:
		return verdict.Deleting
	case n.Ready && readiness.IsUnknown(n.Message):
		return verdict.HealthUnknown
	case n.Ready:
		return verdict.Ready
	case isFailed:
		return verdict.Stalled
	}
	return verdict.Reconciling
}

// assessObject decides whether an object is ready, or failed.
func (j judge) assessObject(l live.Object) (n *Node, isFailed bool) {
	n = &Node{
		APIVersion: l.GVK.GroupVersion().String(), Kind: l.GVK.Kind, Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName(),
		File: l.Meta.GetAnnotations()[api.AnnotationFile], Created: l.Meta.GetCreationTimestamp().Time, uid: l.Meta.GetUID(),
		Beside: explain.ListForeign(l.Body, l.Meta.GetManagedFields(), api.FieldManager),
	}
	if l.Meta.GetDeletionTimestamp() != nil {
		n.Message = "being deleted"
		return n, false
	}
	gk := l.GVK.GroupKind()
	if r, found := j.reported[childKey{gk, n.Namespace, n.Name}]; found && j.version.Kind == nil && !readiness.HasRule(gk) {
		n.Ready, n.Message = r.ready, r.message
		return n, false
	}
	if !readiness.NeedsBody(j.version.Health(), l.GVK.GroupKind()) {
		n.Ready = true
		return n, false
	}
	rule := readiness.RuleFor(j.version.Health(), l.GVK.GroupKind())
	if l.GVK == pods && rule == nil {
		result := readiness.ForPerson(l.Body)
		n.Ready, n.Message = result.IsReady(), result.Message
		return n, result.IsFailed()
	}
	result, err := readiness.Of(l.Body, rule, j.cluster.DeclaresConditions(l.GVK.GroupKind()))
	if err != nil {
		n.Message = fmt.Sprintf("its status cannot be read: %s", err)
		return n, false
	}
	child := status.Child{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
	if result.State == readiness.Unbound {
		result = explain.SettleClaim(j.before, child, result, j.cluster.StorageClass(l.Body), explain.FindConsumer(l.Body, j.children))
	}
	result = explain.SettleVerdict(j.before, child, result)
	n.Ready, n.Message = result.IsReady(), result.Message
	return n, result.IsFailed()
}

// sortNodes puts those that are not ready first, at every depth.
func sortNodes(nodes []*Node) {
	slices.SortFunc(nodes, func(a, b *Node) int {
		if a.Ready != b.Ready {
			return map[bool]int{true: 1, false: -1}[a.Ready]
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range nodes {
		sortNodes(n.Owns)
	}
}

// conditionColor is the color of a condition: of some, True is the bad news.
func conditionColor(name, value string) verdict.Color {
	isTrue := value == "True"
	state := map[string]verdict.State{"Stalled": verdict.Stalled, "Reconciling": verdict.Reconciling, "Paused": verdict.Paused}[name]
	switch {
	case value == "Unknown", state == "" && name != "Ready" && !isTrue:
		return verdict.Gray
	case state != "" && isTrue:
		return state.Meaning().Color
	case name == "Ready" && !isTrue:
		return verdict.Reconciling.Meaning().Color
	}
	return verdict.Ready.Meaning().Color
}

// readConditions returns the conditions of a resource. Ready comes first.
func readConditions(resource *unstructured.Unstructured) []Condition {
	items, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	all := []Condition{}
	for _, item := range items {
		m, _ := item.(map[string]any)
		text := func(key string) string { s, _ := m[key].(string); return s }
		observed, isSet := m["observedGeneration"].(int64)
		all = append(all, Condition{text("type"), text("status"), text("reason"), text("message"), isSet && observed != resource.GetGeneration(),
			conditionColor(text("type"), text("status"))})
	}
	slices.SortStableFunc(all, func(a, b Condition) int {
		return map[bool]int{true: 0, false: 1}[a.Type == "Ready"] - map[bool]int{true: 0, false: 1}[b.Type == "Ready"]
	})
	return all
}
