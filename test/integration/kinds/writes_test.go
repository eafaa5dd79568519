package kinds

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// wrote compares what the operator wrote since mark with what became of the
// desired children: one write for each that is new or differs, one deletion
// for each that went. What is recreated takes more.
func (w *walk) wrote(t *testing.T, what string, mark int64, before, after map[string]*unstructured.Unstructured) {
	t.Helper()
	in := takeInventory(t, nil)
	anew := map[string]bool{}
	want := due(in, before, after, anew)
	got := map[string]int{}
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		if !strings.HasSuffix(r.Resource, "/status") {
			got[r.Verb+" "+r.Resource+" "+r.Namespace+"/"+r.Name]++
		}
	}
	ignored := func(key string, _ int) bool {
		_, object, _ := strings.Cut(key, " ")
		// Jobs and Pods are tried under the name of a probe too.
		return anew[object] || strings.HasPrefix(object, "jobs ") || strings.HasPrefix(object, "pods ")
	}
	maps.DeleteFunc(want, ignored)
	maps.DeleteFunc(got, ignored)
	t.Logf("%s: %d children were written or deleted, besides Jobs and Pods", what, len(want))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: writes (- wanted, + sent): %s", what, diff)
	}
}

// due are the writes that lead from before to after, by "verb resource
// namespace/name"; again takes up the objects that may need several.
func due(in *inventory, before, after map[string]*unstructured.Unstructured, anew map[string]bool) map[string]int {
	want := map[string]int{}
	object := func(o *unstructured.Unstructured) string {
		return in.resources[o.GroupVersionKind().GroupKind()] + " " + o.GetNamespace() + "/" + o.GetName()
	}
	for id, o := range after {
		was := before[id]
		if was == nil || !cmp.Equal(was.Object, o.Object) {
			want["patch "+object(o)]++
		}
		if was != nil && was.GetAnnotations()[namesUID] != o.GetAnnotations()[namesUID] {
			anew[object(o)] = true // once for the edit, and once when the other child was recreated
		}
	}
	for id, o := range before {
		if after[id] == nil {
			want["delete "+object(o)]++
		}
	}
	return want
}
