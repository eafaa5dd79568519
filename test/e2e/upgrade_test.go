package e2e_test

import (
	"slices"
	"strings"
	"testing"
)

// upgrade: from the previous commit's chart and image to this one's and back,
// no child is written.
func upgrade(t *testing.T, n *realNode) {
	chart, more := n.previous(t)
	n.converge(t)
	before := len(n.childWrites(t))
	n.installFrom(t, "helm", chart, more...)
	n.serves(t, "on-the-previous-chart")
	n.install(t)
	n.serves(t, "on-this-chart")
	n.unwritten(t, before)
}

// uninstall: what the operator made stays, and the next one, which Helm 3
// installs, takes it over without writing it.
func uninstall(t *testing.T, n *realNode) {
	n.converge(t)
	before := len(n.childWrites(t))
	was := n.made(t)
	n.unable(func() {
		n.helm(t, "helm", "uninstall", "jacquard", "--namespace", namespace, "--wait")
		eventually(t, "the operator is gone", func() error { return n.run(namespace, "app.kubernetes.io/name=jacquard", 0) })
	})
	if got := n.made(t); got != was {
		t.Errorf("before the operator was uninstalled there were\n%s\nand after it\n%s", was, got)
	}
	n.installFrom(t, "helm3", thisChart)
	n.serves(t, "after-uninstalling")
	n.unwritten(t, before)
	if got := n.made(t); got != was {
		t.Errorf("before the operator was uninstalled there were\n%s\nand after it was back\n%s", was, got)
	}
}

// converge waits until every example is as it should be.
func (n *realNode) converge(t *testing.T) {
	t.Helper()
	n.applyExamples(t)
	resources, _ := exampleFiles(t)
	for _, d := range resources {
		eventually(t, "the example of "+d.kind+" is ready", func() error { return n.resourceReady(d.kind, namespaceOf(d.text)) })
	}
}

// made are the custom resources and what was made of them, by name and uid.
func (n *realNode) made(t *testing.T) string {
	t.Helper()
	kinds := strings.Join(append([]string{"deployments.apps", "daemonsets.apps", "services"}, everyKind...), ",")
	all := n.kubectl(t, "get", kinds, "--all-namespaces", "-o",
		`jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{" "}{.metadata.uid}{"\n"}{end}`)
	var kept []string
	for line := range strings.Lines(all) {
		if !strings.HasPrefix(line, namespace+"/") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// childWrites are the operator's writes of what it makes and patches.
func (n *realNode) childWrites(t *testing.T) []request {
	t.Helper()
	return stored(n.childRequests(t))
}

// stored are those of some writes that were answered with a success.
func stored(all []request) []request {
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.ResponseStatus.Code >= 300 })
}

// childRequests are childWrites, with those that were not answered with a success.
func (n *realNode) childRequests(t *testing.T) []request {
	t.Helper()
	var writes []request
	for _, r := range n.requests(t, account) {
		switch r.Verb {
		case "create", "update", "patch", "delete", "deletecollection":
		default:
			continue
		}
		switch r.ObjectRef.Resource {
		case "leases", "events", "customresourcedefinitions", "tokenreviews", "subjectaccessreviews", "selfsubjectreviews":
			continue
		}
		if r.ObjectRef.Subresource != "status" {
			writes = append(writes, r)
		}
	}
	return writes
}

// unwritten sees that since so many writes no child of an example was written.
func (n *realNode) unwritten(t *testing.T, before int) {
	t.Helper()
	if before == 0 {
		t.Error("no child was ever written: this test looks in the wrong place")
	}
	for _, r := range n.childWrites(t)[before:] {
		if !strings.HasPrefix(r.ObjectRef.Name, "on-") && !strings.HasPrefix(r.ObjectRef.Name, "after-") {
			t.Errorf("a child was written: %s %s", r.Verb, r.RequestURI)
		}
	}
}
