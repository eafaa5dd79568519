package plan

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// TestRecreateImmutable covers a child that the API server refuses to change: it is recreated,
// but a Secret with generated texts only if the resource allows it, and during a rollout
// only if that allows it. Another object, or other content, is tried first.
func TestRecreateImmutable(t *testing.T) {
	for name, c := range map[string]struct {
		kind, file string
		allowed    []string
		// uid and hash are of the recreation, if they are not those of the object.
		uid, hash string
		unseen    bool
		held      error
		want      Action
		why       string
	}{
		"a ConfigMap":                 {kind: "ConfigMap", want: Recreate, why: "the API refuses to change it: no"},
		"an object that was not seen": {kind: "ConfigMap", unseen: true, want: Recreate, why: "the API refuses to change it: no"},
		"another object":              {kind: "ConfigMap", uid: "uid-w", want: Update},
		"other content":               {kind: "ConfigMap", hash: "h", want: Update},
		"waits for approval":          {kind: "ConfigMap", held: errors.New("approve it"), want: Block, why: "approve it"},
		"a Secret":                    {kind: "Secret", file: "plain", want: Recreate, why: "the API refuses"},
		"a generated Secret":          {kind: "Secret", file: "drawn", want: Block, why: "allow-prune=Secret/ns/x/uid-x"},
		"a generated one, allowed":    {kind: "Secret", file: "drawn", allowed: []string{"Secret/ns/x/uid-x"}, want: Recreate, why: "the API refuses"},
		"another is allowed":          {kind: "Secret", file: "drawn", allowed: []string{"Secret/ns/y/uid-y"}, want: Block, why: "allow-prune"},
		"another kind allowed":        {kind: "Secret", file: "drawn", allowed: []string{"ConfigMap/ns/x/uid-x"}, want: Block, why: "allow-prune"},
		"an earlier one allowed":      {kind: "Secret", file: "drawn", allowed: []string{"Secret/ns/x/uid-w"}, want: Block, why: "allow-prune"},
		"the old form":                {kind: "Secret", file: "drawn", allowed: []string{"Secret/x"}, want: Block, why: "allow-prune"},
	} {
		document := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": c.kind,
			"metadata": map[string]any{"name": "x", "namespace": "ns"}}}
		child := render.Child{Object: document, File: c.file}
		existing := object(document.GroupVersionKind(), "x")
		_, hash, err := Document(owner, child, &existing)
		if err != nil {
			t.Fatal(err)
		}
		if c.hash != "" {
			hash = c.hash
		}
		refused := existing.Meta
		if c.uid != "" {
			refused = object(document.GroupVersionKind(), "w").Meta
		}
		in := Input{
			Owner: owner, State: synced, Live: []live.Object{existing}, AllowPrune: c.allowed, Draws: func(file string) bool { return file == "drawn" },
			Result:      &render.Result{Children: []render.Child{child}},
			Recreations: map[Ref]Recreation{RefOfObject(document): {Object: refused, Hash: hash, Why: "no"}},
			MayDelete:   func(schema.GroupKind, metav1.Object) error { return c.held },
		}
		if c.unseen {
			in.Live = nil
		}
		p, err := Make(in)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Steps[0]
		if got.Action != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %s since %s, want %s since …%s", name, got.Action, got.Why, c.want, c.why)
		}
		if got.Action == Block && (got.Problem == nil || !strings.HasPrefix(got.Problem.Message, c.kind+" ns/x: ")) {
			t.Errorf("%s: it reports %v", name, got.Problem)
		}
	}
}
