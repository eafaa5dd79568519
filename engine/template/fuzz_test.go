package template

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzTemplate compiles and executes any text: it never panics and always
// ends, and what it renders can be written as JSON.
func FuzzTemplate(f *testing.F) {
	for _, tt := range prints {
		f.Add(tt.text)
	}
	for _, tt := range refusals {
		f.Add(tt.text)
	}
	limits := Limits{Steps: 5000, Output: 1 << 16, Made: 1 << 20}
	limits.Functions.Bytes, limits.Functions.Nodes = 1<<16, 1<<12
	compiled := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: text}, {Name: "_h.tpl", File: "_h.tpl", Text: partials}},
			Limits: limits})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		compiled()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		docs, err := set.Execute(ctx, "x", resource(), still{})
		again, errAgain := set.Execute(ctx, "x", resource(), still{})
		if ctx.Err() != nil {
			t.Error("it took too long")
		}
		if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() || len(docs) != len(again) {
			t.Errorf("twice is not the same: %v, %v", err, errAgain)
		}
		for _, d := range docs {
			if _, err := json.Marshal(d.Object); err != nil {
				t.Error(err)
			}
			d.Place("metadata", "name")
			d.Place("a", 0, "b")
		}
	})
}
