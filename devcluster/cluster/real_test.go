package cluster

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// needMachine skips where there can be no real node. In CI, what could have
// been installed must be.
func needMachine(t *testing.T) {
	t.Helper()
	_, err := machine.Check("")
	if _, ok := errors.AsType[*machine.Missing](err); ok && os.Getenv("CI") == "true" {
		if _, apt := exec.LookPath("apt-get"); apt == nil {
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Skip(err)
	}
	eventually(t, "no other cluster has the machine", func() bool {
		lock, err := machine.Take()
		if err == nil {
			lock.Release()
		}
		return err == nil
	})
}

// TestReal takes a cluster of two real nodes through its life, and looks that
// it leaves the machine as it was. A strict umask keeps no container from its
// files.
func TestReal(t *testing.T) {
	if os.Getenv("NIGHTLY") == "" {
		t.Skip("make nightly-integration runs it, and make e2e starts such a node too")
	}
	needMachine(t)
	defer syscall.Umask(syscall.Umask(0o077))
	image := filepath.Join(t.TempDir(), "web.tar")
	archive := buildWeb(t)
	if err := os.WriteFile(image, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	mirror := serveImage(t, archive)
	dir, err := os.MkdirTemp("", "real-") // short: there are sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	before := lookAround(t)
	t.Cleanup(func() { _, _ = devcluster("down", "--dir", dir) })
	args := []string{"--node", "real", "--nodes", "2", "--dir", dir, "--node-label", "node-1:daemon=logs", "--registry-mirror", mirror.URL}

	r := up(t, args...)
	if out, err := devcluster("load", "--dir", dir, image); err != nil || strings.Count(out, "localhost/web:test") != 2 {
		t.Fatalf("loading an image: %v: %s", err, out)
	}
	r.kubectl(t, "apply", "-f", "testdata/real.yaml")
	t.Run("runs", func(t *testing.T) { testRuns(t, r) })
	t.Run("reaches", func(t *testing.T) { testReaches(t, r) })
	t.Run("pulls", func(t *testing.T) {
		r.kubectl(t, "wait", "--for=condition=Ready", "pod", "-l", "pulled=yes", "--timeout=180s")
	})
	t.Run("debugs", func(t *testing.T) { testDebugs(t, r) })
	t.Run("restarts", func(t *testing.T) { testRestarts(t, r) })
	t.Run("guards", func(t *testing.T) { testGuards(t, r) })
	t.Run("alone", func(t *testing.T) {
		if out, err := devcluster("up", "--node", "real"); err == nil ||
			!strings.Contains(out, "another cluster of real nodes runs on this machine in "+dir) {
			t.Errorf("a second cluster: got %v: %s", err, out)
		}
	})
	t.Run("down", func(t *testing.T) {
		if out, err := devcluster("down"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if code := r.end(t); code != 0 {
			t.Errorf("got exit code %d: %s", code, r.stderr)
		}
		sameMachine(t, before)
	})
	t.Run("killed", func(t *testing.T) { testKilled(t, dir, before, args) })
}

// testRuns: Pods run on both nodes; exec and logs reach them.
func testRuns(t *testing.T, r *running) {
	r.kubectl(t, "rollout", "status", "deployment/web", "--timeout=180s")
	nodes := r.kubectl(t, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}")
	if !strings.Contains(nodes, "node-0") || !strings.Contains(nodes, "node-1") {
		t.Errorf("got Pods on %s, want node-0 and node-1", nodes)
	}
	if got := r.kubectl(t, "logs", "-l", "app=web", "--tail=1"); got != "listening\nlistening\n" {
		t.Errorf("got logs %q", got)
	}
	if got := r.kubectl(t, "exec", "deployment/web", "--", "/web", "first"); !strings.Contains(got, `process 1 is "/web`) {
		t.Errorf("exec: got %q", got)
	}
}

// testReaches: a Service answers the machine and Pods, itself among them.
func testReaches(t *testing.T, r *running) {
	url := "http://" + r.kubectl(t, "get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
	t.Cleanup(func() {
		if t.Failed() {
			tellNetwork(t, r)
		}
	})
	// A packet sent before there are rules is lost; a connection that is kept would stay with
	// the address of an earlier life, which is another Pod's now.
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var failed error
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the Service was asked in vain at the last: ", failed)
		}
	})
	eventually(t, "the Service answers", func() bool {
		response, err := client.Get(url)
		if err != nil {
			failed = err
			return false
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		failed = fmt.Errorf("it answers %q", text)
		return strings.HasPrefix(string(text), "hello from web-")
	})
	for _, pod := range strings.Fields(r.kubectl(t, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}")) {
		eventually(t, pod+" reaches itself through the Service", func() bool {
			got, err := r.tryKubectl("exec", pod, "--", "/web", "get", url)
			return err == nil && strings.Contains(got, pod)
		})
	}
}

// tellNetwork logs what a Service's way to its Pods is made of.
func tellNetwork(t *testing.T, r *running) {
	t.Helper()
	objects, _ := r.tryKubectl("get", "pods,endpointslices,events", "--output=wide")
	t.Log(objects)
	for _, command := range [][]string{
		{"nft", "list", "ruleset"}, {"cat", "/proc/net/route", "/proc/net/arp", "/proc/net/nf_conntrack", "/proc/sys/net/ipv4/ip_forward"},
		{"tail", "-n", "40", filepath.Join(filepath.Dir(r.kubeconfig), "log", "kube-proxy.log")},
	} {
		out, _ := exec.Command(command[0], command[1:]...).CombinedOutput()
		t.Logf("%q:\n%s", command, out)
	}
}

// testDebugs: an ephemeral container sees the processes of its target.
func testDebugs(t *testing.T, r *running) {
	r.kubectl(t, "debug", "short", "--image=localhost/web:test", "--target=web", "--container=look", "--profile=general", "--", "/web",
		"first")
	eventually(t, "the ephemeral container has looked", func() bool {
		got, err := r.tryKubectl("logs", "short", "-c", "look")
		return err == nil && strings.Contains(got, `process 1 is "/web\x00"`)
	})
}

// testRestarts: a container whose process is killed is started again.
func testRestarts(t *testing.T, r *running) {
	uid := r.kubectl(t, "get", "pod", "short", "-o", "jsonpath={.metadata.uid}")
	killed := 0
	groups, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, group := range groups {
		text, _ := os.ReadFile(group)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(group), "cmdline"))
		if strings.Contains(string(text), uid) && string(line) == "/web\x00" {
			killed++
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(group)))
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if killed != 1 {
		t.Fatalf("found %d processes of the Pod, want 1", killed)
	}
	r.kubectl(t, "wait", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "pod/short", "--timeout=180s")
	r.kubectl(t, "wait", "--for=condition=Ready", "pod/short", "--timeout=180s")
}

// testGuards: Pod Security is enforced; a kubelet answers nobody whom it does
// not know, and a node may not label itself as it likes.
func testGuards(t *testing.T, r *running) {
	if _, err := r.tryKubectl("run", "--namespace=strict", "loose", "--image=localhost/web:test"); err == nil ||
		!strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
		t.Errorf("a Pod that is not restricted: got error %v", err)
	}
	if got, err := r.tryKubectl("get", "--raw", "/api/v1/nodes/node-1/proxy/healthz"); err != nil || got != "ok" {
		t.Errorf("the API server asks a kubelet: got %q, %v", got, err)
	}
	node := *r
	node.kubeconfig = filepath.Join(filepath.Dir(r.kubeconfig), "config", "node-1")
	if _, err := node.tryKubectl("label", "node", "node-1", "node-restriction.kubernetes.io/mine=yes"); err == nil ||
		!strings.Contains(err.Error(), "is not allowed to modify labels") {
		t.Errorf("a node labels itself with what admins alone may: got error %v", err)
	}
}

// testKilled: a cluster comes back with its Pods and images, and what it
// leaves when it is killed is put back.
func testKilled(t *testing.T, dir, before string, args []string) {
	r := up(t, args...)
	r.kubectl(t, "delete", "pod", "-l", "app=web")
	testReaches(t, r) // what the API server says of Pods may be of the earlier life
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end(t)
	if lookAround(t) == before {
		t.Error("the killed cluster changed nothing: this test does not look well")
	}
	if len(processesOf(t, dir)) == 0 {
		t.Error("the killed cluster left no process: this test does not look well")
	}
	if out, err := devcluster("down"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sameMachine(t, before)
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("these processes are left: %q", left)
	}
}

// devcluster runs it and returns what it printed.
func devcluster(args ...string) (string, error) {
	command := exec.Command(filepath.Join(bin, "devcluster"), args...)
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}
