package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A document is one of an example file.
type document struct {
	kind string // name of the CRD whose example the file is
	text string
}

var separator = regexp.MustCompile(`(?m)^---\n`)

// exampleFiles reads examples/*.yaml: the custom resources, and the rest.
func exampleFiles(t *testing.T) (resources, rest []document) {
	t.Helper()
	for _, kind := range everyKind {
		text, err := os.ReadFile(filepath.Join(repository, "examples", kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		_, group, _ := strings.Cut(kind, ".")
		for _, part := range separator.Split(string(text), -1) {
			if strings.Contains(part, "apiVersion: "+group+"/") {
				resources = append(resources, document{kind, part})
			} else {
				rest = append(rest, document{kind, part})
			}
		}
	}
	if len(resources) != len(everyKind) {
		t.Fatalf("the examples hold %d custom resources", len(resources))
	}
	return resources, rest
}

// applyExamples applies the examples: custom resources as somebody who has only
// the generated roles.
func (n *realNode) applyExamples(t *testing.T) {
	t.Helper()
	resources, rest := exampleFiles(t)
	var others, mine []string
	for _, d := range rest {
		others = append(others, d.text)
	}
	for _, d := range resources {
		others = append(others, allowed("jacquard:"+d.kind+":edit", namespaceOf(d.text)))
		mine = append(mine, d.text)
	}
	n.apply(t, admin, strings.Join(others, "\n---\n"))
	// The API server may learn of a binding a moment later.
	for _, d := range resources {
		eventually(t, "the editor may write "+d.kind, func() error {
			_, err := n.try(editor, "", "kubectl", "auth", "can-i", "patch", d.kind, "--namespace", namespaceOf(d.text))
			return err
		})
	}
	n.apply(t, editor, strings.Join(mine, "\n---\n"))
}

func namespaceOf(text string) string {
	if m := regexp.MustCompile(`(?m)^  namespace: (\S+)$`).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return "default"
}

// allowed is what gives the editor a role in a namespace.
func allowed(role, in string) string {
	return fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %q, namespace: %s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %q}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: editor}]
`, role, in, role)
}

// examples: the shipped kinds' examples, written by somebody who may do nothing
// else, become Pods that run and Services that answer.
func examples(t *testing.T, n *realNode) {
	n.applyExamples(t)
	if out, err := n.try(admin, "", "kubectl", "auth", "can-i", "create", "deployments.apps", "--as", "editor"); err == nil {
		t.Errorf("the editor may make Deployments: %s", out)
	}
	for _, want := range []struct {
		namespace, selector string
		pods                int
	}{
		{"default", "app.example.com/v1=nginx-app", 2},
		{"default", "app=nginx,controller=example-foo", 1},
		{"default", "app.kubernetes.io/instance=milvus-crd-test", 1},
		{"podroute", "podroute_cr=test-podroute", 3},
	} {
		eventually(t, want.selector+" runs", func() error { return n.run(want.namespace, want.selector, want.pods) })
	}
	resources, _ := exampleFiles(t)
	for _, d := range resources {
		if !strings.HasPrefix(d.kind, "prometheusjmxexporters.") {
			eventually(t, "the example of "+d.kind+" is ready", func() error { return n.resourceReady(d.kind, namespaceOf(d.text)) })
		}
	}
	t.Run("Services", func(t *testing.T) { services(t, n) })
	t.Run("Daemon", func(t *testing.T) { daemon(t, n) })
	t.Run("Killed", func(t *testing.T) { killed(t, n) })
	eventually(t, "everything is healthy, says jacquard status", func() error {
		_, err := n.try(admin, "", "jacquard", "status")
		return err
	})
}

// resourceReady says why the resource of a kind in a namespace is not ready.
func (n *realNode) resourceReady(kind, in string) error {
	var list struct {
		Items []struct {
			Status struct{ Conditions []condition }
		}
	}
	if err := n.get(&list, kind, "--namespace", in); err != nil {
		return err
	}
	if len(list.Items) != 1 {
		return fmt.Errorf("there are %d", len(list.Items))
	}
	conditions := list.Items[0].Status.Conditions
	if !slices.ContainsFunc(conditions, func(c condition) bool { return c.Type == "Ready" && c.Status == "True" }) {
		return fmt.Errorf("its conditions are %+v", conditions)
	}
	return nil
}

// services: what is behind the Services of the App and the Podroute answers.
func services(t *testing.T, n *realNode) {
	for _, s := range []struct{ namespace, name, image string }{
		{"default", "nginx-app", "nginx:1.16.1"},
		{"podroute", "", "quay.io/austincunningham/always200:latest"},
	} {
		address := n.kubectl(t, "get", "services", "--namespace", s.namespace, "--field-selector", "metadata.name!=kubernetes",
			"-o", `jsonpath={range .items[*]}{.metadata.name}{" "}{.spec.clusterIP}{"\n"}{end}`)
		_, ip, _ := strings.Cut(strings.TrimSpace(address), " ")
		if got := fetch(t, "http://"+ip+":8080/"); !strings.HasPrefix(got, "stand-in for "+s.image+" on ") {
			t.Errorf("the Service of %s answers %q", s.namespace, got)
		}
		if s.name != "" && !strings.Contains(fetch(t, "http://"+ip+":8080/environment"), "\nDEMO=app\n") {
			t.Errorf("the environment of the App does not reach its Pods")
		}
	}
}

// daemon: a node gets the label, and the daemon arrives.
func daemon(t *testing.T, n *realNode) {
	const selector = "app=genericdaemon,controller=syslog"
	if found, err := n.pods("default", selector); err != nil || len(found) > 0 {
		t.Fatalf("before a node has the label, the daemon has %d Pods, %v", len(found), err)
	}
	n.kubectl(t, "label", "nodes", "--all", "daemon=logs")
	eventually(t, "the daemon runs", func() error { return n.run("default", selector, 1) })
	eventually(t, "the Genericdaemon says so", func() error {
		if got := n.kubectl(t, "get", "genericdaemons", "syslog", "-o", "jsonpath={.status.installed}"); got != "1" {
			return fmt.Errorf("it is installed on %s nodes", got)
		}
		return nil
	})
}

// killed: a Pod that nobody but the operator would make again comes back.
func killed(t *testing.T, n *realNode) {
	const selector = "app.kubernetes.io/instance=milvus-crd-test"
	before, err := n.pods("default", selector)
	if err != nil || len(before) != 1 {
		t.Fatalf("the Milvus has %d Pods, %v", len(before), err)
	}
	n.kubectl(t, "delete", "pod", before[0].Metadata.Name, "--wait=false")
	eventually(t, "the Milvus's Pod is back", func() error {
		after, err := n.pods("default", selector)
		if err != nil {
			return err
		}
		if len(after) != 1 || after[0].Metadata.UID == before[0].Metadata.UID {
			return fmt.Errorf("its Pods are %+v", after)
		}
		return after[0].ready()
	})
}
