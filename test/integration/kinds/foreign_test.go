package kinds

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// intrude makes a foreign object beside every child of the first resource of
// each kind: a copy under another name that wears our label and annotations.
func (w *walk) intrude(t *testing.T) {
	t.Helper()
	in := takeInventory(t, w.namespaces)
	var made []*unstructured.Unstructured
	for i, r := range w.resources {
		if i%3 != 0 {
			continue
		}
		live, err := r.live(in)
		if err != nil {
			t.Fatal(err)
		}
		desired, err := r.desired(in)
		if err != nil {
			t.Fatal(err)
		}
		for n, id := range sortedKeys(desired) {
			o := copied(desired[id], fmt.Sprintf("foreign-%d", n))
			o.SetLabels(map[string]string{api.LabelOwnerUID: string(live.GetUID()), "made-by": "somebody"})
			o.SetAnnotations(map[string]string{api.AnnotationOwner: r.made.name() + "/" + r.ns + "/" + r.name, api.AnnotationFile: "tuned"})
			if err := cluster.Client.Create(context.Background(), o); err != nil {
				t.Fatal(err)
			}
			made = append(made, o)
		}
	}
	cluster.AwaitQuiet(t, func() (string, error) {
		in, activity := takeInventory(t, w.namespaces), ""
		for _, o := range made {
			now := in.objects[o.GetUID()]
			if now == nil {
				return "", fmt.Errorf("%s %s is not there", o.GetKind(), o.GetName())
			}
			w.bystanders[o.GetUID()] = now
			activity += " " + version(now)
		}
		return activity, nil
	})
}

// copied is a rendered child under another name, which stands in it for the
// child's own wherever that occurs, as in selectors.
func copied(child *unstructured.Unstructured, name string) *unstructured.Unstructured {
	old := child.GetName()
	return &unstructured.Unstructured{Object: renamed(runtime.DeepCopyJSON(child.Object), old, name).(map[string]any)}
}

func renamed(v any, old, name string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, old, name)
	case []any:
		for i := range v {
			v[i] = renamed(v[i], old, name)
		}
	case map[string]any:
		for key := range v {
			v[key] = renamed(v[key], old, name)
		}
	}
	return v
}

// delete deletes all resources; nothing is left but what is foreign.
func (w *walk) delete(t *testing.T) {
	t.Helper()
	for _, r := range w.resources {
		cluster.Delete(t, r.made.apiVersion(), r.made.kind, r.ns, r.name)
	}
	w.resources = nil
	kit.Eventually(t, "nothing is left behind", func() error {
		in := takeInventory(t, w.namespaces)
		for _, o := range in.objects {
			if !w.foreign(in, o) {
				return fmt.Errorf("%s %s/%s is there still", o.GetKind(), o.GetNamespace(), o.GetName())
			}
		}
		return nil
	})
	w.rests(t, "deleted")
}

// foreign reports whether an object is a bystander, belongs to one, or is in
// every namespace.
func (w *walk) foreign(in *inventory, o *unstructured.Unstructured) bool {
	if w.bystanders[o.GetUID()] != nil || o.GetName() == "kube-root-ca.crt" || o.GetKind() == "ServiceAccount" && o.GetName() == "default" {
		return true
	}
	if o.GetKind() == "Endpoints" { // it bears the Service's name and no owner
		for _, b := range w.bystanders {
			if b.GetKind() == "Service" && b.GetName() == o.GetName() && b.GetNamespace() == o.GetNamespace() {
				return true
			}
		}
		return false
	}
	controller := metav1.GetControllerOf(o)
	if controller == nil {
		return false
	}
	owner := in.objects[controller.UID]
	return owner != nil && w.foreign(in, owner)
}
