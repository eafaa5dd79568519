package golden

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// explainAbsence returns which branch left a wanted object out, or which file waits that could have
// made it. It is "" if no text of the folder could make it.
func explainAbsence(want map[string]any, out *catalog.Outcome) string {
	u := unstructured.Unstructured{Object: want}
	k := out.Resource.Kind
	report := explain.Of(explain.Input{Kind: k, Resource: out.Resource.Object, Traced: out.Traced})
	for _, f := range report.Files {
		for _, l := range f.LeftOut {
			could := slices.ContainsFunc(k.Documents, func(d kind.Document) bool {
				return d.GroupVersionKind == u.GroupVersionKind() && d.Start.File == l.Place.File && d.Start.Line == l.Place.Line
			})
			switch {
			case !could:
			case f.Verdict == explain.Waits:
				return fmt.Sprintf(", since %s waits: %s", f.File, f.Message)
			case l.By != nil && l.By.Came != "":
				return fmt.Sprintf(", since %s is %s (%s): %s", l.By.Text, l.By.Outcome, l.By.Came, l.By.Place)
			case l.By != nil:
				return fmt.Sprintf(", since %s is %s: %s", l.By.Text, l.By.Outcome, l.By.Place)
			}
		}
	}
	return ""
}
