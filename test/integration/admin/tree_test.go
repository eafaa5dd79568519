package admin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/tree"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestTree: down to Pods, with files and patched objects, and what is not ready
// first.
func TestTree(t *testing.T) {
	s := build(t, everything)
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\n")
	s.apply(s.web(spec + ", balanced: true, patch: theirs"))
	s.start()
	var got tree.Tree
	kit.Eventually(t, "the Pod runs", func() error {
		a := s.as(looker, "tree", "-o", "json", "webs."+s.group+"/a")
		if a.code != 0 {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		got = tree.Tree{}
		if err := json.Unmarshal([]byte(a.stdout), &got); err != nil {
			return err
		}
		for _, path := range []string{"Deployment", "Deployment/ReplicaSet", "Deployment/ReplicaSet/Pod", "ConfigMap", "Secret", "Service"} {
			if n := find(got.Children, strings.Split(path, "/")...); n == nil || !n.Ready && n.Kind != "Service" {
				return fmt.Errorf("no %s in\n%s", path, a.stdout)
			}
		}
		if !slices.ContainsFunc(got.Children, func(n *tree.Node) bool { return n.Patched }) {
			return fmt.Errorf("nothing is patched in\n%s", a.stdout)
		}
		return nil
	})
	if first := got.Children[0]; first.Kind != "Service" || first.Ready || first.Message == "" {
		t.Errorf("the first is %s, want the Service that gets no address", first.Kind)
	}
	if d := find(got.Children, "Deployment"); d.File != "deployment" || find(d.Owns, "ReplicaSet").File != "" {
		t.Errorf("the Deployment is of %q", d.File)
	}
	for user, parts := range map[string][]string{
		looker: {"Ready: False", "├─ ✗ Service a  service.yaml", "ConfigMap theirs  (patched)", "└─ ✓ Pod a-"},
		viewer: {"✓ Deployment a  deployment.yaml", "note: ", `resources: ["secrets"], verbs: ["list"]`},
	} {
		s.bind(viewer, "view")
		a := s.as(user, "tree", "webs."+s.group+"/"+s.namespace+"/a")
		for _, part := range parts {
			if a.code != 0 || !strings.Contains(a.stdout, part) {
				t.Errorf("as %s it does not say %q:\n%s", user, part, a.all())
			}
		}
	}
	if a := s.as(looker, "tree", "webs."+s.group+"/nobody"); a.code != 1 || !strings.Contains(a.stderr, "there is none of that name") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
}

// find follows kinds down.
func find(nodes []*tree.Node, kinds ...string) *tree.Node {
	for _, n := range nodes {
		if n.Kind != kinds[0] {
			continue
		}
		if len(kinds) == 1 {
			return n
		}
		if below := find(n.Owns, kinds[1:]...); below != nil {
			return below
		}
	}
	return nil
}
