package cluster

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUp takes two clusters side by side through their lives.
func TestUp(t *testing.T) {
	one := up(t, "--node-label", "node-0:daemon=logs", "--token", "op=jacquard:devs")
	dir := filepath.Join(t.TempDir(), "two")
	two := up(t, "--dir", dir, "--nodes", "1")

	t.Run("nodes", func(t *testing.T) { testNodes(t, one) })
	t.Run("pods", func(t *testing.T) { testPods(t, one) })
	t.Run("an image that nobody can pull", func(t *testing.T) { testImageMissing(t, one) })
	t.Run("garbage collection", func(t *testing.T) { testGarbage(t, one) })
	t.Run("users", func(t *testing.T) { testUsers(t, one) })
	t.Run("routes", func(t *testing.T) { testRoutes(t, one) })
	t.Run("terminated", func(t *testing.T) { testTerminated(t, one) })
	t.Run("a part ends", func(t *testing.T) { testPartEnds(t, two) })
	t.Run("again, and killed", func(t *testing.T) { testAgain(t, dir) })
}

// TestPrograms: a part is the given folder's program, where it has one.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "etcd"), []byte("#!/bin/sh\necho an etcd from elsewhere\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(bin, "devcluster"), "up", "--programs", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "etcd ended: exit status 3") || !strings.Contains(string(out), "an etcd from elsewhere") {
		t.Errorf("got %v, want the end of the folder's own etcd: %s", err, out)
	}
}

// TestRestart: with --restart parts that were killed come back, and what was
// written is still there.
func TestRestart(t *testing.T) {
	r := up(t, "--restart", "--components", "etcd,apiserver")
	r.kubectl(t, "create", "configmap", "kept")
	for _, part := range []string{"apiserver", "etcd"} {
		if err := syscall.Kill(r.pids[part], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server answers again without its first "+part, func() bool {
			if !gone(r.pids[part]) {
				return false
			}
			_, err := r.tryKubectl("get", "configmap", "kept")
			return err == nil
		})
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.end(t); code != 0 {
		t.Errorf("got exit code %d, want 0: %s", code, r.stderr)
	}
}

func testNodes(t *testing.T, r *running) {
	r.kubectl(t, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=180s")
	if got := strings.Fields(r.kubectl(t, "get", "nodes", "-o", "name")); len(got) != 3 {
		t.Errorf("got nodes %v, want 3", got)
	}
	if got := r.kubectl(t, "get", "nodes", "-l", "daemon=logs", "-o", "name"); got != "node/node-0\n" {
		t.Errorf("got labelled nodes %q, want node-0", got)
	}
}

func testPods(t *testing.T, r *running) {
	r.kubectl(t, "apply", "-f", "testdata/workloads.yaml")
	r.kubectl(t, "rollout", "status", "deployment/web", "--timeout=180s")
	r.kubectl(t, "rollout", "status", "statefulset/db", "--timeout=180s") // has a volume
	r.kubectl(t, "wait", "--for=condition=Complete", "job/once", "--timeout=180s")
	got := r.kubectl(t, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.phase}")
	if got != "Running Running Running" {
		t.Errorf("got phases %q, want three times Running", got)
	}
}

// testImageMissing: a Pod waits for its image, and one with another image does not.
func testImageMissing(t *testing.T, r *running) {
	r.kubectl(t, "run", "missing", "--image=registry.invalid/web:1")
	r.kubectl(t, "run", "there", "--image=registry.example/web:1")
	r.kubectl(t, "wait", "--for=condition=Ready", "pod/there", "--timeout=180s")
	r.kubectl(t, "wait", "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff", "pod/missing",
		"--timeout=180s")
	if got := r.kubectl(t, "get", "pod", "missing", "-o", "jsonpath={.status.phase}"); got != "Pending" {
		t.Errorf("the Pod is %s, want Pending", got)
	}
}

func testGarbage(t *testing.T, r *running) {
	r.kubectl(t, "delete", "deployment", "web", "--cascade=background")
	r.kubectl(t, "wait", "--for=delete", "replicasets,pods", "-l", "app=web", "--timeout=180s")
	r.kubectl(t, "delete", "statefulset/db", "pvc/data-db-0")
	r.kubectl(t, "wait", "--for=delete", "pv", "--all", "--timeout=180s")
}

// testUsers: the token's user is who was said, has no rights, and is in the
// audit log with each request once.
func testUsers(t *testing.T, r *running) {
	other := *r
	other.kubeconfig = filepath.Join(filepath.Dir(r.kubeconfig), "op.kubeconfig")
	const path = "/api/v1/namespaces/default/configmaps/wanted"
	if _, err := other.tryKubectl("get", "--raw", path); err == nil || !strings.Contains(err.Error(), `User "jacquard" cannot get`) {
		t.Errorf("got error %v, want jacquard to be refused", err)
	}
	r.kubectl(t, "create", "role", "reads", "--verb=get", "--resource=configmaps")
	r.kubectl(t, "create", "rolebinding", "reads", "--role=reads", "--group=devs")
	r.kubectl(t, "create", "configmap", "wanted")
	eventually(t, "the group may read", func() bool {
		_, err := other.tryKubectl("auth", "can-i", "get", "configmaps")
		return err == nil
	})
	other.kubectl(t, "get", "--raw", path)
	var allowed, refused int
	eventually(t, "both requests are in the audit log", func() bool {
		allowed, refused = countAudit(t, r, `"code":200`), countAudit(t, r, `"code":403`)
		return allowed >= 1 && refused >= 1
	})
	if allowed != 1 || refused != 1 {
		t.Errorf("got %d allowed and %d refused requests in the audit log, want one each", allowed, refused)
	}
}

// countAudit counts the finished reads of ConfigMaps by jacquard.
func countAudit(t *testing.T, r *running, code string) (n int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(r.kubeconfig), "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, `"username":"jacquard"`) && strings.Contains(line, `"resource":"configmaps"`) &&
			strings.Contains(line, code) && strings.Contains(line, `"stage":"ResponseComplete"`) {
			n++
		}
	}
	return n
}

// testRoutes: Routes are admitted, also after their CRD went and came back.
func testRoutes(t *testing.T, r *running) {
	const crd = "../../schemas/routes.route.openshift.io.yaml"
	for range 2 {
		r.kubectl(t, "apply", "-f", crd)
		r.kubectl(t, "wait", "--for=condition=Established", "-f", crd, "--timeout=180s")
		eventually(t, "Routes can be made", func() bool {
			_, err := r.tryKubectl("apply", "-f", "testdata/routes.yaml")
			return err == nil
		})
		for name, host := range map[string]string{"plain": "plain-default.apps.example.test", "named": "shop.example.test"} {
			r.kubectl(t, "wait", "--for=jsonpath={.status.ingress[0].host}="+host, "route/"+name, "--timeout=180s")
			r.kubectl(t, "wait", `--for=jsonpath={.status.ingress[0].conditions[?(@.type=="Admitted")].status}=True`, "route/"+name,
				"--timeout=180s")
		}
		r.kubectl(t, "delete", "-f", crd, "--timeout=180s")
	}
}

// testTerminated: SIGTERM is a good end, which leaves nothing behind.
func testTerminated(t *testing.T, r *running) {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.end(t); code != 0 {
		t.Errorf("got exit code %d, want 0: %s", code, r.stderr)
	}
	if _, err := os.Stat(filepath.Dir(r.kubeconfig)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
}

// testPartEnds: a part that ends is named and takes the others down.
func testPartEnds(t *testing.T, r *running) {
	r.kubectl(t, "create", "configmap", "kept")
	if err := syscall.Kill(r.pids["scheduler"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := r.end(t); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
	if got := r.stderr.String(); !strings.Contains(got, "scheduler ended: signal: killed; the end of ") {
		t.Errorf("it does not say which part ended: %s", got)
	}
}

// testAgain: a folder's cluster comes back with its data, under the same
// address, and no part outlives its parent, even one that was killed.
func testAgain(t *testing.T, dir string) {
	before, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	r := up(t, "--dir", dir, "--nodes", "2")
	if after, err := os.ReadFile(r.kubeconfig); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the kubeconfig changed (%v):\n%s\n%s", err, before, after)
	}
	r.kubectl(t, "get", "configmap", "kept")
	r.kubectl(t, "get", "node", "node-1")
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("only Linux kills the parts with their parent")
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end(t)
}
