package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// sendTimes reconciles once a second for so long, and returns the seconds at which a
// request was sent. before happens before each look.
func (w *world) sendTimes(request string, during time.Duration, before func()) (at []int) {
	w.Helper()
	for second := range int(during / time.Second) {
		if before != nil {
			before()
		}
		if slices.Contains(w.turn(), request) {
			at = append(at, second)
		}
		w.now = w.now.Add(time.Second)
	}
	return at
}

// areGrowing fails unless there are least to most times, each gap at least as long as the
// one before it.
func areGrowing(t *testing.T, at []int, least, most int) {
	t.Helper()
	for i := 2; i < len(at); i++ {
		if at[i]-at[i-1] < at[i-1]-at[i-2] {
			t.Errorf("the gaps do not grow: %v", at)
		}
	}
	if len(at) < least || len(at) > most {
		t.Errorf("it is sent at %v, want %d to %d times", at, least, most)
	}
}

// TestConflictIsTriedLess: while another manager holds a field that a patch sets, the patch
// is tried less and less often, and never forced.
func TestConflictIsTriedLess(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": strings.Replace(oneMap, "{name: one}", "{name: one, annotations: {"+api.AnnotationOwnership+": patch}}", 1)})
	there := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default"},"data":{"name":"theirs"}}`
	w.server.Apply(memory.Object(there), "gitops")
	areGrowing(t, w.sendTimes(applyOne, time.Minute, nil), 4, 7)
	w.says("while it lasts", "Conflict", "gitops", "data.name")
	if got := w.server.Get(mapKind, "default", "one").Object["data"]; fmt.Sprint(got) != "map[name:theirs]" {
		t.Errorf("the object has %v", got)
	}
}

// TestFailedPodIsRecreatedLess: a Pod that always ends Failed is recreated less and less
// often.
func TestFailedPodIsRecreatedLess(t *testing.T) {
	w := newWorld(t, map[string]string{"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: one\n  annotations: {" + api.AnnotationOnFailed +
		": recreate}\nspec: {containers: [{name: a, image: i}]}\n"})
	w.settle()
	fail := func() {
		if o := w.server.Get(pod.GVK, "default", "one"); o != nil {
			w.server.Change(o, "kubelet", func(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"phase": "Failed"} })
		}
	}
	areGrowing(t, w.sendTimes("delete pods default/one", time.Minute, fail), 3, 5)
}

// TestContended: what another keeps taking is set right at once three times; the fourth
// time that is told, and then it is set right less and less often. Once nobody has taken
// it for long enough, the resource is Ready again.
func TestContended(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	scale := func() {
		w.server.Change(w.server.Get(mapKind, "default", "one"), "autoscaler", func(o *unstructured.Unstructured) {
			o.Object["data"] = map[string]any{"name": "theirs"}
		})
	}
	for n := range 3 {
		scale()
		w.sends(fmt.Sprint("the time ", n), applyOne)
		w.says("until then", "Ready")
	}
	scale()
	w.sends("the fourth time", applyOne, applyStatus)
	w.says("the fourth time", "Contended", "autoscaler", "data.name")
	areGrowing(t, w.sendTimes(applyOne, time.Minute, scale), 2, 4)
	w.turn()
	w.says("right after that", "Contended")
	w.now = w.now.Add(20 * time.Minute)
	w.turn()
	w.says("when nobody has taken it for long", "Ready")
}
