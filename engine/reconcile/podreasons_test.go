package reconcile

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/memory"
)

var deploymentKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

const (
	listPods = "list pods default"
	web      = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: {{ .spec.name }}}]}
`
)

// newWeb has a thing with a Deployment, whose Pod waits for this reason.
func newWeb(t *testing.T, settings, reason, message string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{"kind.yaml": settings, "web.yaml": web})
	w.settle()
	w.deploymentSays(1)
	w.settle()
	w.server.Change(memory.Object(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-7-a","namespace":"default","labels":{"app":"web"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7","uid":"r","controller":true}]}}`), "kubelet", nil)
	w.podWaits(reason, message)
	w.deploymentSays(0)
	return w
}

func (w *world) podWaits(reason, message string) {
	w.server.Change(w.server.Get(pod.GVK, "default", "web-7-a"), "kubelet", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"phase": "Pending", "containerStatuses": []any{
			map[string]any{"name": "web", "state": map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}},
		}}
	})
}

func (w *world) deploymentSays(ready int64) {
	w.server.Change(w.server.Get(deploymentKind, "default", "web"), "deployment-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"observedGeneration": o.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1),
			"readyReplicas": ready, "availableReplicas": ready,
			"conditions": []any{map[string]any{"type": "Available", "status": map[int64]string{0: "False", 1: "True"}[ready]}}}
	})
}

// TestPodReasons: after 30 seconds the status says what the Pods wait for; they are
// listed again after twice the time each, at once when the child came further, and not
// at all once it is ready.
func TestPodReasons(t *testing.T) {
	t.Parallel()
	w := newWeb(t, "reportPodReasons: true", "ImagePullBackOff", `Back-off pulling image "web:1": ErrImagePull: web:1: not found`)
	w.sends("when it is not ready", applyStatus)
	w.says("when it is not ready", "ChildrenNotReady", "0 of 1 replicas are ready")
	w.now = w.now.Add(29 * time.Second)
	w.sends("soon after")
	w.now = w.now.Add(time.Second)
	w.sends("after 30 seconds", listPods, applyStatus)
	w.says("after 30 seconds", "ChildrenNotReady", "0 of 1 replicas are ready: its Pods: container web: ImagePullBackOff: web:1: not found")
	for _, gap := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		w.now = w.now.Add(gap - time.Second)
		w.sends("before its time")
		w.now = w.now.Add(time.Second)
		w.sends("after another "+gap.String(), listPods)
	}
	w.deploymentSays(1)
	w.sends("when it is ready", applyStatus)
	w.now = w.now.Add(time.Hour)
	w.sends("later")
}

// TestPodReasonsStalled: a name of an image that nobody can pull needs a person.
func TestPodReasonsStalled(t *testing.T) {
	t.Parallel()
	w := newWeb(t, "reportPodReasons: true", "InvalidImageName", `couldn't parse image name "Web"`)
	w.turn()
	w.now = w.now.Add(podReasonsAfter)
	w.turn()
	w.says("after 30 seconds", "ChildFailed", `InvalidImageName: couldn't parse image name "Web"`)
	if status.Condition(w.server.Get(thingKind, "default", "a").Object, "Stalled") == nil {
		t.Error("it is not stalled")
	}
}

// TestPodReasonsNotAsked: without reportPodReasons, no Pods are listed.
func TestPodReasonsNotAsked(t *testing.T) {
	t.Parallel()
	w := newWeb(t, "reportPodReasons: false", "InvalidImageName", "")
	w.turn()
	w.now = w.now.Add(time.Hour)
	w.sends("later")
}

// TestPodReasonsForbidden: where Pods may not be listed, the status says so, with the rule.
func TestPodReasonsForbidden(t *testing.T) {
	t.Parallel()
	w := newWeb(t, "reportPodReasons: true", "ImagePullBackOff", "")
	w.server.Refuse = func(r memory.Request) *metav1.Status {
		if r.Resource != "pods" {
			return nil
		}
		return answered(http.StatusForbidden, metav1.StatusReasonForbidden,
			`pods is forbidden: User "jacquard" cannot list resource "pods" in API group "" in the namespace "default"`)
	}
	w.turn()
	w.now = w.now.Add(podReasonsAfter)
	w.turn()
	w.says("after 30 seconds", "ChildrenNotReady", `its Pods: not known`, `resources: ["pods"], verbs: ["list"]`)
}
