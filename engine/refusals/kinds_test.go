package refusals

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/refusals"
)

// TestKinds: each way in which a real API server refuses a child is of the right kind,
// and no row of the table of kinds that says something special lacks a real answer.
func TestKinds(t *testing.T) {
	rows, err := refusals.Rows()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*refusalKind]bool{}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			recorded, err := row.Recorded()
			if err != nil {
				t.Fatal(err)
			}
			k, _ := kindOf(*recorded.Answer)
			seen[k] = true
			sent := parseYAML(t, row.Sent())
			r := ClassifyWrite(answered(recorded.Answer), sent.Object)
			if recorded.Live != nil {
				r = r.OfChange(Change{Sent: sent, Live: recorded.Live, Fresh: answered(recorded.Fresh)})
			}
			if string(r.Kind) != row.Kind {
				t.Errorf("it is %q, want %q: %v", r.Kind, row.Kind, r)
			}
		})
	}
	for i := range kinds {
		if k := &kinds[i]; !seen[k] && (k.explain != nil || k.remedy != "") {
			t.Errorf("no recorded answer is of row %d, %v", i, k.pattern)
		}
	}
}

// answered is an answer as clients return it.
func answered(status *metav1.Status) error {
	if status == nil {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *status}
}

// parseYAML reads a document as it is sent.
func parseYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	o := &unstructured.Unstructured{}
	if err == nil {
		err = o.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}
