package rights

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestPrinted: the rights that tests give their operators are those that
// `jacquard rbac` prints of the folder as it is, nothing beside them and no
// wildcard: before a folder changes, while it is rolled out, and after. Of one that
// does not load nothing can be printed, and the rights stay.
func TestPrinted(t *testing.T) {
	t.Parallel()
	s := lay(t, "Namespaced", map[string]string{
		"map.yaml":     document("v1", "ConfigMap", "", ""),
		"account.yaml": document("v1", "ServiceAccount", "", ""),
	})
	home := cluster.Namespace(t)
	s.operator = cluster.Run(t, func(o *controller.Options) {
		o.InstallCRDs, o.Namespace, o.Identity, o.Buckets = true, home, "printed", replicas.Buckets
	}, s.root)
	cluster.Served(t, s.group+"/v1", "Web")
	s.web("a", "all: true")
	s.has("a", 2)
	first := s.printed(home)
	s.holds(first)

	s.write(map[string]string{
		"kind.yaml":    "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nretired: [{apiVersion: v1, kind: ServiceAccount}]\n",
		"account.yaml": "# none\n",
	})
	second := s.printed(home)
	if slices.Equal(first, second) {
		t.Fatal("the changed folder needs the same rights")
	}
	s.gone("v1", "ServiceAccount", "a")
	s.holds(second)

	s.write(map[string]string{"map.yaml": "{{"})
	s.web("b", "all: true")
	s.has("b", 1)
	s.holds(second)
}

// printed are the rules that `jacquard rbac` prints for the site, sorted.
func (s *site) printed(home string) []string {
	s.Helper()
	var out, trouble bytes.Buffer
	args := []string{"rbac", "--root", s.root, "--service-account", home + "/printed", "--installation", "printed", "--install-crds", "--include",
		"base,kinds"}
	if code := cli.Main(args, strings.NewReader(""), &out, &trouble); code != 0 {
		s.Fatalf("jacquard rbac exits with %d: %s", code, trouble.String())
	}
	return rulesOf(kit.Parse(s, out.String()))
}

// holds waits until the operator's account is bound to just these rules.
func (s *site) holds(want []string) {
	s.Helper()
	kit.Eventually(s, "the operator has the rights that are printed", func() error {
		var roles []*unstructured.Unstructured
		for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
			for _, b := range cluster.List(s, "rbac.authorization.k8s.io/v1", kind) {
				subjects, _, _ := unstructured.NestedSlice(b.Object, "subjects")
				if !strings.Contains(fmt.Sprint(subjects), "name:"+s.operator.Access.Subject.Name+" ") {
					continue
				}
				of, name := field(b, "roleRef", "kind"), field(b, "roleRef", "name")
				role, err := cluster.Get("rbac.authorization.k8s.io/v1", of, map[string]string{"Role": b.GetNamespace()}[of], name)
				if err != nil {
					return err
				}
				roles = append(roles, role)
			}
		}
		got := rulesOf(roles)
		if strings.Contains(strings.Join(got, ""), "*") {
			s.Errorf("there is a wildcard: %s", got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("it has others: %s", diff)
		}
		return nil
	})
}

// rulesOf are the rules of roles, each with its namespace, sorted.
func rulesOf(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, o := range objects {
		rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
		for _, r := range rules {
			all = append(all, fmt.Sprint(o.GetKind(), " ", o.GetNamespace(), " ", r))
		}
	}
	slices.Sort(all)
	return all
}

func field(o unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}
