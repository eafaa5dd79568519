package operators

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// jacquard runs a command and expects this exit code and these parts of what it
// says.
func (k *thing) jacquard(t *testing.T, code int, args []string, parts ...string) {
	t.Helper()
	var out bytes.Buffer
	args = append(args, "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"))
	if got := cli.Main(args, strings.NewReader(""), &out, &out); got != code {
		t.Errorf("%v exits %d, not %d:\n%s", args, got, code, out.String())
	}
	for _, part := range parts {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%v does not say %q:\n%s", args, part, out.String())
		}
	}
}

// TestTools: what the commands say of a kind that installations share.
func TestTools(t *testing.T) {
	k := newThing(t, "tools")
	rootA, rootB := k.folder(t, "by a"), k.folder(t, "by b")
	k.run(t, "a", "team=a", rootA)
	k.apply(t, "one", "team: a", "x")
	k.apply(t, "none", "", "x")
	k.ready(t, "one")
	k.says(t, "one", "x by a")
	k.jacquard(t, 0, []string{"diff", "--root", rootA, "--all", k.name()},
		"1 resources are not looked at: "+k.group+"/a serves the resources with team=a only")

	k.run(t, "b", "team=b", rootB)
	k.apply(t, "two", "team: b", "x")
	k.ready(t, "two")
	k.says(t, "two", "x by b")
	k.jacquard(t, 2, []string{"diff", "--root", rootA, "--all", k.name()}, "say --installation "+k.group+"/a or "+k.group+"/b")
	k.jacquard(t, 2, []string{"diff", "--root", rootA, "--all", k.name(), "--installation", "ops/c"}, "ops/c does not serve it")
	k.jacquard(t, 0, []string{"diff", "--root", rootA, "--all", k.name(), "--installation", k.group + "/a"})
	k.jacquard(t, 0, []string{"diff", "--root", rootB, "--all", k.name(), "--installation", k.group + "/b"})
	k.jacquard(t, 1, []string{"diff", "--root", rootA, "--all", k.name(), "--installation", k.group + "/b"}, "two")
	none := k.name() + "/" + k.ns + "/none"
	nobody := "no installation serves this resource: " + k.group + "/a serves the resources with team=a; " + k.group + "/b serves"
	k.jacquard(t, 0, []string{"tree", none}, nobody)
	k.jacquard(t, 0, []string{"explain", "--root", rootA, none}, nobody)
	k.jacquard(t, 1, []string{"diff", "--root", rootA, none}, nobody)

	k.write(t, rootB, "{{ fail \"never\" }}")
	k.rollout(t, "b", rollout.Stopped)
	k.jacquard(t, 1, []string{"approve", k.name(), "--installation", k.group + "/a"}, "no rollout of it by "+k.group+"/a is stopped")
	k.jacquard(t, 1, []string{"approve", k.name()}, "nothing was changed")
	k.jacquard(t, 0, []string{"approve", k.name(), "--yes"}, "approved")
}

// TestFlags: what is no selector or cannot name a Lease is refused.
func TestFlags(t *testing.T) {
	t.Parallel()
	k := &thing{}
	k.jacquard(t, 1, []string{"run", "--selector", "team=a,,"}, "--selector team=a,,")
	k.jacquard(t, 1, []string{"run", "--installation", "ops/Team A", "--root", t.TempDir()}) // the log says why
}
