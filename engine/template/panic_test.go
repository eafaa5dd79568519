package template

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/panics"
)

// TestPanicOfRender: a panic is what is wrong with this file.
func TestPanicOfRender(t *testing.T) {
	set, err := Compile(Input{Sources: []Source{
		{Name: "a", File: "a.yaml", Text: `a: {{ lookup "v1" "Secret" "" "x" }}`}, {Name: "b", File: "b.yaml", Text: "b: 1"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	files := set.For(map[string]any{}, nil) // whoever asks it panics
	if _, err := files.Execute(t.Context(), "a"); panics.In(err) == nil || panics.In(err).Doing != "rendering a.yaml" {
		t.Errorf("got %v", err)
	}
	if docs, err := files.Execute(t.Context(), "b"); err != nil || len(docs) != 1 {
		t.Errorf("the other file: %v, %v", docs, err)
	}
}
