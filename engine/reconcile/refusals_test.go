package reconcile

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/memory"
	"github.com/jacquard-operator/jacquard/test/refusals"
)

// TestRefusals: of each way in which a real API server refuses a child, a person
// reads which field it is, where the template writes it, who holds it, and what to
// do, and no value of the child.
func TestRefusals(t *testing.T) {
	rows, err := refusals.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			w, _ := refusedWorld(t, row)
			w.turn()
			ready := status.Condition(w.server.Get(thingKind, "default", "a").Object, "Ready")
			message := strings.ReplaceAll(fmt.Sprint(ready["message"]), "templates/"+things+"/", "")
			if ready["reason"] != row.Reason || message != row.Message {
				t.Errorf("%v: %s\nwant %s: %s", ready["reason"], message, row.Reason, row.Message)
			}
			event := ""
			for len(w.events.Events) > 0 {
				event += <-w.events.Events
			}
			for _, text := range []string{message, event} {
				if strings.Contains(text, "hunter") {
					t.Errorf("it tells a value: %s", text)
				}
			}
		})
	}
}

// refusedWorld is a world whose child is refused as it was recorded.
func refusedWorld(t *testing.T, row refusals.Row) (*world, *refusals.Recorded) {
	t.Helper()
	recorded, err := row.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	child := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(row.Sent()), &child.Object); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"child.yaml": row.Child}
	if row.Cluster {
		files["kind.yaml"] = fmt.Sprintf("apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: %s, kind: %s}\n",
			child.GetAPIVersion(), child.GetKind())
	}
	w := newWorld(t, files, served(child.GroupVersionKind(), recorded.Resource, !row.Cluster))
	w.edit(func(o *unstructured.Unstructured) {
		spec := map[string]any{"name": row.To}
		if n, err := strconv.Atoi(row.To); err == nil {
			spec["replicas"] = int64(n)
		}
		o.Object["spec"] = spec
	})
	if recorded.Live != nil {
		there := recorded.Live
		owner := w.server.Get(thingKind, "default", "a")
		_ = unstructured.SetNestedField(there.Object, string(owner.GetUID()), "metadata", "labels", api.LabelOwnerUID)
		_ = unstructured.SetNestedField(there.Object, things+"/default/a", "metadata", "annotations", api.AnnotationOwner)
		if !row.Cluster {
			there.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Thing", Name: "a", UID: owner.GetUID(), Controller: ptr.To(true)}})
		}
		w.server.Put(there)
	}
	w.server.Refuse = func(r memory.Request) *metav1.Status {
		switch {
		case r.Verb != "apply" && r.Verb != "patch" || r.Resource != recorded.Resource || r.Name == things:
			return nil
		case r.DryRun:
			return recorded.Fresh
		}
		return recorded.Answer
	}
	return w, recorded
}

// TestRefusedForWhatOthersHold: a write that was refused for a field or an entry of another
// manager is tried again once that manager's fields changed, and not before.
func TestRefusedForWhatOthersHold(t *testing.T) {
	rows, err := refusals.Rows()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, row := range rows {
		if !strings.Contains(row.Message, "from the live object") {
			continue
		}
		tried++
		t.Run(row.Name, func(t *testing.T) {
			w, recorded := refusedWorld(t, row)
			w.turn()
			w.sends("at once")
			w.server.Change(recorded.Live, "somebody", func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, "x", "metadata", "labels", "their-own")
			})
			again := w.turn()
			if len(again) == 0 {
				t.Error("it is not tried again once others changed the object")
			}
			w.sends("when that was in vain")
		})
	}
	if tried == 0 {
		t.Error("no row is about what others hold")
	}
}

// TestNamespaceComesBack: however long a namespace took to go, a child in it is soon there
// again once somebody makes the namespace anew.
func TestNamespaceComesBack(t *testing.T) {
	for name, refusal := range map[string]*metav1.Status{
		"it is being deleted": {Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: `configmaps "one" is forbidden: because it is being terminated`,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace"}}}},
		"it is gone": {Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: `namespaces "default" not found`,
			Details: &metav1.StatusDetails{Kind: "namespaces", Name: "default"}},
	} {
		w := newWorld(t, map[string]string{"one.yaml": oneMap})
		w.server.Refuse = func(r memory.Request) *metav1.Status {
			if r.Resource == "configmaps" && r.Writes() {
				refusal.Kind, refusal.APIVersion = "Status", "v1"
				return refusal
			}
			return nil
		}
		longest := time.Duration(0)
		for range 30 {
			w.turn()
			wait := w.requeue()
			longest = max(longest, wait)
			w.now = w.now.Add(wait)
		}
		if longest > 15*time.Second {
			t.Errorf("%s: it waits for %v", name, longest)
		}
	}
}
