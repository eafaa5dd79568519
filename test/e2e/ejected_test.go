package e2e_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// trace matches what the operator leaves on objects.
var trace = regexp.MustCompile(`(?m)^.*(jacquard\.dev/|"manager": "jacquard).*$`)

// ejected: the operator is uninstalled, all of it is taken off everything, and
// all goes on running.
func ejected(t *testing.T, n *realNode) {
	n.unable(func() {
		n.helm(t, "helm", "uninstall", "jacquard", "--namespace", namespace, "--wait")
		eventually(t, "the operator is gone", func() error { return n.run(namespace, "app.kubernetes.io/name=jacquard", 0) })
	})
	made, running := n.made(t), n.running(t)
	before := n.traces(t)
	if len(before) == 0 {
		t.Error("nothing bears a trace of the operator: this test looks in the wrong place")
	}
	if _, err := n.try(admin, "", "jacquard", "eject", "--all", "--yes"); err != nil {
		t.Fatal(err)
	}
	if left := n.traces(t); len(left) > 0 {
		t.Errorf("of %d traces these are left:\n%s", len(before), strings.Join(left, "\n"))
	}
	if got := n.made(t); got != made {
		t.Errorf("before there were\n%s\nand after\n%s", made, got)
	}
	if got := n.running(t); got != running {
		t.Errorf("before these Pods ran\n%s\nand after\n%s", running, got)
	}
}

// traces are lines of objects that tell of the operator: of all but roles,
// events, and what is in its own namespace.
func (n *realNode) traces(t *testing.T) []string {
	t.Helper()
	var kinds []string
	for kind := range strings.Lines(n.kubectl(t, "api-resources", "--verbs=list", "-o", "name")) {
		kind = strings.TrimSpace(kind)
		if !strings.HasSuffix(kind, "rbac.authorization.k8s.io") && !strings.HasPrefix(kind, "events") {
			kinds = append(kinds, kind)
		}
	}
	var list struct{ Items []json.RawMessage }
	if err := n.get(&list, strings.Join(kinds, ","), "--all-namespaces", "--show-managed-fields"); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range list.Items {
		var o struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := json.Unmarshal(item, &o); err != nil {
			t.Fatal(err)
		}
		if o.Metadata.Namespace == namespace {
			continue
		}
		for _, line := range trace.FindAllString(string(item), -1) {
			all = append(all, fmt.Sprintf("%s %s/%s: %s", o.Kind, o.Metadata.Namespace, o.Metadata.Name, strings.TrimSpace(line)))
		}
	}
	return all
}

// running are the Pods by uid, name and restarts, but for those that are on
// their way out.
func (n *realNode) running(t *testing.T) string {
	t.Helper()
	all := n.kubectl(t, "get", "pods", "--all-namespaces", "-o",
		`jsonpath={range .items[*]}{.metadata.deletionTimestamp} {.metadata.uid} {.metadata.name} {.status.containerStatuses[*].restartCount}{"\n"}{end}`)
	var kept []string
	for line := range strings.Lines(all) {
		if strings.HasPrefix(line, " ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
