package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

var owner = Owner{
	Owner: api.Owner{Kind: "webs.example.com", Namespace: "ns", Name: "a"},
	GVK:   schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}, UID: "me",
}

var pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// owned is a managedFields entry of ours that covers all that pod renders.
const owned = `{"f:metadata":{"f:labels":{"f:jacquard.dev/owner-uid":{}},"f:annotations":{"f:jacquard.dev/owner":{},"f:jacquard.dev/file":{},"f:jacquard.dev/desired":{}},"f:ownerReferences":{"k:{\"uid\":\"me\"}":{}}},"f:spec":{"f:nodeName":{}}}`

// pod is a rendered Pod.
func pod(name string, policy render.Policy) render.Child {
	return render.Child{File: "pods", Policy: policy, Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "ns"}, "spec": map[string]any{"nodeName": "n"},
	}}}
}

// liveAs is that Pod as the cluster has it, after change.
func liveAs(t *testing.T, name string, change func(*unstructured.Unstructured)) live.Object {
	t.Helper()
	doc, _, err := Document(owner, pod(name, render.Policy{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := doc.DeepCopy()
	o.SetUID(types.UID("uid-" + name))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: api.FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned)}})
	if change != nil {
		change(o)
	}
	return live.Object{GVK: pods, Meta: o, Body: o.Object}
}

func controlledBy(uid string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Other", Name: "b", UID: types.UID(uid), Controller: ptr.To(true)}})
	}
}

func ended(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"phase": "Failed"} }

func TestSteps(t *testing.T) {
	recreate := render.Policy{RecreateOnFailed: true}
	for name, c := range map[string]struct {
		live   []live.Object
		policy render.Policy
		state  live.State
		want   Action
	}{
		"absent":                               {want: Create},
		"the same":                             {live: []live.Object{liveAs(t, "x", nil)}, want: Keep},
		"marked by a later version":            {live: []live.Object{liveAs(t, "x", markedWith(api.AnnotationWrittenBy))}, want: Keep},
		"applied with an annotation of others": {live: []live.Object{liveAs(t, "x", markedWith("example.com/x"))}, want: Update},
		"another hash": {live: []live.Object{liveAs(t, "x", func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{api.AnnotationOwner: owner.String(), api.AnnotationDesired: "v1:0"})
		})}, want: Update},
		"a field taken": {live: []live.Object{liveAs(t, "x",
			func(o *unstructured.Unstructured) { o.SetManagedFields(withoutSpec(o)) })}, want: Update},
		"going": {live: []live.Object{liveAs(t, "x",
			func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(ptr.To(metav1.Now())) })}, want: Block},
		"somebody else's":       {live: []live.Object{liveAs(t, "x", controlledBy("other"))}, want: Refuse},
		"failed":                {live: []live.Object{liveAs(t, "x", ended)}, policy: recreate, want: Recreate},
		"failed, but not asked": {live: []live.Object{liveAs(t, "x", ended)}, want: Keep},
		"failed and somebody else's": {live: []live.Object{liveAs(t, "x",
			func(o *unstructured.Unstructured) { ended(o); controlledBy("other")(o) })}, policy: recreate, want: Refuse},
		"managedFields wiped": {live: []live.Object{liveAs(t, "x", func(o *unstructured.Unstructured) { o.SetManagedFields(nil) })},
			want: Update},
		"stringData applied": {live: []live.Object{liveAs(t, "x", func(o *unstructured.Unstructured) {
			o.SetManagedFields(append(o.GetManagedFields(), metav1.ManagedFieldsEntry{Manager: "other", Operation: metav1.ManagedFieldsOperationApply,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:stringData":{"f:a":{}}}`)}))
		})}, want: Update},
		"not served": {state: live.State{Phase: live.NotServed}, want: Block},
		"not known":  {state: live.State{Phase: live.Unsynced}, want: Block},
	} {
		t.Run(name, func(t *testing.T) {
			state := c.state
			if state == (live.State{}) && name != "not known" {
				state = live.State{Phase: live.Synced}
			}
			p, err := Make(Input{
				Owner: owner, Live: c.live, Result: &render.Result{Children: []render.Child{pod("x", c.policy)}, Rendered: []string{"pods"}},
				State: func(schema.GroupVersionKind) live.State { return state },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Steps[0].Action; got != c.want {
				t.Errorf("%s (%s), want %s", got, p.Steps[0].Why, c.want)
			}
		})
	}
}

// markedWith adds an annotation that our entry owns.
func markedWith(key string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		annotations[key] = "1-aa"
		o.SetAnnotations(annotations)
		entries := o.GetManagedFields()
		fields := strings.Replace(owned, `"f:annotations":{`, `"f:annotations":{"f:`+key+`":{},`, 1)
		entries[0].FieldsV1 = metav1.NewFieldsV1(fields)
		o.SetManagedFields(entries)
	}
}

// withoutSpec is the entry after somebody else took spec.nodeName.
func withoutSpec(o *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	entries := o.GetManagedFields()
	entries[0].FieldsV1 = metav1.NewFieldsV1(owned[:len(owned)-len(`,"f:spec":{"f:nodeName":{}}}`)] + "}")
	return append(entries, metav1.ManagedFieldsEntry{Manager: "other", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:nodeName":{}}}`)})
}

func from(file string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		annotations[api.AnnotationFile] = file
		o.SetAnnotations(annotations)
	}
}

// as is a live child of another kind.
func as(l live.Object, gvk schema.GroupVersionKind) live.Object { l.GVK = gvk; return l }

var roles = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}

func TestPrune(t *testing.T) {
	waits := []render.Waiting{{File: "late", Message: "not yet"}}
	x := []render.Child{pod("x", render.Policy{})}
	waiting := render.Result{Children: x, Waiting: waits, Rendered: []string{"pods"}}
	rendered := render.Result{Children: x, Rendered: []string{"pods", "drawn"}}
	nothing := render.Result{Rendered: []string{"pods"}}
	for name, c := range map[string]struct {
		live              live.Object
		result            render.Result
		empty             bool
		prune, kept, held []string
	}{
		"what is not rendered goes":         {live: liveAs(t, "y", nil), result: rendered, prune: []string{"y"}},
		"what a waiting file made stays":    {live: liveAs(t, "other", from("late")), result: waiting, kept: []string{"other"}},
		"so does what it can make":          {live: liveAs(t, "late-y", from("pods")), result: waiting, kept: []string{"late-y"}},
		"and what a file made that is gone": {live: liveAs(t, "late-y", from("older")), result: waiting, kept: []string{"late-y"}},
		"but not what it cannot make":       {live: liveAs(t, "y", from("pods")), result: waiting, prune: []string{"y"}},
		"nor what the resource allows to go": {live: liveAs(t, "late-allowed", from("late")), result: waiting,
			prune: []string{"late-allowed"}},
		"a right is not kept for a likeness": {live: as(liveAs(t, "late-y", from("pods")), roles), result: waiting,
			prune: []string{"late-y"}},
		"but for its literal name": {live: as(liveAs(t, "late-literal", from("pods")), roles), result: waiting,
			kept: []string{"late-literal"}},
		"and if the file made it":           {live: as(liveAs(t, "y", from("late")), roles), result: waiting, kept: []string{"y"}},
		"a Secret with drawn texts is held": {live: as(liveAs(t, "y", from("drawn")), secrets), result: rendered, held: []string{"y"}},
		"unless the resource allows that it goes": {live: as(liveAs(t, "drawn-allowed", from("drawn")), secrets), result: rendered,
			prune: []string{"drawn-allowed"}},
		"another Secret is not":                     {live: as(liveAs(t, "y", from("pods")), secrets), result: rendered, prune: []string{"y"}},
		"somebody else's with our label stays":      {live: liveAs(t, "y", controlledBy("other")), result: rendered},
		"nothing rendered at all prunes nothing":    {live: liveAs(t, "y", nil), result: nothing},
		"unless the kind says that it may be empty": {live: liveAs(t, "y", nil), result: nothing, empty: true, prune: []string{"y"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(Input{
				Owner: owner, Live: []live.Object{liveAs(t, "x", nil), c.live}, Result: &c.result, AllowEmpty: c.empty,
				State:      func(schema.GroupVersionKind) live.State { return live.State{Phase: live.Synced} },
				AllowPrune: []string{"Pod/ns/late-allowed/uid-late", "Secret/ns/drawn-allowed/uid-drawn-allowed"},
				Draws:      func(file string) bool { return file == "drawn" },
				CanMake: func(file string, l live.Object) (can, literal bool) {
					name := l.Meta.GetName()
					return file == "late" && strings.HasPrefix(name, "late-"), name == "late-literal"
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var prune []string
			for _, l := range p.Prune {
				if l.Meta.GetName() != "x" {
					prune = append(prune, l.Meta.GetName())
				}
			}
			kept, held := names(p.RetainedFor(FileWaits)), names(p.RetainedFor(HoldsData))
			if diff := cmp.Diff([][]string{c.prune, c.kept, c.held}, [][]string{prune, kept, held}); diff != "" {
				t.Errorf("pruned, kept and held: -want +got\n%s", diff)
			}
		})
	}
}

// TestAtRestReadsNoFields: while our entry is as the last apply left it, a plan does
// not read its fields, which costs more than all the rest. The count is exact.
func TestAtRestReadsNoFields(t *testing.T) {
	l := liveAs(t, "x", nil)
	partial := &metav1.PartialObjectMetadata{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(l.Body, partial); err != nil {
		t.Fatal(err)
	}
	l.Meta = partial
	mark, found := ownership.MarkAt(partial.ManagedFields, api.FieldManager, "")
	if !found {
		t.Fatal("there is no entry of ours")
	}
	in := Input{
		Owner: owner, Live: []live.Object{l}, Result: &render.Result{Children: []render.Child{pod("x", render.Policy{})},
			Rendered: []string{"pods"}},
		State:   func(schema.GroupVersionKind) live.State { return live.State{Phase: live.Synced} },
		Applied: AppliedObjects{l.Meta.GetUID(): {Hash: partial.Annotations[api.AnnotationDesired], Digest: mark.Digest, Time: mark.Time}},
	}
	plan := func() {
		p, err := Make(in)
		if err != nil || p.Steps[0].Action != Keep {
			t.Fatalf("%v, %v", p.Steps, err)
		}
	}
	with := testing.AllocsPerRun(100, plan)
	in.Applied = nil
	without := testing.AllocsPerRun(100, plan)
	t.Logf("%.0f allocations, and %.0f without a memory", with, without)
	if with > atRest || without < 2*with {
		t.Errorf("%.0f allocations, and %.0f without a memory, want at most %d, and twice as many", with, without, atRest)
	}
}

// atRest is how many allocations the plan of a resource with one small child makes.
const atRest = 90
