package kinds

import (
	"strings"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestTakenAwayAtOnce: a kind is taken away with its resources. Nothing of it
// needs the operator, so nothing hangs.
func TestTakenAwayAtOnce(t *testing.T) {
	t.Parallel()
	in := install(t, newKind(t, "atonce.example.com", map[string]string{"map.yaml": configMap}), "")
	ns := cluster.Namespace(t)
	packed := in.pack(t, in.crd())
	in.kubectl(t, packed, "apply", "-f", "-")
	in.make(t, ns, "one")
	in.ready(t, ns, "one")
	in.kubectl(t, packed, "delete", "-f", "-", "--timeout=3m")
	in.gone(t)
}

// TestTakenAwayInOrder: what is left to do is done while the roles are there.
func TestTakenAwayInOrder(t *testing.T) {
	t.Parallel()
	in := install(t, newKind(t, "inorder.example.com", map[string]string{"class.yaml": elsewhere, "kind.yaml": declared}), "")
	ns := cluster.Namespace(t)
	in.kubectl(t, in.pack(t, in.crd()), "apply", "-f", "-")
	in.make(t, ns, "one")
	in.ready(t, ns, "one")
	in.kubectl(t, in.pack(t, in.crd(), "--include", "crd,folder"), "delete", "-f", "-", "--timeout=3m")
	if err := cluster.Gone("scheduling.k8s.io/v1", "PriorityClass", "", ns+"-one"); err != nil {
		t.Error(err)
	}
	in.kubectl(t, in.pack(t, in.crd(), "--include", "roles,users"), "delete", "-f", "-", "--timeout=3m")
}

// TestTakenAwayTooEarly: without its rights the operator cannot delete what only
// it can; the deletion waits until the roles are there again.
func TestTakenAwayTooEarly(t *testing.T) {
	t.Parallel()
	in := install(t, newKind(t, "tooearly.example.com", map[string]string{"class.yaml": elsewhere, "kind.yaml": declared}), "")
	ns := cluster.Namespace(t)
	packed := in.pack(t, in.crd())
	in.kubectl(t, packed, "apply", "-f", "-")
	in.make(t, ns, "one")
	in.ready(t, ns, "one")
	in.kubectl(t, in.pack(t, in.crd(), "--include", "roles"), "delete", "-f", "-")
	kit.Eventually(t, "the operator has no rights", func() error {
		return in.lacks("list", "webs."+in.group)
	})
	out, err := in.tryKubectl(packed, "delete", "-f", "-", "--ignore-not-found", "--timeout=5s")
	if err == nil || !strings.Contains(out, "timed out") && !strings.Contains(out, "deadline") { // as it waits, or asks
		t.Errorf("got %v, %s", err, out)
	}
	start := time.Now()
	in.kubectl(t, in.pack(t, in.crd(), "--include", "roles"), "apply", "-f", "-")
	in.gone(t)
	t.Logf("gone %s after the roles were there again", time.Since(start))
	if err := cluster.Gone("scheduling.k8s.io/v1", "PriorityClass", "", ns+"-one"); err != nil {
		t.Error(err)
	}
}
