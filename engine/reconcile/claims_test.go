package reconcile

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/test/memory"
)

var (
	claimKind   = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	cronJobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}
)

const (
	lateClass = `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"late"},"volumeBindingMode":"WaitForFirstConsumer"}`
	oneClaim  = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, annotations: {jacquard.dev/on-delete: keep}}\n" +
		"spec: {storageClassName: late}\n"
	mountsClaim = "spec: {containers: [{name: main}], volumes: [{name: data, persistentVolumeClaim: {claimName: c}}]}"
	oneServer   = "{{- if ne .spec.name \"cron\" }}\n{{- $_ := await \"claim\" }}\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: server}\n" +
		"spec: {replicas: {{ if eq .spec.name \"none\" }}0{{ else }}1{{ end }}, template: {" + mountsClaim + "}}\n{{ end }}\n"
	oneBackup = "{{- if eq .spec.name \"cron\" }}\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: backup}\n" +
		"spec: {jobTemplate: {spec: {template: {" + mountsClaim + "}}}}\n{{ end }}\n"
	waitsForPod = "waits for its first consumer: StorageClass late makes its volume once a Pod mounts it"
)

// newClaims is a world whose things make a claim, and what mounts it: a Deployment that
// awaits the claim, or, with the name cron, a CronJob.
func newClaims(t *testing.T, name string) *world {
	w := newWorld(t, map[string]string{"claim.yaml": oneClaim, "server.yaml": oneServer, "backup.yaml": oneBackup},
		served(claimKind, "persistentvolumeclaims", true), served(cronJobKind, "cronjobs", true), served(observe.StorageClassKind, "storageclasses", false))
	w.server.Change(memory.Object(lateClass), "installer", nil)
	w.named(name)
	return w
}

// named gives the thing a name in its spec.
func (w *world) named(name string) {
	w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, name, "spec", "name") })
}

// claimIs lets the API server or the controller of claims set the phase of the claim.
func (w *world) claimIs(phase string) {
	w.server.Change(w.server.Get(claimKind, "default", "c"), "claim-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"phase": phase}
	})
}

// claim compares what the status says of the claim.
func (w *world) claim(when string, ready bool, message string) {
	w.Helper()
	w.listReported(when, "PersistentVolumeClaim", ready, message)
}

// TestClaimOfCronJob: a claim that waits for its first consumer keeps nothing from being
// ready while no Pod of a child mounts it.
func TestClaimOfCronJob(t *testing.T) {
	w := newClaims(t, "cron")
	w.turn()
	w.claimIs("Pending")
	w.after(statusGap)
	w.claim("before a Pod mounts it", true, waitsForPod)
	w.says("before a Pod mounts it", "Ready", "2 children are ready; of 1 the volume waits for a first consumer")
	w.sends("at rest")
	w.claimIs("Bound")
	w.after(statusGap)
	w.claim("once a Pod mounted it", true, "")
}

// TestAwaitOfClaim: a file that awaits a claim which waits for its first consumer makes the
// consumer. From then on the claim is waited for.
func TestAwaitOfClaim(t *testing.T) {
	w := newClaims(t, "none")
	w.turn()
	w.claimIs("Pending")
	w.after(statusGap)
	if w.server.Get(deploymentKind, "default", "server") == nil {
		t.Fatal("the consumer of the claim is not made")
	}
	w.claim("while the consumer is scaled to 0", true, waitsForPod)
	w.named("one")
	w.after(statusGap)
	w.says("when the consumer is scaled up", "ChildrenNotReady", "and 1 more")
	w.claim("when the consumer is scaled up", false,
		"waits for its first consumer: Deployment server mounts it, and its volume is made once a Pod is scheduled")
	w.claimIs("Bound")
	w.available("server")
	w.after(statusGap)
	w.says("when the claim is bound", "Ready", "2 children are ready")
}

// TestClaimOfUnknownClass: where the class of a pending claim cannot be read, or does not
// exist, the claim is waited for, and the message says why.
func TestClaimOfUnknownClass(t *testing.T) {
	w := newClaims(t, "cron")
	w.unread = map[schema.GroupVersionKind]error{observe.StorageClassKind: live.ErrNotYet}
	w.turn()
	w.claimIs("Pending")
	if sent := w.turn(); len(sent) > 0 {
		t.Errorf("before the class is known it sends %s", strings.Join(sent, ", "))
	}
	resource := schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}
	w.unread[observe.StorageClassKind] = &live.RuleError{Resource: resource, Verbs: []string{"list", "watch"},
		Err: apierrors.NewForbidden(resource, "", nil)}
	w.after(statusGap)
	w.claim("when the class may not be read", false, "phase Pending: its StorageClass cannot be read, so whether it waits for its first "+
		`consumer is not known: the missing rule, in a ClusterRole: {apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["list", "watch"]}`)
	w.says("when the class may not be read", "ChildrenNotReady", `verbs: ["list", "watch"]`)
	w.unread = nil
	w.server.Delete(w.server.Get(observe.StorageClassKind, "", "late"))
	w.after(statusGap)
	w.claim("when there is no such class", false, "phase Pending: there is no StorageClass late")
}
