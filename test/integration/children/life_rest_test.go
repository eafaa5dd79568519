package children

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// childKinds are the kinds of children that the folders here make.
var childKinds = [][2]string{{"v1", "ConfigMap"}, {"apps/v1", "Deployment"}, {"v1", "Service"}}

// list lists the objects of one kind in a namespace, "" for all.
func list(t testing.TB, apiVersion, kind, namespace string) []unstructured.Unstructured {
	t.Helper()
	return cluster.List(t, apiVersion, kind, client.InNamespace(namespace))
}

// events lists "type reason note" of the events about an object.
func events(t testing.TB, namespace, name string) []string {
	t.Helper()
	var notes []string
	for _, e := range list(t, "events.k8s.io/v1", "Event", "") {
		about, _, _ := unstructured.NestedStringMap(e.Object, "regarding")
		if about["name"] == name && about["namespace"] == namespace {
			notes = append(notes, fmt.Sprint(e.Object["type"], " ", e.Object["reason"], " ", e.Object["note"]))
		}
	}
	return notes
}

// children lists "Kind/name" of what a resource owns, by our own judgement:
// the label, our managedFields entry that owns it, and the owner reference.
func (k *thing) children(t testing.TB, resource *unstructured.Unstructured) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	kinds := childKinds
	if k.more[0] != "" {
		kinds = append(slices.Clone(kinds), k.more)
	}
	for _, kind := range kinds {
		for _, o := range list(t, kind[0], kind[1], k.ns) {
			if o.GetLabels()[api.LabelOwnerUID] != string(resource.GetUID()) {
				continue
			}
			if _, applied, err := ownership.Ours(o.GetManagedFields(), api.FieldManager); err != nil || !applied {
				continue // a copy that merely wears the label
			}
			found[kind[1]+"/"+o.GetName()] = &o
		}
	}
	return found
}

// atRest checks that a resource has exactly these children ("Kind/name"), that
// its status says so for its generation, and that nothing is sent any more.
func (k *thing) atRest(t *testing.T, name string, want ...string) {
	t.Helper()
	slices.Sort(want)
	mark := cluster.Mark(t)
	cluster.AwaitQuiet(t, func() (string, error) {
		state, err := k.state(t, name, want)
		if err != nil {
			return "", fmt.Errorf("%s %s is not at rest with %q: %w", k.group, name, want, err)
		}
		return fmt.Sprintf("%s, with %d requests", state, len(k.requests(t, mark))), nil
	})
}

// state checks one moment and returns all resourceVersions.
func (k *thing) state(t *testing.T, name string, want []string) (string, error) {
	t.Helper()
	resource, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
	if err != nil {
		return "", err
	}
	versions := []string{resource.GetResourceVersion()}
	if f := resource.GetFinalizers(); len(f) > 0 {
		return "", fmt.Errorf("it has finalizers %q", f)
	}
	var have []string
	for id, child := range k.children(t, resource) {
		have = append(have, id)
		versions = append(versions, id+"="+child.GetResourceVersion())
		if owner := child.GetAnnotations()[api.AnnotationOwner]; owner != k.name()+"/"+k.ns+"/"+name {
			return "", fmt.Errorf("%s says that it belongs to %s", id, owner)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		return "", fmt.Errorf("it has %q", have)
	}
	slices.Sort(versions)
	return strings.Join(versions, " "), k.truth(resource, want)
}

// truth checks what a status says of its generation and its children.
func (k *thing) truth(resource *unstructured.Unstructured, want []string) error {
	if k.noStatus {
		return nil
	}
	status, _ := resource.Object["status"].(map[string]any)
	if status["observedGeneration"] != resource.GetGeneration() {
		return fmt.Errorf("the status is of generation %v, not %d", status["observedGeneration"], resource.GetGeneration())
	}
	ready := kit.IsCondition(resource, "Ready", "True", "") == nil
	if err := conforms(resource, ready); err != nil {
		return err
	}
	var listed []string
	children, _, _ := unstructured.NestedSlice(resource.Object, "status", "children")
	for _, c := range children {
		child := c.(map[string]any)
		listed = append(listed, fmt.Sprint(child["kind"], "/", child["name"]))
		if ready && child["ready"] != true {
			return fmt.Errorf("Ready is True and %v is not", child)
		}
	}
	slices.Sort(listed)
	if ready && !slices.Equal(listed, want) {
		return fmt.Errorf("Ready is True and status.children has %q", listed)
	}
	return nil
}

// conforms checks that kstatus, and so every tool that waits by it, reads the
// conditions as they are meant.
func conforms(resource *unstructured.Unstructured, ready bool) error {
	result, err := kstatus.Compute(resource)
	if err != nil {
		return err
	}
	want := kstatus.InProgressStatus
	if ready {
		want = kstatus.CurrentStatus
	} else if kit.IsCondition(resource, "Stalled", "True", "") == nil {
		want = kstatus.FailedStatus
	}
	if result.Status != want {
		return fmt.Errorf("kstatus says %s (%s), not %s", result.Status, result.Message, want)
	}
	return nil
}
