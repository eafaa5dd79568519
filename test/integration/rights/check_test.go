package rights

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestCheck: `jacquard rbac --check` finds in a cluster exactly what an account
// lacks, of a role that was applied as it was printed.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := lay(t, "Namespaced", map[string]string{"map.yaml": document("v1", "ConfigMap", "", "")})
	run := func(args ...string) (out, trouble string, code int) {
		var stdout, stderr bytes.Buffer
		args = append([]string{"rbac", "--root", s.root, "--service-account", s.namespace + "/loom"}, args...)
		code = cli.Main(args, strings.NewReader(""), &stdout, &stderr)
		return stdout.String(), stderr.String(), code
	}
	roles, trouble, code := run()
	if code != 0 {
		t.Fatal(trouble)
	}
	check := []string{"--check", "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}
	out, _, code := run(check...)
	if want := `system:serviceaccount:` + s.namespace + `:loom lacks, in a ClusterRole: {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, patch, delete]}  # `; code != 1 || !strings.Contains(out, want) {
		t.Errorf("exit %d, before there are roles: %s", code, out)
	}
	cluster.Apply(t, "", roles)
	kit.Eventually(t, "nothing is missing", func() error {
		out, trouble, code = run(check...)
		if code != 0 || !strings.HasPrefix(out, "nothing is missing: ") {
			return fmt.Errorf("exit %d: %s%s", code, out, trouble)
		}
		return nil
	})
	cluster.Apply(t, "", strings.Replace(roles, "watch, create, patch, delete]", "watch, create, patch, deletecollection]", 1))
	want := `system:serviceaccount:` + s.namespace +
		`:loom lacks, in a ClusterRole: {apiGroups: [""], resources: [configmaps], verbs: [delete]}  # `
	kit.Eventually(t, "the verb is missing", func() error {
		out, trouble, code = run(check...)
		if code != 1 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, want) {
			return fmt.Errorf("exit %d: %s%s, want %s", code, out, trouble, want)
		}
		return nil
	})
	out, trouble, code = run(append(check, "-o", "json")...)
	if code != 1 || !strings.Contains(out, `"verbs": [`) || !strings.Contains(out, `"delete"`) {
		t.Errorf("exit %d: %s%s", code, out, trouble)
	}
	// The admin lacks nothing.
	self := []string{"rbac", "--root", s.root}
	var stdout, stderr bytes.Buffer
	if code := cli.Main(append(self, check...), strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Errorf("exit %d: %s%s", code, &stdout, &stderr)
	}
	// What cannot be asked for is told: the accounts of namespaces that nobody named.
	s.write(map[string]string{"kind.yaml": "serviceAccountName: weaver\n"})
	if _, trouble, _ := run(check...); !strings.Contains(trouble,
		"not asked for: what the service account weaver of each namespace with resources needs") {
		t.Errorf("it is not told that weaver was left out: %s", trouble)
	}
	out, trouble, code = run(append(check, "--namespaces", s.namespace)...)
	if code != 1 || trouble != "" || !strings.Contains(out, "system:serviceaccount:"+s.namespace+":weaver lacks, in ") {
		t.Errorf("exit %d: %s%s", code, out, trouble)
	}
}
