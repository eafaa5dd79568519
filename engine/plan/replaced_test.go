package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// TestReplaced covers ConfigMaps and Secrets that are not rendered any more while their file
// renders another one: they go once the resource is ready with that.
func TestReplaced(t *testing.T) {
	other := func(gvk schema.GroupVersionKind, file string) render.Child {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		o.SetNamespace("ns")
		o.SetName("new")
		return render.Child{File: file, Object: o}
	}
	ready := func(in *Input) { in.ReportedReady = true }
	atRest := func(in *Input) { // what is rendered is there as it should be
		doc, _, err := Document(owner, in.Result.Children[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Live = append(in.Live, object(in.Result.Children[0].Object.GroupVersionKind(), "new", func(o *unstructured.Unstructured) {
			o.SetAnnotations(doc.GetAnnotations())
		}))
		in.Applied = AppliedObjects{"uid-new": {Hash: doc.GetAnnotations()[api.AnnotationDesired], Digest: markOf(t, in.Live[1])}}
	}
	notReady := func(in *Input) { in.IsReady = func(live.Object) bool { return false } }
	for _, tt := range []struct {
		name    string
		old     live.Object
		new     render.Child
		changes []func(*Input)
		want    string
	}{
		{"not applied", object(configMaps, "old", from("f")), other(configMaps, "f"), []func(*Input){ready}, "StillUsed"},
		{"not reported as ready", object(configMaps, "old", from("f")), other(configMaps, "f"), []func(*Input){atRest}, "StillUsed"},
		{"a child is not ready", object(configMaps, "old", from("f")), other(configMaps, "f"), []func(*Input){ready, atRest, notReady}, "StillUsed"},
		{"ready", object(configMaps, "old", from("f")), other(configMaps, "f"), []func(*Input){ready, atRest}, "delete"},
		{"allowed", object(configMaps, "old", from("f")), other(configMaps, "f"),
			[]func(*Input){func(in *Input) { in.AllowPrune = []string{"ConfigMap/ns/old/uid-old"} }}, "delete"},
		{"Secret", object(secrets, "old", from("f")), other(secrets, "f"), nil, "StillUsed"},
		{"Secret with drawn texts", object(secrets, "old", from("f")), other(secrets, "f"),
			[]func(*Input){ready, atRest, func(in *Input) { in.Draws = func(string) bool { return true } }}, "HoldsData"},
		{"another kind", object(pods, "old", from("f")), other(pods, "f"), nil, "delete"},
		{"the file renders another kind", object(configMaps, "old", from("f")), other(secrets, "f"), nil, "delete"},
		{"another file", object(configMaps, "old", from("f")), other(configMaps, "g"), nil, "delete"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Owner: owner, State: synced, Live: []live.Object{tt.old}, Result: &render.Result{Children: []render.Child{tt.new}}}
			for _, change := range tt.changes {
				change(&in)
			}
			p, err := Make(in)
			if err != nil {
				t.Fatal(err)
			}
			got := "delete"
			if len(p.Retained) > 0 {
				got = string(p.Retained[0].Why)
			}
			if got != tt.want || len(p.Prune)+len(p.Retained) != 1 {
				t.Errorf("it is planned as %s, want %s; %d are deleted and %d retained", got, tt.want, len(p.Prune), len(p.Retained))
			}
			if got != "HoldsData" && p.Same() {
				t.Error("the plan counts as one that changes nothing")
			}
		})
	}
}

func markOf(t *testing.T, l live.Object) string {
	t.Helper()
	mark, found := ownership.MarkAt(l.Meta.GetManagedFields(), api.FieldManager, "")
	if !found {
		t.Fatal("there is no entry of ours")
	}
	return mark.Digest
}
