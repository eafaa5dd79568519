package rbac

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	rbacv1 "k8s.io/api/rbac/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

var update = flag.Bool("update", false, "write what came out as what is wanted")

// crd is the kind of all folders in testdata.
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  names: {kind: Web, plural: webs, singular: web}
  scope: SCOPE
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// TestRoles: each file of testdata is a folder and its roles, want.yaml, or what
// is wrong, want-error.txt. Its first line may say: cluster-scoped, installs, has
// an older version, limited to NAMESPACE,…, taken up by: NAME.
func TestRoles(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, files, want := input(t, archive)
			got := "want.yaml"
			var text bytes.Buffer
			roles, err := Of(in)
			if err == nil {
				err = Write(&text, roles, Binding{Operator: rbacv1.Subject{Kind: "ServiceAccount", Namespace: "jacquard", Name: "jacquard"},
					Namespaces: in.Namespaces})
			}
			if err != nil {
				got = "want-error.txt"
				text.WriteString(err.Error() + "\n")
			}
			if *update {
				archive.Files = append(files, txtar.File{Name: got, Data: text.Bytes()})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want[got]), text.String()); diff != "" {
				t.Errorf("%s: %s", got, diff)
			}
			if strings.Contains(text.String(), "*") {
				t.Error("there is a wildcard")
			}
		})
	}
}

// input makes the input that a case says.
func input(t *testing.T, archive *txtar.Archive) (in Input, files []txtar.File, want map[string][]byte) {
	t.Helper()
	scope, older := "Namespaced", ""
	for _, say := range strings.Split(strings.TrimSpace(string(archive.Comment)), "; ") {
		switch name, rest, _ := strings.Cut(say, ": "); name {
		case "cluster-scoped":
			scope = "Cluster"
		case "installs":
			in.Install = true
		case "has an older version":
			older = "  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n"
		case "limited to":
			in.Namespaces = strings.Split(rest, ",")
		case "taken up by":
			in.Into = rest
		}
	}
	var err error
	if in.CRD, err = crdfile.Parse("crds/webs.example.com.yaml", []byte(strings.ReplaceAll(crd, "SCOPE", scope)+older)); err != nil {
		t.Fatal(err)
	}
	want = map[string][]byte{}
	data := map[string][]byte{}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want") {
			want[f.Name] = f.Data
			continue
		}
		files = append(files, f)
		data[f.Name] = f.Data
	}
	in.Plural = func(gvk apischema.GroupVersionKind) string {
		return map[string]string{"Gateway": "gateways"}[gvk.Kind]
	}
	f, err := folder.FromMap("webs.example.com", "templates/webs.example.com", data)
	if err != nil {
		t.Fatal(err)
	}
	if in.Kind, err = kind.Compile(f, in.CRD); err != nil {
		t.Fatal(err)
	}
	return in, files, want
}

// TestBase: what every operator needs, limited or not.
func TestBase(t *testing.T) {
	allows := func(roles []Role, q Request) bool {
		for _, r := range roles {
			if r.Allows(q) {
				return true
			}
		}
		return false
	}
	event := Request{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "elsewhere"}
	lease := Request{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "home", Name: "jacquard.jacquard.dev"}
	named := lease
	named.Name = "team-a.jacquard.dev"
	other := lease
	other.Name = "other"
	review := Request{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}
	token := Request{Verb: "create", Group: "authentication.k8s.io", Resource: "tokenreviews"}
	metrics := Base(Installation{Namespaces: []string{"a"}, SecureMetrics: true})
	all := Base(Installation{Namespace: "home"})
	limited := Base(Installation{Namespace: "home", Namespaces: []string{"a"}})
	for name, c := range map[string]struct{ got, want bool }{
		"events everywhere":       {allows(all, event), true},
		"events where limited":    {allows(limited, event), false},
		"the lease":               {allows(limited, lease), true},
		"another lease":           {allows(all, other), false},
		"the lease by name":       {allows(Base(Installation{Namespace: "home", Identity: "ops/team-a"}), named), true},
		"no reviews":              {allows(all, review) || allows(all, token), false},
		"reviews for metrics":     {allows(metrics, review) && allows(metrics, token), true},
		"no lease without a home": {allows(Base(Installation{}), lease), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

// TestBaseApart: an installation whose ClusterRole takes up others has the same
// rights as another, each in a role that can be bound by itself.
func TestBaseApart(t *testing.T) {
	names := map[string]Role{}
	for _, r := range Base(Installation{Namespace: "home", Into: "release", SecureMetrics: true}) {
		names[r.Namespace+"/"+r.Name] = r
	}
	for name, q := range map[string]Request{
		"/release-base":          {Verb: "watch", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		"/release-metrics":       {Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
		"/release:events":        {Verb: "patch", Group: "events.k8s.io", Resource: "events"},
		"home/release-base":      {Verb: "list", Resource: "configmaps", Namespace: "home"},
		"default/release-events": {Verb: "patch", Group: "events.k8s.io", Resource: "events", Namespace: "default"},
	} {
		if !names[name].Allows(q) {
			t.Errorf("%s does not allow %v", name, q)
		}
		delete(names, name)
	}
	if len(names) > 0 {
		t.Errorf("there are also %v", names)
	}
}

// TestUserRoles: each role holds the one before it; the cluster's roles take
// them up, but for folders by which people reach further than to their own.
func TestUserRoles(t *testing.T) {
	for file, reaches := range map[string]string{
		"once":     "",
		"patch":    "templates/webs.example.com/patch.yaml:1 patches objects of others (Pod)",
		"bindings": "grants rights",
		"taken":    "templates/webs.example.com/namespace.yaml:1 makes objects without a namespace (Namespace)",
		"reads":    "it reads objects of other namespaces (",
	} {
		archive, err := txtar.ParseFile("testdata/" + file + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		in, _, _ := input(t, archive)
		roles := UserRoles(in.CRD, in.Kind)
		if len(roles) != 3 {
			t.Fatalf("there are %d roles", len(roles))
		}
		for i, r := range roles {
			if got := len(r.Labels) > 0; got != (reaches == "") {
				t.Errorf("%s: %s has labels %v", file, r.Name, r.Labels)
			}
			if !strings.Contains(r.About, reaches) {
				t.Errorf("%s: %s", file, r.About)
			}
			if i > 0 {
				for _, rule := range roles[i-1].Rules {
					if len(dropCovered([]Rule{rule}, r.Rules)) > 0 {
						t.Errorf("%s lacks %v", r.Name, rule)
					}
				}
			}
		}
	}
}

// TestMissing: what is not allowed is missing, by name where there are names.
func TestMissing(t *testing.T) {
	roles := []Role{{Name: "r", Namespace: "ns", Rules: []Rule{
		{Resource: "secrets", Names: []string{"a", "b"}, Verbs: []string{"list", "watch"}},
		{Resource: "pods", Verbs: []string{"get"}},
	}}}
	missing, err := Missing(roles, func(q Request) (bool, error) { return q.Name != "b" || q.Verb != "watch", nil })
	if err != nil {
		t.Fatal(err)
	}
	want := []Role{{Name: "r", Namespace: "ns", Rules: []Rule{{Resource: "secrets", Names: []string{"b"}, Verbs: []string{"watch"}}}}}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Error(diff)
	}
}
