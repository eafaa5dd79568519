package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// TestFallbacks: a child that the API refuses to change is replaced where its file
// says so, but not a Secret whose texts were drawn, unless the resource allows it.
func TestFallbacks(t *testing.T) {
	for name, c := range map[string]struct {
		kind, file string
		recreate   bool
		allowed    []string
		want       Fallback
	}{
		"the file says nothing":  {kind: "ConfigMap"},
		"the file allows it":     {kind: "ConfigMap", recreate: true, want: Replace},
		"a Secret":               {kind: "Secret", file: "plain", recreate: true, want: Replace},
		"a drawn Secret":         {kind: "Secret", file: "drawn", recreate: true, want: Spare},
		"a drawn one, allowed":   {kind: "Secret", file: "drawn", recreate: true, allowed: []string{"Secret/ns/x/uid-x"}, want: Replace},
		"another is allowed":     {kind: "Secret", file: "drawn", recreate: true, allowed: []string{"Secret/ns/y/uid-y"}, want: Spare},
		"another kind allowed":   {kind: "Secret", file: "drawn", recreate: true, allowed: []string{"ConfigMap/ns/x/uid-x"}, want: Spare},
		"an earlier one allowed": {kind: "Secret", file: "drawn", recreate: true, allowed: []string{"Secret/ns/x/uid-w"}, want: Spare},
		"the old form":           {kind: "Secret", file: "drawn", recreate: true, allowed: []string{"Secret/x"}, want: Spare},
		"drawn, and no word":     {kind: "Secret", file: "drawn"},
	} {
		document := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": c.kind,
			"metadata": map[string]any{"name": "x", "namespace": "ns"}}}
		p, err := Make(Input{
			Owner: owner, State: synced, Live: []live.Object{object(document.GroupVersionKind(), "x")}, AllowPrune: c.allowed, Draws: func(file string) bool { return file == "drawn" },
			Result: &render.Result{Children: []render.Child{{Object: document, File: c.file, Policy: render.Policy{RecreateOnImmutable: c.recreate}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Steps[0]; got.IfInvalid != c.want || got.IfExists != Adopt {
			t.Errorf("%s: fallback %d, want %d; where it exists %d", name, got.IfInvalid, c.want, got.IfExists)
		}
	}
}
