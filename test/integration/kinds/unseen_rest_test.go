package kinds

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// rests waits until every resource is as it should be, and nothing happens any more: the
// operator sends nothing, and no object changes. Then the five invariants hold.
func (w *walk) rests(t testing.TB, phase string) *inventory {
	t.Helper()
	mark := cluster.Mark(t)
	var after *inventory
	cluster.AwaitQuiet(t, func() (string, error) {
		sent := cluster.Requests(t, mark)
		after = takeInventory(t, w.namespaces)
		return fmt.Sprint(len(sent), " requests: ", sent[max(0, len(sent)-3):], after.versions()), w.check(after)
	})
	w.same(t, phase+": foreign", w.bystanders, after)
	if t.Failed() {
		t.FailNow()
	}
	return after
}

// versions tells any two inventories apart.
func (in *inventory) versions() string {
	var all []string
	for _, o := range in.objects {
		all = append(all, version(o))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// same holds that objects are what they were, but for the status that their
// controllers write.
func (w *walk) same(t testing.TB, phase string, before map[uid]*unstructured.Unstructured, now *inventory) {
	t.Helper()
	for id, o := range before {
		is := now.objects[id]
		if is == nil {
			t.Errorf("%s: %s %s is gone", phase, o.GetKind(), o.GetName())
		} else if is.GetResourceVersion() != o.GetResourceVersion() {
			if diff := cmp.Diff(content(o), content(is)); diff != "" {
				t.Errorf("%s: %s %s changed: %s", phase, o.GetKind(), o.GetName(), diff)
			}
		}
	}
}

// content is an object without its status and what counts its changes.
func content(o *unstructured.Unstructured) map[string]any {
	c := runtime.DeepCopyJSON(o.Object)
	delete(c, "status")
	unstructured.RemoveNestedField(c, "metadata", "resourceVersion")
	unstructured.RemoveNestedField(c, "metadata", "managedFields")
	return c
}

// check says what is not as it should be in an inventory.
func (w *walk) check(in *inventory) error {
	for _, r := range w.resources {
		if err := r.check(in); err != nil {
			return fmt.Errorf("%s %s: %w", r.made.name(), r.name, err)
		}
	}
	return nil
}

// A resource is one custom resource of a made-up kind.
type resource struct {
	made     *made
	ns, name string
	spec     map[string]any
}

// live is the resource as the kind's folder reads it.
func (r *resource) live(in *inventory) (*unstructured.Unstructured, error) {
	o := in.find(r.made.compiled.GVK.GroupKind(), r.ns, r.name)
	if o == nil {
		return nil, fmt.Errorf("it is not there")
	}
	o = o.DeepCopy()
	o.SetGroupVersionKind(r.made.compiled.GVK) // all versions have one schema
	return o, nil
}

// desired is what the resource should have, by "Kind.group/name", rendered
// apart from the operator.
func (r *resource) desired(in *inventory) (map[string]*unstructured.Unstructured, error) {
	live, err := r.live(in)
	if err != nil {
		return nil, err
	}
	result, err := render.Children(context.Background(), r.made.compiled, live, world{in, live})
	if err != nil {
		return nil, err
	}
	if len(result.Waiting) > 0 {
		return nil, fmt.Errorf("waiting: %v", result.Waiting)
	}
	all := map[string]*unstructured.Unstructured{}
	for _, c := range result.Children {
		all[id(c.Object)] = c.Object
	}
	return all, nil
}

func id(o *unstructured.Unstructured) string {
	return o.GroupVersionKind().GroupKind().String() + "/" + o.GetName()
}

// check holds that every desired child is there and says what is rendered
// (I1), that there is no other (I2), and that the status says so (I4).
func (r *resource) check(in *inventory) error {
	live, err := r.live(in)
	if err != nil {
		return err
	}
	desired, err := r.desired(in)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, o := range in.of(live) {
		have[id(o)] = true
		want := desired[id(o)]
		if want == nil {
			return fmt.Errorf("%s is not desired", id(o))
		}
		if err := r.says(o, want, live); err != nil {
			return fmt.Errorf("%s: %w", id(o), err)
		}
	}
	if diff := cmp.Diff(sortedKeys(desired), sortedKeys(have)); diff != "" {
		return fmt.Errorf("children: %s", diff)
	}
	return r.tells(in, live, desired)
}

// says holds that a live child says what is rendered, and whose it is.
func (r *resource) says(o, want, owner *unstructured.Unstructured) error {
	sent, got := plainSecret(want.Object), plainSecret(o.Object)
	for _, d := range ownership.Differences(sent, got) {
		if !d.Normalised {
			return fmt.Errorf("%s is not as rendered", d.Path)
		}
	}
	controller := metav1.GetControllerOf(o)
	switch {
	case o.GetDeletionTimestamp() != nil:
		return fmt.Errorf("it is being deleted")
	case !applied(o):
		return fmt.Errorf("the operator owns no field of it")
	case controller == nil || controller.UID != owner.GetUID():
		return fmt.Errorf("its controller is %v", controller)
	case o.GetLabels()[api.LabelOwnerUID] != string(owner.GetUID()):
		return fmt.Errorf("its label is %q", o.GetLabels()[api.LabelOwnerUID])
	case o.GetAnnotations()[api.AnnotationOwner] != r.made.name()+"/"+r.ns+"/"+r.name:
		return fmt.Errorf("its owner is %q", o.GetAnnotations()[api.AnnotationOwner])
	}
	return nil
}

// plainSecret is a Secret with stringData as the server keeps it.
func plainSecret(o map[string]any) map[string]any {
	texts, ok := o["stringData"].(map[string]any)
	if !ok {
		return o
	}
	o = maps.Clone(o)
	delete(o, "stringData")
	data := map[string]any{}
	for key, text := range texts {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text.(string)))
	}
	o["data"] = data
	return o
}

// tells holds that the status tells the truth.
func (r *resource) tells(in *inventory, live *unstructured.Unstructured, desired map[string]*unstructured.Unstructured) error {
	if err := kit.IsCondition(live, "Ready", "True", ""); err != nil {
		return err
	}
	said, _ := live.Object["status"].(map[string]any)
	own, err := render.Status(context.Background(), r.made.compiled, live, world{in, live})
	if err != nil {
		return err
	}
	n := int64(len(desired))
	if diff := cmp.Diff([]any{live.GetGeneration(), n, n, own["counted"], own["said"]},
		[]any{said["observedGeneration"], said["childrenTotal"], said["childrenReady"], said["counted"], said["said"]}); diff != "" {
		return fmt.Errorf("its status: %s", diff)
	}
	for _, kind := range []string{"Reconciling", "Stalled"} {
		if err := kit.IsCondition(live, kind, "", ""); err != nil {
			return err
		}
	}
	var listed []string
	children, _, _ := unstructured.NestedSlice(live.Object, "status", "children")
	for _, item := range children {
		c := unstructured.Unstructured{Object: item.(map[string]any)}
		name, _ := c.Object["name"].(string)
		listed = append(listed, c.GroupVersionKind().GroupKind().String()+"/"+name)
		if c.Object["ready"] != true {
			return fmt.Errorf("it is Ready and its child is not: %v", item)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(sortedKeys(desired), listed); diff != "" {
		return fmt.Errorf("status.children: %s", diff)
	}
	return kit.IsCondition(live, "Tuned", "True", "Looked")
}
