package children

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var storeKinds = []string{"v1 Secret", "v1 PersistentVolumeClaim", "apps/v1 StatefulSet", "batch/v1 Job", "apps/v1 Deployment", "v1 Pod"}

// inStore are the children that stay once the Job is done.
var inStore = []string{"Secret/a-database", "PersistentVolumeClaim/a-database", "StatefulSet/a-database", "Deployment/a"}

func buildStore(t *testing.T, spec string) (*site, *record) {
	s := build(t, "store", "Store", nil)
	r := s.follow(storeKinds...)
	s.apply(spec)
	s.ready()
	return s, r
}

// TestUp: what awaits another file is made after that is ready.
func TestUp(t *testing.T) {
	s, r := buildStore(t, "")
	databaseReady := r.first("StatefulSet", func(m moment) bool { return m.number("status", "readyReplicas") == 1 })
	migrated := r.first("Job", complete)
	if came := r.first("Job", added); came < databaseReady {
		t.Errorf("the Job came at %d, before the database was ready at %d:\n%s", came, databaseReady, r)
	}
	if came := r.first("Deployment", added); came < migrated {
		t.Errorf("the Deployment came at %d, before the Job was complete at %d:\n%s", came, migrated, r)
	}
	s.has(`{secret: a-database, volume: Bound, databases: 1, servers: 1}`)
	s.away("batch/v1", "Job", s.namespace, "a-migrate")
	s.rests("", inStore...)
	s.operator.Stop(t)
	s.again()
	s.rests("", inStore...)
	if r.last("Job", added) != r.first("Job", added) {
		t.Errorf("the Job that had succeeded and was gone came again:\n%s", r)
	}
}

// TestDown: the app and its Pods are gone before the database goes.
func TestDown(t *testing.T) {
	s, r := buildStore(t, "replicas: 2")
	s.goes()
	s.away("apps/v1", "StatefulSet", s.namespace, "a-database")
	appGone := max(r.last("Deployment", deleted),
		r.last("Pod", func(m moment) bool { return deleted(m) && m.object.GetLabels()["app"] == "a" }))
	if goes := r.first("StatefulSet", going); goes < appGone {
		t.Errorf("the database goes at %d, before the app was gone at %d:\n%s", goes, appGone, r)
	}
	s.get("v1", "Secret", "a-database")
	s.get("v1", "PersistentVolumeClaim", "a-database")
}

// TestBackAgain: a resource that is made again finds its kept children, and
// draws no new password.
func TestBackAgain(t *testing.T) {
	s, _ := buildStore(t, "")
	secret, volume := s.get("v1", "Secret", "a-database"), s.get("v1", "PersistentVolumeClaim", "a-database")
	s.goes()
	s.apply("")
	s.ready()
	again := s.get("v1", "Secret", "a-database")
	if again.GetUID() != secret.GetUID() || fmt.Sprint(again.Object["data"]) != fmt.Sprint(secret.Object["data"]) {
		t.Errorf("the Secret is %v, was %v", again, secret)
	}
	if s.get("v1", "PersistentVolumeClaim", "a-database").GetUID() != volume.GetUID() {
		t.Error("the volume claim was recreated")
	}
	s.rests("", inStore...)
}

// TestMigration: a changed Job runs before what awaits it changes.
func TestMigration(t *testing.T) {
	s, r := buildStore(t, "")
	s.away("batch/v1", "Job", s.namespace, "a-migrate")
	deployment := s.get("apps/v1", "Deployment", "a")
	s.apply(`schema: "2"`)
	s.ready()
	again := r.last("Job", added)
	migrated := r.first("Job", func(m moment) bool { return m.revision > again && complete(m) })
	changed := r.first("Deployment", func(m moment) bool { return m.object.GetGeneration() > deployment.GetGeneration() })
	if changed < migrated {
		t.Errorf("the Deployment changed at %d, the Job was complete at %d:\n%s", changed, migrated, r)
	}
	jobs := map[string]bool{}
	for _, m := range r.soFar() {
		if m.object.GetKind() == "Job" {
			jobs[string(m.object.GetUID())] = true
		}
	}
	if len(jobs) != 2 {
		t.Errorf("%d Jobs, want 2", len(jobs))
	}
	s.rests("", inStore...)
}

// TestBlink: while the database is not ready, nothing is deleted or changed.
func TestBlink(t *testing.T) {
	s, r := buildStore(t, "replicas: 2")
	s.away("batch/v1", "Job", s.namespace, "a-migrate")
	deployment := s.get("apps/v1", "Deployment", "a")
	pod := s.get("v1", "Pod", "a-database-0")
	before := r.last("Deployment", func(moment) bool { return true })
	for range 3 {
		s.patch(pod, readyIs("False"), "status")
		s.is("Ready", "False", "StatefulSet")
		s.patch(pod, readyIs("True"), "status")
		s.ready()
	}
	for _, m := range r.soFar() {
		if m.revision > before && !strings.HasPrefix(m.object.GetName(), "a-migrate") && (going(m) || added(m)) {
			t.Errorf("%s %s %s at %d", m.what, m.object.GetKind(), m.object.GetName(), m.revision)
		}
	}
	if now := s.get("apps/v1", "Deployment", "a"); now.GetGeneration() != deployment.GetGeneration() || now.GetUID() != deployment.GetUID() {
		t.Error("the Deployment was changed")
	}
	s.rests("", inStore...)
}

func readyIs(status string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/status/conditions","value":[{"type":"Ready","status":%q},{"type":"ContainersReady","status":%[1]q},{"type":"Initialized","status":"True"},{"type":"PodScheduled","status":"True"}]}]`, status)
}

// TestScalerTakesOver: when the replicas are left to a scaler, they stay as they
// are on the way, and afterwards are what the scaler says.
func TestScalerTakesOver(t *testing.T) {
	s, r := buildStore(t, "replicas: 6")
	begun := r.first("Deployment", func(m moment) bool { return m.number("spec", "replicas") == 6 })
	s.apply("autoscaling: true")
	s.ready()
	s.patch(s.get("apps/v1", "Deployment", "a"), `{"spec":{"replicas":9}}`, "scale")
	s.has("{servers: 9}")
	s.apply("autoscaling: true, image: newer")
	s.ready()
	s.rests("", inStore...)
	for _, m := range r.soFar() {
		if m.object.GetKind() == "Deployment" && m.revision >= begun && m.number("spec", "replicas") < 6 {
			t.Errorf("%d replicas at %d", m.number("spec", "replicas"), m.revision)
		}
	}
	if n, _, _ := unstructured.NestedInt64(s.get("apps/v1", "Deployment", "a").Object, "spec", "replicas"); n != 9 {
		t.Errorf("%d replicas at last, want the scaler's 9", n)
	}
	s.apply("replicas: 2, image: newer")
	s.has("{servers: 2}")
}

// TestScaledAndLeftBehind: a resource that takes over its Deployment again
// leaves the replicas to the scaler.
func TestScaledAndLeftBehind(t *testing.T) {
	s, r := buildStore(t, "replicas: 6")
	begun := r.first("Deployment", func(m moment) bool { return m.number("spec", "replicas") == 6 })
	old := s.get("apps/v1", "Deployment", "a")
	s.orphan()
	s.gone()
	s.apply("autoscaling: true")
	s.rests("", inStore...)
	for _, m := range r.soFar() {
		if m.object.GetKind() == "Deployment" && m.revision >= begun && (m.number("spec", "replicas") != 6 || m.object.GetUID() != old.GetUID()) {
			t.Errorf("%d replicas at %d", m.number("spec", "replicas"), m.revision)
		}
	}
}

// has waits until the resource's status has these fields.
func (s *site) has(status string) {
	s.Helper()
	want := kit.Parse(s, status)[0].Object
	kit.Eventually(s, "the status is "+status, func() error {
		now := s.owner().Object["status"].(map[string]any)
		for key, v := range want {
			if fmt.Sprint(now[key]) != fmt.Sprint(v) {
				return fmt.Errorf("%s is %v, want %v", key, now[key], v)
			}
		}
		return nil
	})
}
