package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// bodies returns the names of the objects in a namespace whose bodies are kept.
func bodies(r *Reads, scope Scope, namespace string) string {
	k := r.kindAt(scope)
	k.mu.Lock()
	defer k.mu.Unlock()
	return called(k.findObjects(group{namespace: namespace}, func(l live.Object) bool { return l.Body != nil }))
}

func TestTrimKeepsWhatIsRead(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		in.create(object(here, name, map[string]string{"vowel": map[bool]string{true: "yes", false: "no"}[name == "a" || name == "e"]}))
	}
	count, through := newCounter(admin)
	reads, a := read(t, through)
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	known(t, reads, everyConfigMap)
	byName, bySelector := lookup(everyConfigMap, here, "b"), selecting(t, everyConfigMap, here, "vowel=yes")
	reads.Record(reader("one"), []Query{byName, bySelector})
	ask(t, reads, byName)
	ask(t, reads, bySelector)
	restart := count.Load()
	for range 3 {
		if _, err := reads.Lookup(byName); err != nil {
			t.Error(err)
		}
		if found, err := reads.Select(bySelector); err != nil || called(found) != "a e" {
			t.Errorf("found %v, %v", found, err)
		}
		reads.patience = -time.Hour // nobody waits
		reads.Trim()
	}
	if diff := cmp.Diff("a b e", bodies(reads, everyConfigMap, here)); diff != "" {
		t.Error(diff)
	}
	if n := count.Load() - restart; n != 0 {
		t.Errorf("answers that were given before took %d requests", n)
	}

	// What nobody read so far is fetched once, and the reader is told.
	for _, q := range []Query{lookup(everyConfigMap, here, "c"), selecting(t, everyConfigMap, here, "vowel=no")} {
		before := count.Load()
		since := reads.Tick()
		if _, err := reads.answerQuery(q); err == nil {
			t.Error("answered without a body")
		}
		q.Since = since
		name := "late reader of " + q.Name
		reads.Record(reader(name), []Query{q})
		eventually(t, name+" told", func() bool { return a.told(name) > 0 })
		found, err := reads.answerQuery(q)
		if err != nil || len(found) == 0 || found[0].Body["data"] == nil || found[0].Meta.GetManagedFields() != nil {
			t.Errorf("found %v, %v", found, err)
		}
		if n := count.Load() - before; n != 1 {
			t.Errorf("fetching took %d requests", n)
		}
		reads.Record(reader(name), nil)
		reads.Trim()
	}
	if diff := cmp.Diff("a b e", bodies(reads, everyConfigMap, here)); diff != "" {
		t.Error(diff)
	}
}

// TestFetchOvertakesTheWatch: a body that is fetched while the watch lags is newer than what the
// watch knows; nothing older is served after it.
func TestFetchOvertakesTheWatch(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	made := in.create(object(here, "a", nil))
	lag, through := newValve(admin)
	reads, a := read(t, through)
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	known(t, reads, everyConfigMap)
	reads.Trim()

	lag.hold(true)
	made = in.relabel(made, map[string]string{"second": "yes"})
	q := lookup(everyConfigMap, here, "a")
	q.Since = reads.Tick()
	found := ask(t, reads, q)
	if found[0].Meta.GetLabels()["second"] != "yes" {
		t.Error("a fetch served what was before it")
	}
	reads.Record(reader("one"), []Query{q})
	in.relabel(made, map[string]string{"third": "yes"})
	lag.hold(false)
	eventually(t, "the third", func() bool {
		one := ask(t, reads, q)[0]
		if one.Meta.GetResourceVersion() == made.GetResourceVersion() || one.Meta.GetLabels()["third"] == "yes" {
			return one.Meta.GetLabels()["third"] == "yes"
		}
		t.Fatalf("served version %s after %s", one.Meta.GetResourceVersion(), made.GetResourceVersion())
		return false
	})
	eventually(t, "told", func() bool { return a.told("one") >= 1 })
}

// TestFill: an answer is of use only if it is as new as what the watch knows.
func TestFill(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		body    bool
	}{
		"the same":                       {"100", true},
		"older than the watch":           {"99", false},
		"newer than the object":          {"101", false},
		"newer than the watch":           {"201", true},
		"not a number, and not the same": {"x", false},
	} {
		t.Run(name, func(t *testing.T) {
			k, s, _ := still(t)
			i := k.policy.(*readPolicy)
			q := lookup(k.scope, "n", "a")
			i.questionFor(q)
			old := object("n", "a", nil)
			old.SetResourceVersion("100")
			s.putObject(withoutBody(live.Object{GVK: configMaps, Meta: old, Body: old.Object}))
			s.passed = "200"
			fresh := object("n", "a", nil)
			fresh.SetResourceVersion(c.version)
			k.fillBody(live.Object{GVK: configMaps, Meta: fresh, Body: fresh.Object})
			found := k.answersOf(q)
			if len(found) != 1 || (found[0].Body != nil) != c.body {
				t.Errorf("found %v", found)
			}
		})
	}
}

// TestManyAskAtOnce: after a start all resources ask at once: their bodies come by one list.
func TestManyAskAtOnce(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	const many = 30
	for n := range many {
		in.create(object(here, fmt.Sprint("a", n), nil))
	}
	count, through := newCounter(admin)
	reads, a := read(t, through)
	scope := Scope{GroupVersionKind: configMaps, Namespace: here}
	reads.Want("k", map[Scope]live.Need{scope: live.Body})
	known(t, reads, scope)
	for range mostFetches {
		reads.fetching <- struct{}{}
	}
	before := count.Load()
	for n := range many {
		q := lookup(scope, here, fmt.Sprint("a", n))
		if _, err := reads.Lookup(q); err == nil {
			t.Error("answered without a body")
		}
		q.Since = reads.Tick()
		reads.Record(reader(fmt.Sprint("r", n)), []Query{q})
	}
	for range mostFetches {
		<-reads.fetching
	}
	for n := range many {
		eventually(t, "the reader told", func() bool { return a.told(fmt.Sprint("r", n)) > 0 })
		if found, err := reads.Lookup(lookup(scope, here, fmt.Sprint("a", n))); err != nil || found.Body["data"] == nil {
			t.Errorf("found %v, %v", found, err)
		}
	}
	// The first ones ask each for itself.
	if n := count.Load() - before; n > manyFetches+1 {
		t.Errorf("%d bodies took %d requests", many, n)
	}
	if diff := cmp.Diff(many, len(strings.Fields(bodies(reads, scope, here)))); diff != "" {
		t.Error(diff)
	}
}
