package replicas

import (
	"fmt"
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestForms: replicas that divide the resources wait for one that serves all of them, such
// as one of an older version, and such a one waits for them. In between there are never
// two writers, and nothing is written that nobody changed. Another number of buckets
// counts once nobody has any.
func TestForms(t *testing.T) {
	t.Parallel()
	const group, n = "forms.example.com", 30
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	var spaces []string
	for range 6 {
		spaces = append(spaces, cluster.Namespace(t))
	}
	edit := func(text string) {
		for i := range n {
			cluster.Apply(t, spaces[i%len(spaces)], fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {text: %q}}",
				group, i, text))
		}
	}
	edit("first")
	mark := cluster.Mark(t)
	writes := func(by []*replica, want int) {
		t.Helper()
		all := f.replicas
		f.allReady(group+"/v1", "Thing", n)
		f.replicas = by
		mine := f.writes(mark, "configmaps")
		f.replicas = all
		written := map[string]bool{}
		for _, r := range mine {
			written[r.Namespace+"/"+r.Name] = true
		}
		// Whoever takes over may write again what its own watch does not show yet.
		if total := len(f.writes(mark, "configmaps")); len(written) != want || total != len(mine) || total > want+want/10 {
			t.Errorf("%d writes of ConfigMaps, %d of them by those that serve, of %d ConfigMaps, want %d", total, len(mine), len(written), want)
		}
		mark = cluster.Mark(t)
	}
	f.buckets = 0
	before := []*replica{f.start(), f.start()}
	writes(before, n)
	f.buckets = 16
	after := []*replica{f.start(), f.start()}
	edit("second")
	writes(before, n)
	before[0].end(syscall.SIGTERM)
	before[1].end(syscall.SIGTERM)
	f.awaitDivided(2)
	edit("third")
	writes(after, n)

	f.buckets = 0
	last := []*replica{f.start()}
	edit("fourth")
	writes(after, n)
	after[0].end(syscall.SIGTERM)
	edit("fifth")
	writes(after, n)
	after[1].end(syscall.SIGTERM)
	kit.Eventually(t, "one serves all", func() error {
		var lease coordinationv1.Lease
		err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: f.home, Name: api.Lease(f.identity())}, &lease)
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); err == nil && (holder == "" || holder == "replicas") {
			err = fmt.Errorf("the Lease is held by %q", holder)
		}
		return err
	})
	edit("sixth")
	writes(last, n)
	last[0].end(syscall.SIGTERM)

	f.buckets = 16
	again := []*replica{f.start()}
	f.awaitDivided(1)
	again[0].end(syscall.SIGTERM)
	f.buckets = 5
	again = append(again, f.start())
	if d := f.awaitDivided(1); len(d.Owners) != 5 {
		t.Errorf("there are %d buckets, want as many as the only replica has", len(d.Owners))
	}
	edit("seventh")
	writes(again, n)
}
