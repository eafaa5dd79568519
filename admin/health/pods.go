package health

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// withPods is of how many resources of a kind the Pods are looked at, and mostChildren
// of how many children of each.
const (
	withPods     = 5
	mostChildren = 3
)

var pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// A child is one that a status tells of.
type child struct {
	gvk             schema.GroupVersionKind
	namespace, name string
}

// notReady are the workloads among the children that the status of a resource says are
// not ready.
func notReady(resource *unstructured.Unstructured) (all []child) {
	items, _, _ := unstructured.NestedSlice(resource.Object, "status", "children")
	for _, item := range items {
		m, _ := item.(map[string]any)
		text := func(field string) string { s, _ := m[field].(string); return s }
		c := child{schema.FromAPIVersionAndKind(text("apiVersion"), text("kind")), text("namespace"), text("name")}
		if m["ready"] == false && readiness.HasPods(c.gvk.GroupKind()) && len(all) < mostChildren {
			all = append(all, c)
		}
	}
	return all
}

// addPodReasons adds what the Pods of a resource's children wait for, as far as the caller may read
// them.
func (l *look) addPodReasons(ctx context.Context, r *Resource) {
	for _, c := range r.children {
		workload, err := l.Object(ctx, c.gvk, c.namespace, c.name)
		if err != nil {
			l.addUnknown(fmt.Sprintf("what %s %s waits for", c.gvk.Kind, c.name), err)
		}
		if workload == nil {
			continue
		}
		selector := readiness.PodSelector(workload.Object)
		if selector == nil {
			continue
		}
		found, err := l.Objects(ctx, pods, liveview.Range{Namespace: c.namespace, Selector: selector.String()})
		if err != nil {
			l.addUnknown(fmt.Sprintf("what the Pods of %s %s wait for", c.gvk.Kind, c.name), err)
		}
		for _, reason := range readiness.PodReasons(workload.Object, found, readiness.ForPerson) {
			r.Pods = append(r.Pods, reason.Message)
		}
	}
}
