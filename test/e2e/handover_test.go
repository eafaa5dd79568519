package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// handover: while three replicas divide the resources, and people edit these, the replica
// that leads is killed, and then told to go, and then all are replaced by an upgrade; the
// others go on, and nothing is written twice.
func handover(t *testing.T, n *realNode) {
	n.install(t, "--set", "replicaCount=3")
	n.converge(t)
	before := len(n.childWrites(t))
	for _, way := range []struct {
		name string
		end  func(*testing.T)
	}{
		{"killed", func(t *testing.T) { n.kill(t, n.leader(t)) }},
		{"terminated", func(t *testing.T) {
			n.kubectl(t, "delete", "pod", "-n", namespace, n.leader(t).Metadata.Name, "--wait=false")
		}},
		{"upgraded", func(t *testing.T) { n.install(t, "--set", "replicaCount=3", "--set", "podAnnotations.upgraded=yes") }},
	} {
		eventually(t, "there are three", func() error { return n.run(namespace, "app.kubernetes.io/name=jacquard", 3) })
		longest := n.underEdits(t, func() {
			way.end(t)
			took := n.serves(t, "after-"+way.name)
			t.Logf("%s: a resource made right after had its child %.1f s later", way.name, took.Seconds())
		})
		t.Logf("%s: no resource waited longer than %.1f s", way.name, longest.Seconds())
	}
	n.unwritten(t, before)
}

// serves makes a Foo, waits until it is ready, and sees that its child was
// written once. It returns how long it took until the child was there.
func (n *realNode) serves(t *testing.T, name string) time.Duration {
	t.Helper()
	begin := time.Now()
	n.apply(t, admin, fmt.Sprintf(`
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata: {name: %s, namespace: default}
spec: {deploymentName: %s, replicas: 1}
`, name, name))
	eventually(t, "the Deployment of "+name+" is there", func() error {
		_, err := n.try(admin, "", "kubectl", "get", "deployment", name)
		return err
	})
	took := time.Since(begin)
	n.kubectl(t, "wait", "--for=condition=Ready", "--timeout="+patience.String(), "foos.samplecontroller.k8s.io/"+name)
	writes := 0
	for _, r := range n.childWrites(t) {
		if r.ObjectRef.Name == name {
			writes++
		}
	}
	if writes != 1 {
		t.Errorf("the Deployment of %s was written %d times", name, writes)
	}
	n.kubectl(t, "delete", "foos.samplecontroller.k8s.io", name)
	n.kubectl(t, "wait", "--for=delete", "--timeout="+patience.String(), "deployment/"+name)
	return took
}

// leader is the Pod that leads the division of the installation's resources.
func (n *realNode) leader(t *testing.T) pod {
	t.Helper()
	var found pod
	eventually(t, "one of the operators leads", func() error {
		text := n.kubectl(t, "get", "lease", "-n", namespace, "jacquard.jacquard.dev", "-o", `jsonpath={.metadata.annotations.jacquard\.dev/division}`)
		var division struct{ Leader string }
		if err := json.Unmarshal([]byte(text), &division); err != nil {
			return err
		}
		if division.Leader == "" {
			return errors.New("the division has no leader")
		}
		holder := n.kubectl(t, "get", "lease", "-n", namespace, division.Leader, "-o", "jsonpath={.spec.holderIdentity}")
		for name, p := range n.operators(t) {
			if strings.HasPrefix(holder, name+"_") && p.ready() == nil {
				found = p
				return nil
			}
		}
		return fmt.Errorf("the leader's Lease is held by %q", holder)
	})
	return found
}

// kill ends the process of an operator's Pod at once.
func (n *realNode) kill(t *testing.T, p pod) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range processes {
		groups, _ := os.ReadFile(file)
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if !strings.Contains(string(groups), p.Metadata.UID) || !strings.HasPrefix(string(command), "/jacquard\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("Pod %s has no process /jacquard", p.Metadata.Name)
}
