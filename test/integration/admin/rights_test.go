package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// bind gives a user a ClusterRole in the namespace, and the right to see Webs.
func (s *toolSite) bind(user, role string) {
	s.Helper()
	cluster.Apply(s, s.namespace, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[2]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: webs-of-%[1]s}
rules: [{apiGroups: [%[3]s], resources: [webs], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: webs-of-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: webs-of-%[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
`, user, role, s.group))
	kit.Eventually(s, user+" may look", func() error {
		if a := s.as(user, "tree", "webs."+s.group+"/a"); strings.Contains(a.all(), `resources: ["configmaps"]`) || a.code != 0 {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		return nil
	})
}

// TestViewer: who may only look is told, for each child, which rule is missing;
// what may not be read is not taken for absent.
func TestViewer(t *testing.T) {
	s := build(t, everything)
	s.apply(s.web(spec))
	s.run()
	s.bind(viewer, "view")
	a := s.as(viewer, "diff", "--root", s.root, s.file(s.web("text: two, size: 1, replicas: 1, token: tok-secret-one")))
	for _, part := range []string{
		"unknown     Web", // the resource itself may not be tried
		"unknown     ConfigMap " + s.namespace + "/a-settings",
		`in a Role in namespace "` + s.namespace + `": {apiGroups: [""], resources: ["configmaps"], verbs: ["patch"]}`,
		`resources: ["secrets"], verbs: ["list"]`,
	} {
		if !strings.Contains(a.stdout, part) {
			t.Errorf("it does not say %q:\n%s", part, a.all())
		}
	}
	if a.code != 2 || strings.Contains(a.stdout, "created     Secret") {
		t.Errorf("exit %d, want 2; an unknown Secret is not absent:\n%s", a.code, a.all())
	}
}

// TestEditor: one who may change the children in the namespace sees all of them.
func TestEditor(t *testing.T) {
	s := build(t, everything)
	s.apply(s.web(spec))
	s.run()
	s.bind(editor, "edit")
	s.write(s.root, map[string]string{"configmap.yaml": strings.Replace(everything["configmap.yaml"], "always", "seldom", 1)})
	a := s.as(editor, "diff", "--root", s.root, "webs."+s.group+"/a")
	if a.code != 1 || !strings.Contains(a.stdout, "+  fixed: seldom") {
		t.Errorf("exit %d:\n%s", a.code, a.all())
	}
}
