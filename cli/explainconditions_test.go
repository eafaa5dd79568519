//go:build !operator

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestSaysAllProblems: everything that is wrong with a resource has a line, what
// is newest of the worst first, and none twice.
func TestSaysAllProblems(t *testing.T) {
	loaded, err := catalog.Load([]string{".."})
	if err != nil {
		t.Fatal(err)
	}
	var problems []status.Problem
	for i := range 40 {
		problems = append(problems, status.Problem{Reason: "Invalid", Since: int64(i + 1),
			Message: fmt.Sprintf("applying ConfigMap shop-%02d: data: Invalid value: must be another one", i)})
	}
	problems = append(problems, status.Problem{Severity: status.Retry, Reason: "Forbidden", Since: 99,
		Message: "applying Secret shop: forbidden"})
	out, err := status.Make(status.Input{Problems: problems})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range loaded.Kinds {
		resource := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "shop"}, "status": out.Status}}
		var text bytes.Buffer
		if err := explain.Write(&text, explain.Of(explain.Input{Kind: k, Resource: resource, Traced: &explain.Traced{}}), false); err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if n := strings.Count(text.String(), p.Message+"\n"); n != 1 {
				t.Errorf("%q is said %d times", p.Message, n)
			}
		}
		if first := "Ready False: Invalid: " + problems[39].Message + "\n"; !strings.Contains(text.String(), first) {
			t.Errorf("%q is not first:\n%s", first, text.String())
		}
		return
	}
}
