package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
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

// live is that Pod as the cluster has it, after change.
func live(t *testing.T, name string, change func(*unstructured.Unstructured)) observe.Live {
	t.Helper()
	doc, _, err := Document(owner, pod(name, render.Policy{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := doc.DeepCopy()
	o.SetUID(types.UID("uid-" + name))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: api.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned)}})
	if change != nil {
		change(o)
	}
	return observe.Live{GVK: pods, Meta: o, Body: o.Object}
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
		live   []observe.Live
		policy render.Policy
		state  observe.State
		want   Action
	}{
		"absent":   {want: Create},
		"the same": {live: []observe.Live{live(t, "x", nil)}, want: Keep},
		"another hash": {live: []observe.Live{live(t, "x", func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{api.AnnotationOwner: owner.String(), api.AnnotationDesired: "v1:0"})
		})}, want: Update},
		"a field taken":              {live: []observe.Live{live(t, "x", func(o *unstructured.Unstructured) { o.SetManagedFields(withoutSpec(o)) })}, want: Update},
		"going":                      {live: []observe.Live{live(t, "x", func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(ptr.To(metav1.Now())) })}, want: Hold},
		"somebody else's":            {live: []observe.Live{live(t, "x", controlledBy("other"))}, want: Refuse},
		"failed":                     {live: []observe.Live{live(t, "x", ended)}, policy: recreate, want: Recreate},
		"failed, but not asked":      {live: []observe.Live{live(t, "x", ended)}, want: Keep},
		"failed and somebody else's": {live: []observe.Live{live(t, "x", func(o *unstructured.Unstructured) { ended(o); controlledBy("other")(o) })}, policy: recreate, want: Refuse},
		"managedFields wiped":        {live: []observe.Live{live(t, "x", func(o *unstructured.Unstructured) { o.SetManagedFields(nil) })}, want: Update},
		"not served":                 {state: observe.State{Phase: observe.NotServed}, want: Hold},
		"not known":                  {state: observe.State{Phase: observe.Unsynced}, want: Hold},
	} {
		t.Run(name, func(t *testing.T) {
			state := c.state
			if state == (observe.State{}) && name != "not known" {
				state = observe.State{Phase: observe.Synced}
			}
			p, err := Make(Input{
				Owner: owner, Live: c.live, Result: &render.Result{Children: []render.Child{pod("x", c.policy)}, Rendered: []string{"pods"}},
				State: func(schema.GroupVersionKind) observe.State { return state },
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

// withoutSpec is the entry after somebody else took spec.nodeName.
func withoutSpec(o *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	entries := o.GetManagedFields()
	entries[0].FieldsV1 = metav1.NewFieldsV1(owned[:len(owned)-len(`,"f:spec":{"f:nodeName":{}}}`)] + "}")
	return append(entries, metav1.ManagedFieldsEntry{Manager: "other", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:nodeName":{}}}`)})
}

func from(file string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		annotations[api.AnnotationFile] = file
		o.SetAnnotations(annotations)
	}
}

func TestPrune(t *testing.T) {
	waits := []render.Waiting{{File: "late", Message: "not yet"}}
	x := []render.Child{pod("x", render.Policy{})}
	for name, c := range map[string]struct {
		live   []observe.Live
		result render.Result
		empty  bool
		want   []string
	}{
		"what is not rendered goes":                 {[]observe.Live{live(t, "x", nil), live(t, "y", nil)}, render.Result{Children: x, Rendered: []string{"pods"}}, false, []string{"y"}},
		"what a waiting file made stays":            {[]observe.Live{live(t, "y", from("late"))}, render.Result{Children: x, Waiting: waits, Rendered: []string{"pods"}}, false, nil},
		"so does what it made under an older name":  {[]observe.Live{live(t, "y", from("older"))}, render.Result{Children: x, Waiting: waits, Rendered: []string{"pods"}}, false, nil},
		"but not what a rendered file made":         {[]observe.Live{live(t, "y", from("pods"))}, render.Result{Children: x, Waiting: waits, Rendered: []string{"pods"}}, false, []string{"y"}},
		"somebody else's with our label stays":      {[]observe.Live{live(t, "y", controlledBy("other"))}, render.Result{Children: x, Rendered: []string{"pods"}}, false, nil},
		"nothing rendered at all prunes nothing":    {[]observe.Live{live(t, "y", nil)}, render.Result{Rendered: []string{"pods"}}, false, nil},
		"unless the kind says that it may be empty": {[]observe.Live{live(t, "y", nil)}, render.Result{Rendered: []string{"pods"}}, true, []string{"y"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(Input{
				Owner: owner, Live: c.live, Result: &c.result, AllowEmpty: c.empty,
				State: func(schema.GroupVersionKind) observe.State { return observe.State{Phase: observe.Synced} },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range p.Prune {
				got = append(got, l.Meta.GetName())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
