package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// memcached is a kind that the installed operator does not know.
const memcached = "memcacheds.cache.example.com"

// packed: a kind is taught to the operator while it runs; a bad change of it
// stops in the first wave; and it is taken away again.
func packed(t *testing.T, n *realNode) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository, "examples", "kinds", "memcached"))); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "templates", memcached)
	write(t, filepath.Join(folder, "kind.yaml"), "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {progressDeadline: 10s}\n")
	operators := n.operators(t)
	n.apply(t, admin, n.pack(t, dir, memcached))
	const size = 5
	for i := range size {
		n.apply(t, admin,
			fmt.Sprintf("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: cache-%d, namespace: default}\nspec: {size: 1, containerPort: 11211}\n", i))
	}
	selector := "app.kubernetes.io/name=memcached"
	eventually(t, "the new kind's resources have their Pods", func() error { return n.run("default", selector, size) })

	text, err := os.ReadFile(filepath.Join(folder, "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "deployment.yaml"), strings.Replace(string(text), "memcached:1.6-alpine", "memcached:no-such-tag", 1))
	n.apply(t, admin, n.pack(t, dir, memcached))
	eventually(t, "the rollout stops", func() error { return n.rollout(t, `"state":"Stopped"`) })
	images := n.kubectl(t, "get", "deployments", "-l", selector, "-o", "jsonpath={.items[*].spec.template.spec.containers[*].image}")
	if bad := strings.Count(images, "no-such-tag"); bad != 1 {
		t.Errorf("the bad image has reached %d of %d resources: %s", bad, size, images)
	}
	available := n.kubectl(t, "get", "deployments", "-l", selector, "-o", "jsonpath={.items[*].status.availableReplicas}")
	if strings.Count(available, "1") != size {
		t.Errorf("with a bad image there are not as many Pods as before: %s", available)
	}

	write(t, filepath.Join(folder, "deployment.yaml"), string(text))
	good := n.pack(t, dir, memcached)
	n.apply(t, admin, good)
	eventually(t, "all have the good image again", func() error { return n.run("default", selector, size) })
	failsLater(t, n, dir, string(text))
	n.apply(t, admin, good)
	eventually(t, "all run the good folder again", func() error { return n.run("default", selector, size) })
	for name, p := range n.operators(t) {
		was, there := operators[name]
		if !there || was.Status.ContainerStatuses[0].RestartCount != p.Status.ContainerStatuses[0].RestartCount {
			t.Errorf("the operator's Pod %s was restarted", name)
		}
	}
	n.kubectl(t, "delete", memcached, "--all")
	eventually(t, "its Pods are gone", func() error { return n.run("default", selector, 0) })
	n.kubectl(t, "annotate", "crd", memcached, "jacquard.dev/allow-delete=true")
	n.unable(func() {
		if _, err := n.try(admin, good, "kubectl", "delete", "-f", "-"); err != nil {
			t.Error(err)
		}
		n.serves(t, "after-packing")
	})
}

// failsLater: a change with which Pods are Ready and fail after 20 s stops in the first
// wave, whose resources must be Ready for 30 s. text is the good template.
func failsLater(t *testing.T, n *realNode, root, text string) {
	t.Helper()
	folder := filepath.Join(root, "templates", memcached)
	write(t, filepath.Join(folder, "kind.yaml"),
		"apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {progressDeadline: 10s, minReadySeconds: 30}\n")
	const command = "        command: [memcached"
	failing := strings.Replace(text, command, "        env: [{name: FAIL_AFTER, value: 20s}]\n"+command, 1)
	if failing == text {
		t.Fatalf("the template has no %q", command)
	}
	write(t, filepath.Join(folder, "deployment.yaml"), failing)
	n.apply(t, admin, n.pack(t, root, memcached))
	eventually(t, "the Pod of the first wave is Ready", func() error {
		all := n.kubectl(t, "get", "deployments", "-l", "app.kubernetes.io/name=memcached", "-o", `jsonpath={range .items[*]}`+
			`{.spec.template.spec.containers[*].env[*].name} {.status.replicas} {.status.updatedReplicas} {.status.availableReplicas}{"\n"}{end}`)
		if !strings.Contains(all, "FAIL_AFTER 1 1 1") {
			return fmt.Errorf("there are\n%s", all)
		}
		return n.rollout(t, `"state":"Running"`)
	})
	eventually(t, "the rollout stops", func() error { return n.rollout(t, `"state":"Stopped"`) })
	if err := n.rollout(t, `"reason":"NotReady"`); err != nil {
		t.Error(err)
	}
	variables := n.kubectl(t, "get", "deployments", "-l", "app.kubernetes.io/name=memcached", "-o",
		"jsonpath={.items[*].spec.template.spec.containers[*].env[*].name}")
	if variables != "FAIL_AFTER" {
		t.Errorf("the change that fails later has reached other resources than one: %s", variables)
	}
}

// pack is what teaches a running operator a kind of a root.
func (n *realNode) pack(t *testing.T, root, kind string, more ...string) string {
	t.Helper()
	out, err := n.try(admin, "", "jacquard", append([]string{"pack", "--root", root, kind}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out + "\n"
}

// rollout says what is wrong if the record of the kind's rollout does not hold a text.
func (n *realNode) rollout(t *testing.T, text string) error {
	t.Helper()
	record := n.kubectl(t, "get", "crd", memcached, "-o", `jsonpath={.metadata.annotations.jacquard\.dev/rollout}`)
	if !strings.Contains(record, text) {
		return fmt.Errorf("the record is %s", record)
	}
	return nil
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
