package replicas

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestDivides: three replicas divide the resources of an installation; each resource is
// written by one of them. One that ends hands over at once, one that is killed loses what
// it had, and what nobody changed meanwhile is written by nobody. So it goes on when all
// are replaced.
func TestDivides(t *testing.T) {
	t.Parallel()
	const group, n = "divides.example.com", 36
	child := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n"
	f := newFleet(t, cluster, map[string]string{
		"crds/things." + group + ".yaml":          kit.ThingCRD(group),
		"templates/things." + group + "/one.yaml": child,
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things."+group) })
	cluster.Served(t, group+"/v1", "Thing")
	var spaces []string
	for range 12 {
		spaces = append(spaces, cluster.Namespace(t))
	}
	edit := func(text string) {
		for i := range n {
			cluster.Apply(t, spaces[i%len(spaces)], fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {text: %q}}",
				group, i, text))
		}
	}
	edit("first")
	for range 3 {
		f.start()
	}
	mark := cluster.Mark(t)
	f.awaitDivided(3)
	f.allReady(group+"/v1", "Thing", n)
	writers := map[string]map[string]bool{}
	for _, w := range f.writes(mark, "configmaps") {
		key := w.Namespace + "/" + w.Name
		if writers[key] == nil {
			writers[key] = map[string]bool{}
		}
		writers[key][w.User] = true
	}
	users := map[string]int{}
	for key, by := range writers {
		if len(by) != 1 {
			t.Logf("%s was written by %v", key, by)
		}
		for user := range by {
			users[user]++
		}
	}
	t.Logf("writers: %v", users)

	mark = cluster.Mark(t)
	began := time.Now()
	f.replicas[0].end(syscall.SIGTERM)
	t.Logf("ended after %s", since(began))
	f.awaitDivided(2)
	t.Logf("handed over after %s", since(began))
	edit("second")
	f.allReady(group+"/v1", "Thing", n)
	if writes := f.writes(mark, "configmaps"); len(writes) != n {
		t.Errorf("%d writes of ConfigMaps for %d edits", len(writes), n)
	}

	mark = cluster.Mark(t)
	began = time.Now()
	f.killReplica(f.replicas[1])
	f.awaitDivided(1)
	t.Logf("taken over after %s", since(began))
	edit("third")
	f.allReady(group+"/v1", "Thing", n)
	if writes := f.writes(mark, "configmaps"); len(writes) != n {
		t.Errorf("%d writes of ConfigMaps for %d edits", len(writes), n)
	}

	f.replicas[2].end(syscall.SIGTERM)
	mark = cluster.Mark(t)
	f.start()
	f.start()
	f.awaitDivided(2)
	f.allReady(group+"/v1", "Thing", n)
	edit("fourth")
	f.allReady(group+"/v1", "Thing", n)
	if writes := f.writes(mark, "configmaps"); len(writes) != n {
		t.Errorf("%d writes of ConfigMaps for %d edits, after all replicas were replaced", len(writes), n)
	}
	for _, r := range cluster.AllRequests(t, mark) {
		if r.Verb == "list" && r.Resource == "configmaps" && slices.Contains(spaces, r.Namespace) {
			t.Errorf("children were listed before their resources, and then those of one: %s", r)
		}
	}
}

// TestLaterKind: a kind whose CRD comes while replicas divide is divided too.
func TestLaterKind(t *testing.T) {
	t.Parallel()
	const group, n = "later.example.com", 12
	f := newFleet(t, cluster, map[string]string{
		"crds/things." + group + ".yaml":          kit.ThingCRD(group),
		"templates/things." + group + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	for range 3 {
		f.start()
	}
	f.awaitDivided(3)
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things."+group) })
	cluster.Served(t, group+"/v1", "Thing")
	for i := range n {
		cluster.Apply(t, cluster.Namespace(t), fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {text: first}}", group, i))
	}
	f.allReady(group+"/v1", "Thing", n)
}
