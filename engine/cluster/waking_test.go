package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/live"
)

func TestReadsWakeJustTheReaders(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here, there := in.place(), in.place()
	reads, a := read(t, admin)
	record := func(name string, queries ...Query) {
		since := reads.Tick()
		for n, q := range queries {
			ask(t, reads, q)
			queries[n].Since = since
		}
		reads.Record(reader(name), queries)
	}
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	eventually(t, "synced", func() bool { return reads.State(everyConfigMap).Phase == live.Synced })
	record("name", lookup(everyConfigMap, here, "m-7"))
	record("label", selecting(t, everyConfigMap, here, "five=yes"))
	record("two", lookup(everyConfigMap, here, "m-7"), selecting(t, everyConfigMap, here, "five=yes"))
	record("elsewhere", lookup(everyConfigMap, there, "m-7"), selecting(t, everyConfigMap, there, "five=yes"))
	record("wide", selecting(t, everyConfigMap, "", "five=yes"))
	record("last", lookup(everyConfigMap, here, "last"))

	before := map[string]int{}
	if diff := cmp.Diff(before, a.all()); diff != "" {
		t.Fatal("told of no change:", diff)
	}
	for n := range 300 {
		labels := map[string]string{"n": fmt.Sprint(n)}
		if n%60 == 1 {
			labels["five"] = "yes"
		}
		in.create(object(here, fmt.Sprintf("m-%d", n), labels))
	}
	last := in.create(object(here, "last", nil))
	eventually(t, "the last event", func() bool { return a.told("last") == 1 })
	want := map[string]int{"name": 1, "label": 5, "two": 6, "wide": 5, "last": 1}
	if diff := cmp.Diff(want, a.all()); diff != "" {
		t.Error(diff)
	}

	// Out of a selector and into it.
	one := ask(t, reads, lookup(everyConfigMap, here, "m-1"))[0]
	moved := object(here, "m-1", map[string]string{"five": "no"})
	moved.SetResourceVersion(one.Meta.GetResourceVersion())
	moved = in.update(moved)
	eventually(t, "out of it", func() bool { return a.told("label") == 6 })
	in.relabel(moved, map[string]string{"five": "yes"})
	eventually(t, "into it", func() bool { return a.told("label") == 7 })
	in.remove(moved)
	eventually(t, "gone", func() bool { return a.told("label") == 8 })

	// Who reads something else now is not woken for what it was.
	record("label", lookup(everyConfigMap, here, "last"))
	in.remove(object(here, "m-61", nil))
	in.remove(last)
	eventually(t, "the last event", func() bool { return a.told("last") == 2 })
	want = map[string]int{"name": 1, "label": 9, "two": 10, "wide": 9, "last": 2}
	if diff := cmp.Diff(want, a.all()); diff != "" {
		t.Error(diff)
	}
}

// TestRecordWakesForWhatChangedSince: an object changes after it was read and before that is
// recorded.
func TestRecordWakesForWhatChangedSince(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	reads, a := read(t, admin)
	made := in.create(object(here, "a", nil))
	in.create(object(here, "b", nil))
	byName, other := lookup(everyConfigMap, here, "a"), lookup(everyConfigMap, here, "b")
	bySelector := selecting(t, everyConfigMap, here, "late")
	ask(t, reads, other) // before it, nothing was listed
	since := reads.Tick()
	for _, q := range []*Query{&byName, &bySelector, &other} {
		ask(t, reads, *q)
		q.Since = since
	}
	in.relabel(made, map[string]string{"late": "yes"})
	eventually(t, "the change is in", func() bool { return len(ask(t, reads, bySelector)) == 1 })
	reads.Record(reader("other"), []Query{other})
	if n := a.told("other"); n != 0 {
		t.Errorf("told %d times of no change", n)
	}
	for _, q := range []Query{byName, bySelector} {
		name := "reader of " + q.Name
		for range 2 {
			reads.Record(reader(name), []Query{q})
			if n := a.told(name); n != 1 {
				t.Errorf("%s was told %d times of one change before it recorded", name, n)
			}
		}
	}
	byName.Since, bySelector.Since = reads.Tick(), 0
	reads.Record(reader("later"), []Query{byName})
	if a.told("later") != 0 {
		t.Error("told of a change that it had seen")
	}
	reads.Record(reader("careless"), []Query{bySelector})
	reads.Record(reader("blind"), []Query{lookup(everyConfigMap, here, "never-asked")})
	if a.told("careless") != 1 || a.told("blind") != 1 {
		t.Error("who does not know when it asked cannot know the answer")
	}
}
