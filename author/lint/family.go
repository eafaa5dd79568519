package lint

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A family is all children of one resource: what they say of each other must
// be so. Where others may have a say, nothing is.
type family struct {
	children []render.Child
	resource *unstructured.Unstructured
	// whole: no file waits.
	whole bool
}

// A dispute is what is wrong with a child beside the others.
type dispute struct {
	class typecheck.Class
	child render.Child
	wrong
}

// findDisputes returns what is wrong between the children.
func (f *family) findDisputes() []dispute {
	all := f.findContended()
	for _, c := range f.children {
		if c.Policy.Patch {
			continue
		}
		for _, w := range f.checkChild(c) {
			all = append(all, dispute{InvalidChild, c, w})
		}
	}
	return all
}

// checkChild returns what is wrong between a child and the others.
func (f *family) checkChild(c render.Child) []wrong {
	switch kind := c.Object.GetKind(); groupOf(c) + "/" + kind {
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "batch/Job":
		return selectsItself(c)
	case "/Service":
		return f.checkService(c)
	case "networking.k8s.io/Ingress":
		return f.checkIngress(c)
	case "autoscaling/HorizontalPodAutoscaler":
		return append(checkBounds(c), f.checkScaleTarget(c)...)
	}
	return nil
}

// groupOf returns the API group of a child.
func groupOf(c render.Child) string { return c.Object.GroupVersionKind().Group }

// selectsItself finds a selector that does not select the Pods of its own
// template.
func selectsItself(c render.Child) []wrong {
	written, found, _ := unstructured.NestedMap(c.Object.Object, "spec", "selector")
	var selector metav1.LabelSelector
	if !found || runtime.DefaultUnstructuredConverter.FromUnstructured(written, &selector) != nil {
		return nil
	}
	has, _, _ := unstructured.NestedStringMap(c.Object.Object, "spec", "template", "metadata", "labels")
	subject := c.Object.GetKind() + " " + c.Object.GetAPIVersion()
	var all []wrong
	for key, value := range selector.MatchLabels {
		is, there := has[key]
		if there && is == value {
			continue
		}
		what := "has no such label"
		if there {
			what = "has another value of it"
		}
		all = append(all, wrong{path: []any{"spec", "selector", "matchLabels", key}, text: fmt.Sprintf(
			"%s selects Pods by the label %s, and its own template %s: the API server refuses it; give spec.template.metadata.labels the same",
			subject, key, what)})
	}
	selector.MatchLabels = nil
	if matches, err := metav1.LabelSelectorAsSelector(&selector); err == nil && !matches.Matches(labels.Set(has)) &&
		len(selector.MatchExpressions) > 0 {
		all = append(all, wrong{path: []any{"spec", "selector", "matchExpressions"}, text: fmt.Sprintf(
			"%s selects other Pods by matchExpressions than those of its own template: the API server refuses it", subject)})
	}
	return all
}

// checkService finds named target ports that the Pods of this family do not have.
func (f *family) checkService(c render.Child) []wrong {
	selector, _, _ := unstructured.NestedStringMap(c.Object.Object, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	var names []string
	picked := 0
	for _, other := range f.children {
		pod := podOf(other)
		if pod == nil || other.Policy.Patch || other.Object.GetNamespace() != c.Object.GetNamespace() ||
			!labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
			continue
		}
		picked++
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			for _, port := range container.Ports {
				names = append(names, port.Name)
			}
		}
	}
	if picked == 0 {
		return nil
	}
	var all []wrong
	ports, _, _ := unstructured.NestedSlice(c.Object.Object, "spec", "ports")
	for i, port := range ports {
		fields, _ := port.(map[string]any)
		if target, ok := fields["targetPort"].(string); ok && !slices.Contains(names, target) {
			all = append(all, wrong{path: []any{"spec", "ports", i, "targetPort"}, text: fmt.Sprintf(
				"no container of the Pods that this Service selects has a port of the name %s%s", target, suggestName(target, names))})
		}
	}
	return all
}

// podOf is the Pod that a child is, or is the template of; nil if it is none.
func podOf(c render.Child) *corev1.PodTemplateSpec {
	path := []string{"spec", "template"}
	switch groupOf(c) + "/" + c.Object.GetKind() {
	case "/Pod":
		path = nil
	case "batch/CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "batch/Job":
	default:
		return nil
	}
	written := c.Object.Object
	if path != nil {
		written, _, _ = unstructured.NestedMap(written, path...)
	}
	var pod corev1.PodTemplateSpec
	if written == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(written, &pod) != nil {
		return nil
	}
	return &pod
}

// suggestName suggests one of these names, or returns "".
func suggestName(name string, among []string) string {
	if near := schema.Suggest(name, among); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// describeMissing returns a message if no child has a name that only this resource's children can
// have. The name must begin with the resource's own, a child of that kind must exist, and every
// file must be rendered. Otherwise it returns "".
func (f *family) describeMissing(kind, name string) string {
	own := f.resource.GetName()
	if !f.whole || name != own && !strings.HasPrefix(name, own+"-") {
		return ""
	}
	var names []string
	for _, c := range f.children {
		if !schema.BuiltIn(c.Object.GroupVersionKind()) {
			return "" // whose controller may make it
		}
		if c.Object.GetKind() == kind {
			names = append(names, c.Object.GetName())
		}
	}
	if len(names) == 0 || slices.Contains(names, name) || containsText(f.resource.Object["spec"], name) {
		return ""
	}
	return fmt.Sprintf("no %s of the name %s is made%s", kind, name, suggestName(name, names))
}

// containsText reports whether a text occurs anywhere in a value. Whoever wrote it may mean what
// exists already.
func containsText(value any, text string) bool {
	switch value := value.(type) {
	case string:
		return value == text
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return containsText(item, text) })
	case map[string]any:
		for _, field := range value {
			if containsText(field, text) {
				return true
			}
		}
	}
	return false
}
