package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

func synced(schema.GroupVersionKind) live.State { return live.State{Phase: live.Synced} }

// far is a live child of ours of that kind that the garbage collector does not
// reach: it has no namespace.
func far(kind, name, file, onDelete string) live.Object {
	gvk := schema.GroupVersionKind{Version: "v1", Kind: kind}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetName(name)
	o.SetUID(types.UID(name))
	o.SetLabels(map[string]string{api.LabelOwnerUID: string(owner.UID)})
	annotations := map[string]string{api.AnnotationOwner: owner.String(), api.AnnotationFile: file}
	if onDelete != "" {
		annotations[api.AnnotationOnDelete] = onDelete
	}
	o.SetAnnotations(annotations)
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: api.FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned)}})
	return live.Object{GVK: gvk, Meta: o, Body: o.Object}
}

func names(all []live.Object) []string {
	var out []string
	for _, l := range all {
		out = append(out, l.Meta.GetName())
	}
	return out
}

// TestPrecious: what holds data is only pruned where the resource allows it.
func TestPrecious(t *testing.T) {
	inside, outside := far("Node", "in-a", "far", ""), far("Node", "in-b", "far", "")
	inside.Meta.SetNamespace("a")
	outside.Meta.SetNamespace("b")
	in := Input{
		Owner: owner, Live: []live.Object{far("Namespace", "a", "far", "delete"), far("Namespace", "b", "far", "delete"),
			far("Node", "c", "far", "keep"), inside, outside},
		Result: &render.Result{Children: []render.Child{pod("x", render.Policy{})}}, State: synced, AllowPrune: []string{"Namespace/b/b"},
	}
	p, err := Make(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "in-b"}, names(p.Prune)); diff != "" {
		t.Errorf("pruned: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a"}, names(p.RetainedFor(HoldsData))); diff != "" {
		t.Errorf("held: -want +got\n%s", diff)
	}
	if p.Before.Finalizer != AddFinalizer {
		t.Error("a live Namespace needs the finalizer")
	}
}

// TestInNewNamespace: a child waits for the Namespace that its resource makes.
func TestInNewNamespace(t *testing.T) {
	home := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "team"}}}
	inside := pod("x", render.Policy{})
	inside.Object.SetNamespace("team")
	foreign := far("Namespace", "team", "home", "")
	foreign.Meta.SetLabels(nil)
	for name, c := range map[string]struct {
		live []live.Object
		want Action
	}{
		"not there": {nil, Block},
		"ours":      {[]live.Object{far("Namespace", "team", "home", "delete")}, Create},
		"foreign":   {[]live.Object{foreign}, Block},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(Input{Owner: owner, Live: c.live, State: synced,
				Result:   &render.Result{Children: []render.Child{{File: "home", Object: home}, inside}},
				Rendered: func(_ schema.GroupVersionKind, namespace string) bool { return namespace == "team" }})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Steps[1].Action; got != c.want {
				t.Errorf("%s (%s), want %s", got, p.Steps[1].Why, c.want)
			}
		})
	}
}

// TestPrunesWait: nothing is deleted, and no approval is asked for, before everything that is
// rendered can be applied. What has to wait for an approval is planned, and delayed.
func TestPrunesWait(t *testing.T) {
	unwanted := far("Node", "old", "gone", "delete")
	for name, c := range map[string]struct {
		phase live.Phase
		asked int
	}{
		"everything can be applied": {live.Synced, 1},
		"a kind is not known":       {live.Unsynced, 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			p, err := Make(Input{
				Owner: owner, Live: []live.Object{unwanted, far("Namespace", "a", "gone", "delete")},
				Result: &render.Result{Children: []render.Child{pod("x", render.Policy{})}},
				State:  func(schema.GroupVersionKind) live.State { return live.State{Phase: c.phase} },
			})
			if err != nil {
				t.Fatal(err)
			}
			p.DelayUnapproved(func(schema.GroupKind, metav1.Object) error {
				asked++
				return errors.New("not yet")
			})
			if asked != c.asked || p.Delayed[DeleteKey(unwanted)] != (c.asked > 0) {
				t.Errorf("%d deletions are asked for, and these are delayed: %v", asked, p.Delayed)
			}
			if got := len(p.PruneProblems); got != 1+c.asked {
				t.Errorf("%d problems: %v", got, p.PruneProblems)
			}
		})
	}
}
