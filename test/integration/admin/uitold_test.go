package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/ui"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/api"
	folders "github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// gets asks the page for something, which is to be 200, and decodes it.
func (b *browser) gets(path string, into any) error {
	b.Helper()
	code, text := b.ask("GET", path, "")
	if code != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, code, text)
	}
	return json.Unmarshal([]byte(text), into)
}

// TestUIRefused: the page tells what the API server refuses, and how what lives differs from
// what is desired then; and why a child stays as it is.
func TestUIRefused(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"service.yaml": `apiVersion: v1
kind: Service
metadata: {name: {{ .metadata.name }}, annotations: {text: "{{ .spec.text }}"}}
spec:
  type: ClusterIP
  selector: {app: {{ .metadata.name }}}
  ports: [{port: 80}]
`})
	b := browse(t)
	s.start(nil)
	s.web("a", "text: one")
	s.is("a", "Ready", "True", "")
	s.says(verdict.Serving)
	path := "/api/resources/" + s.name() + "/" + s.namespace + "/a/object?child=v1/Service/" + s.namespace + "/a"
	var c diff.Child
	kit.Eventually(t, "the page says that nothing differs", func() error { // its revision is kept a little later
		c = diff.Child{}
		if err := b.gets(path, &c); err != nil || c.Verb != diff.Kept || c.Message != "" || c.Diff != "" {
			return fmt.Errorf("%w: %+v", err, c)
		}
		return nil
	})
	s.patch("v1", "Service", "a", `{"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["192.0.2.0/24"]}}`)
	kit.Eventually(t, "the page says that it is refused", func() error {
		c = diff.Child{}
		if err := b.gets(path, &c); err != nil || c.Verb != diff.Refused || !strings.Contains(c.Message, "spec.loadBalancerSourceRanges: may only be used") {
			return fmt.Errorf("%w: %+v", err, c)
		}
		return nil
	})
	for _, part := range []string{"-  type: LoadBalancer\n", "+  type: ClusterIP\n"} {
		if !strings.Contains(c.Diff, part) {
			t.Errorf("its difference has no %q:\n%s", part, c.Diff)
		}
	}
	if strings.Contains(c.Diff, "clusterIP") {
		t.Errorf("what nobody desires is shown as different:\n%s", c.Diff)
	}
	held := func(why string) {
		t.Helper()
		c = diff.Child{}
		if err := b.gets(path, &c); err != nil || c.Verb != diff.Blocked || !strings.Contains(c.Message, why) || c.Live == "" || c.Desired != "" {
			t.Errorf("%v: %+v", err, c)
		}
	}
	s.patch(s.group+"/v1", "Web", "a", `{"spec":{"text":null}}`)
	held("/service.yaml:3:")
	s.patch(s.group+"/v1", "Web", "a", `{"metadata":{"finalizers":["example.com/hold"]}}`) // so that the page is asked while it stays
	t.Cleanup(func() { s.patch(s.group+"/v1", "Web", "a", `{"metadata":{"finalizers":null}}`) })
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "a")
	held("its resource is being deleted")
}

// TestUIFolders: a folder that is written after the page was opened is known.
func TestUIFolders(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	dir := t.TempDir()
	b := browse(t, func(o *ui.Options) {
		o.Folders = func() (map[string]*folders.Folder, error) {
			contents, err := folders.FromDir(dir).Read()
			if err != nil {
				return nil, err
			}
			return contents.Folders, nil
		}
	})
	s.start(nil)
	s.says(verdict.Serving)
	unknown := s.name() + ": its folder is not known"
	told := func(want bool) func() error {
		return func() error {
			var h health.Health
			if err := b.gets("/api/health", &h); err != nil {
				return err
			}
			all := strings.Join(h.Unknown, "\n")
			ours := slices.ContainsFunc(h.Installations, func(i *health.Installation) bool { return i.Identity == s.home+"/jacquard" })
			if !ours || strings.Contains(all, unknown) != want {
				return errors.New(all)
			}
			return nil
		}
	}
	kit.Eventually(t, "the folder is not known", told(true))
	kit.Write(t, dir, map[string]string{"templates/" + s.name() + "/map.yaml": plain["map.yaml"]})
	kit.Eventually(t, "the folder is known", told(false))
}

// TestUIFewRights: a developer with rights in one namespace is told which are missing, and
// never to take off the claim of an operator that cannot be seen; with that to list CRDs
// the resources of the namespace are listed.
func TestUIFewRights(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	local := lay(t, plain)
	local.annotateCRD(api.AnnotationOperator, "somebody") // an operator outside of the cluster, whose Lease may be anywhere
	t.Cleanup(func() { local.annotateCRD(api.AnnotationOperator, nil) })
	user := s.developer("{apiGroups: [GROUP], resources: [webs], verbs: [get, list, watch, patch]}, " +
		"{apiGroups: [''], resources: [configmaps, events], verbs: [get, list, patch]}")
	b := browse(t, func(o *ui.Options) {
		o.Config = rest.CopyConfig(cluster.Config)
		o.Config.Impersonate = rest.ImpersonationConfig{UserName: user}
		o.Namespace = s.namespace
	})
	var about ui.About
	if err := b.gets("/api/about", &about); err != nil || !strings.HasSuffix(about.Unlisted,
		`{apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: [list, watch]}`) {
		t.Errorf("%v: %+v", err, about)
	}
	path := "/api/resources/" + s.name() + "/" + s.namespace + "/a/"
	kit.Eventually(t, "the resource may be read", func() error {
		var text map[string]string
		return b.gets(path+"object", &text)
	})
	if code, text := b.ask("GET", path+"explain", ""); code != http.StatusForbidden ||
		!strings.Contains(text, `resources: ["customresourcedefinitions"], verbs: ["get"]`) || strings.Contains(text, "does not say") {
		t.Errorf("explain: %d %s", code, text)
	}
	var tree struct{ Children []struct{ Name string } }
	if err := b.gets(path+"tree", &tree); err != nil || len(tree.Children) != 1 {
		t.Fatalf("%v: %+v", err, tree)
	}
	var c diff.Child
	if err := b.gets(path+"object?child=v1/ConfigMap/"+s.namespace+"/"+tree.Children[0].Name, &c); err != nil || c.Live == "" ||
		c.Verb != diff.Unknown || !strings.HasPrefix(c.Message, "what is desired is not known: ") {
		t.Errorf("%v: %+v", err, c)
	}

	s.grant(user, "ClusterRole", "{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, watch]}")
	kit.Eventually(t, "CRDs may be listed", func() error {
		about = ui.About{}
		if err := b.gets("/api/about", &about); err != nil || about.Unlisted != "" {
			return fmt.Errorf("%w: %s", err, about.Unlisted)
		}
		return nil
	})
	b.shows(ui.Key{Kind: s.name(), Namespace: s.namespace, Name: "a"}, "the resource", func(_ ui.Row, there bool) bool { return there })
	var h health.Health
	if err := b.gets("/api/health", &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Installations)+len(h.Starting)+len(h.Forsaken) > 0 || !strings.Contains(h.LeasesUnread, `resources: ["leases"]`) ||
		h.State != verdict.Unknown || !strings.HasSuffix(h.Headline, "it is not known whether everything is healthy; the operators could not be read") {
		t.Errorf("it says %+v", h)
	}
}

// TestUIDocumented: with the roles of docs/ui.md, beside those in the namespace, a developer
// is told why an object is there, how it differs, and how the operator is. What may not be
// patched is compared all the same.
func TestUIDocumented(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	user := s.developer("{apiGroups: [GROUP], resources: [webs], verbs: [get, list, watch]}, " +
		"{apiGroups: [''], resources: [configmaps, events], verbs: [get, list]}")
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	_, roles, found := strings.Cut(text(t, filepath.Join(root, "docs", "ui.md")), "```yaml\n")
	roles, _, ends := strings.Cut(roles, "```\n")
	if !found || !ends {
		t.Fatal("docs/ui.md has no roles")
	}
	s.apply(strings.NewReplacer("namespace: jacquard", "namespace: "+s.home, "name: jacquard-ui", "name: ui-of-"+s.namespace,
		"kind: Group, name: developers", "kind: User, name: "+user).Replace(roles))
	b := browse(t, func(o *ui.Options) {
		o.Config = rest.CopyConfig(cluster.Config)
		o.Config.Impersonate = rest.ImpersonationConfig{UserName: user}
		o.Namespace = s.home // the operator is looked for there, since it is not in namespace jacquard
	})
	path := "/api/resources/" + s.name() + "/" + s.namespace + "/a/"
	child := ""
	kit.Eventually(t, "the page tells all", func() error {
		var tree struct{ Children []struct{ Name string } }
		if err := b.gets(path+"tree", &tree); err != nil || len(tree.Children) != 1 {
			return fmt.Errorf("%w: %+v", err, tree)
		}
		child = tree.Children[0].Name
		var c diff.Child
		if err := b.gets(path+"object?child=v1/ConfigMap/"+s.namespace+"/"+child, &c); err != nil || c.Verb != diff.Kept {
			return fmt.Errorf("%w: %+v", err, c)
		}
		var report explain.Report
		if err := b.gets(path+"explain", &report); err != nil {
			return err
		}
		var h health.Health
		if err := b.gets("/api/health", &h); err != nil {
			return err
		}
		if !slices.ContainsFunc(h.Installations, func(i *health.Installation) bool {
			return i.Identity == s.home+"/jacquard" && i.Leader.State == verdict.Leading
		}) {
			return fmt.Errorf("the operator is not told of: %+v", h)
		}
		return nil
	})
	s.patch(s.group+"/v1", "Web", "a", `{"metadata":{"annotations":{"`+api.AnnotationPaused+`":"true"}}}`)
	s.is("a", "Paused", "True", "")
	s.patch("v1", "ConfigMap", child, `{"data":{"text":"two"}}`)
	var c diff.Child
	if err := b.gets(path+"object?child=v1/ConfigMap/"+s.namespace+"/"+child, &c); err != nil || c.Verb != diff.Unknown ||
		!strings.Contains(c.Message, `resources: ["configmaps"], verbs: ["patch"]`) ||
		!strings.Contains(c.Diff, "-  text: two\n") || !strings.Contains(c.Diff, "+  text: one\n") {
		t.Errorf("%v: %+v", err, c)
	}
}

// patch changes an object in the namespace as a person would.
func (s *site) patch(apiVersion, kind, name, patch string) {
	s.Helper()
	o, err := cluster.Get(apiVersion, kind, s.namespace, name)
	if err == nil {
		err = cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	if err != nil {
		s.Fatal(err)
	}
}

// developer starts the operator, which serves a resource, and returns a user with rules in
// the namespace.
func (s *site) developer(rules string) string {
	s.Helper()
	s.start(nil)
	s.web("a", "text: one")
	s.is("a", "Ready", "True", "")
	s.says(verdict.Serving)
	user := "developer-of-" + s.namespace
	s.grant(user, "Role", rules)
	return user
}

// grant gives a user rules in a Role of the namespace, or in a ClusterRole.
func (s *site) grant(user, role, rules string) {
	s.Helper()
	name := user + "-" + strings.ToLower(role)
	s.apply(fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: %[1]s, metadata: {name: %[2]s}, rules: [%[3]s]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: %[1]sBinding, metadata: {name: %[2]s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: %[2]s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[4]s}]}
`, role, name, rules, user))
}
