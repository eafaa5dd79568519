package cluster

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/live"
)

func TestLookFindsWhatReadersMissed(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	leak, through := newValve(admin)
	reads, a := read(t, through)
	in.create(object(here, "look-lost", nil))
	kept := in.create(object(here, "look-kept", nil))
	other := in.create(object(here, "other", nil))
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	known(t, reads, everyConfigMap)
	for _, name := range []string{"look-lost", "look-kept", "look-added", "other"} {
		q := lookup(everyConfigMap, here, name)
		ask(t, reads, q)
		q.Since = reads.Tick()
		reads.Record(reader(name), []Query{q})
	}
	reads.Trim()
	leak.drop("look-")
	in.remove(object(here, "look-lost", nil))
	in.create(object(here, "look-added", nil))
	in.relabel(kept, map[string]string{"more": "yes"})
	in.relabel(other, map[string]string{"more": "yes"})
	eventually(t, "a later event came through", func() bool { return a.told("other") == 1 })
	if diff := cmp.Diff(map[string]int{"other": 1}, a.all()); diff != "" {
		t.Fatal("nothing was swallowed:", diff)
	}

	leak.drop("")
	if err := reads.Resync(t.Context(), everyConfigMap); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all told", func() bool { return len(a.all()) == 4 })
	if diff := cmp.Diff(map[string]int{"look-lost": 1, "look-kept": 1, "look-added": 1, "other": 1}, a.all()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"look-lost": "", "look-kept": "look-kept", "look-added": "look-added"} {
		found, err := reads.answerQuery(lookup(everyConfigMap, here, name))
		if err != nil || called(found) != want {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
	if diff := cmp.Diff("look-added look-kept other", bodies(reads, everyConfigMap, here)); diff != "" {
		t.Error(diff)
	}
}

// TestReadsOfAKindRecreatedWithAnotherScope: the API of what is read comes, goes, and comes with
// another scope.
func TestReadsOfAKindRecreatedWithAnotherScope(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	things := thingsOf("read")
	reads, a := read(t, admin)
	d := discover(t)
	follow(t, d, reads)
	scope := Scope{GroupVersionKind: things}
	for _, kind := range []string{"Namespaced", "Cluster", "Namespaced"} {
		one := child(things, "one", "thing-1")
		if kind == "Cluster" {
			one.SetNamespace("")
		}
		q := lookup(scope, one.GetNamespace(), "one")
		if _, err := reads.Lookup(q); !errors.Is(err, live.ErrNotServed) {
			t.Fatalf("before there is a CRD: %v", err)
		}
		reads.Record(reader("one"), []Query{q})
		told := a.told("one")
		crd := in.create(thing(things, kind))
		d.Trigger()
		known(t, reads, scope)
		eventually(t, "told that it is served", func() bool { return a.told("one") > told })
		if found := ask(t, reads, q); len(found) != 0 {
			t.Errorf("found %v", found)
		}
		told = a.told("one")
		eventually(t, "created", func() bool { _, err := in.of(one).Create(t.Context(), one, metaCreate); return err == nil })
		eventually(t, "told", func() bool { return a.told("one") > told })
		if found := ask(t, reads, q); len(found) != 1 {
			t.Errorf("found %v", found)
		}
		told = a.told("one")
		in.remove(one)
		eventually(t, "told that it went", func() bool { return a.told("one") > told })
		told = a.told("one") // from here on there is nothing to tell but that the kind goes
		in.remove(crd)
		eventually(t, "the API is gone", func() bool { _, err := in.of(one).List(t.Context(), metaList); return err != nil })
		d.Trigger()
		eventually(t, "not served", func() bool { return reads.State(scope).Phase == live.NotServed })
		eventually(t, "told that it is not", func() bool { return a.told("one") > told })
	}
}

// TestReadsLeakNothing: what is not read any more leaves nothing behind. It runs alone,
// since it counts goroutines.
func TestReadsLeakNothing(t *testing.T) {
	in := realCluster(t)
	here := in.place()
	in.create(object(here, "a", nil))
	reads, _ := read(t, admin)
	reads.patience = -time.Hour
	round := func() {
		scope := Scope{GroupVersionKind: configMaps, Namespace: here}
		q := lookup(scope, here, "a")
		ask(t, reads, q)
		reads.Record(reader("one"), []Query{q})
		reads.Trim()
		ask(t, reads, lookup(scope, here, "kube-root-ca.crt"))
		ask(t, reads, selecting(t, scope, here, ""))
		reads.Record(reader("one"), nil)
		reads.Trim()
	}
	before := runtime.NumGoroutine()
	for range 20 {
		round()
	}
	eventually(t, "as few goroutines as before", func() bool { return runtime.NumGoroutine() <= before+10 })
	if n := len(reads.kinds) + len(reads.readers); n != 0 {
		t.Errorf("%d kinds and readers are left", n)
	}
}
