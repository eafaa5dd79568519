package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestComments: what is told in a comment, such as the name of a file, adds
// nothing to a role, whatever lines it has.
func TestComments(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		text := "templates/x/a" + end + "metadata: {name: evil}" + end + "---" + end + "kind: Pod"
		role := Role{Name: "a", About: text, Rules: []Rule{{Resource: "pods", Verbs: []string{"get"}, Why: []string{text}}}}
		var out strings.Builder
		if err := Write(&out, []Role{role}, Binding{}); err != nil {
			t.Fatal(err)
		}
		var got rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(out.String()), &got); err != nil {
			t.Errorf("%q: %v\n%q", end, err, out.String())
		}
		want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
		if diff := cmp.Diff(want, got.Rules); got.Name != "a" || diff != "" {
			t.Errorf("%q: %s %s", end, got.Name, diff)
		}
	}
}
