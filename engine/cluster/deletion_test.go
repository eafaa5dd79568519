package cluster

import (
	"errors"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A pair watches ConfigMaps as children of the resource "a", and since its template
// reads them, as the test drives both.
type pair struct {
	*testing.T
	children         *Children
	reads            *Reads
	asChild, asRead  *store
	byName, selected Query
	woken            map[string]int
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{T: t, woken: map[string]int{}, byName: lookup(everyConfigMap, "default", "m"), selected: selecting(t, everyConfigMap, "default", "")}
	var mu sync.Mutex
	wakes := func(by string) { mu.Lock(); defer mu.Unlock(); p.woken[by]++ }
	var err error
	p.children, err = NewChildren(&rest.Config{}, ChildrenOptions{Changed: func(api.Owner, types.UID) { wakes("children") },
		Deleted: func(l live.Object, version string) { p.reads.RecordDeletion(l, version) }})
	if err != nil {
		t.Fatal(err)
	}
	p.reads, err = NewReads(&rest.Config{}, ReadsOptions{Changed: func(api.Owner) { wakes("reads") }, PatchChanged: func(types.UID) {},
		Deleted: func(l live.Object, version string) { p.children.RecordDeletion(l, version) }})
	if err != nil {
		t.Fatal(err)
	}
	_, p.asChild = drive(&p.children.watches, live.Body)
	_, p.asRead = drive(&p.reads.watches, live.Body)
	p.reads.Record(reader("a"), []Query{p.byName, p.selected})
	return p
}

// object is the child m as it was at a version.
func (p *pair) object(version string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o := child(configMaps, "m", "a")
	o.SetUID("first")
	o.SetResourceVersion(version)
	o.Object["data"] = map[string]any{}
	for _, c := range change {
		c(o)
	}
	return o
}

func (p *pair) list(s *store, version string, list ...any) {
	p.Helper()
	if err := s.Replace(list, version); err != nil {
		p.Fatal(err)
	}
}

// known says what each answers about m: the version, "gone", or "wait".
func (p *pair) known() string {
	p.Helper()
	answer := func(found []live.Object, err error) string {
		switch {
		case errors.Is(err, live.ErrNotYet):
			return "wait"
		case err != nil:
			p.Fatal(err)
		case len(found) == 0:
			return "gone"
		}
		return found[0].Meta.GetResourceVersion()
	}
	return strings.Join([]string{answer(p.children.Of(configMaps, "a")), answer(p.reads.answerQuery(p.byName)), answer(p.reads.answerQuery(p.selected))}, " ")
}

// TestDeletionIsKnownToBothWatches: once one watch has delivered the deletion of a
// child, the other one does not answer that the child exists, in whichever order they
// deliver; and it wakes whoever waits for its answer.
func TestDeletionIsKnownToBothWatches(t *testing.T) {
	unlabelled := func(o *unstructured.Unstructured) { o.SetLabels(nil) }
	second := func(o *unstructured.Unstructured) { o.SetUID("second") }
	terminating := func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(&metav1.Time{}) }
	type step struct {
		do   func(*pair) error
		want string
	}
	deleted := func(as func(*pair) *store, version, want string) step {
		return step{func(p *pair) error { return as(p).Delete(p.object(version)) }, want}
	}
	updated := func(as func(*pair) *store, version, want string, change ...func(*unstructured.Unstructured)) step {
		return step{func(p *pair) error { return as(p).Update(p.object(version, change...)) }, want}
	}
	listed := func(as func(*pair) *store, version, want string) step {
		return step{func(p *pair) error { return as(p).Replace(nil, version) }, want}
	}
	passed := func(as func(*pair) *store, version, want string) step {
		return step{func(p *pair) error { return as(p).Bookmark(version) }, want}
	}
	children, reads := func(p *pair) *store { return p.asChild }, func(p *pair) *store { return p.asRead }
	for name, c := range map[string]struct {
		steps []step
		woken string
	}{
		"children first":                  {[]step{deleted(children, "10", "gone wait wait"), deleted(reads, "10", "gone gone gone")}, "reads"},
		"reads first":                     {[]step{deleted(reads, "10", "wait gone gone"), deleted(children, "10", "gone gone gone")}, "children"},
		"a list of children first":        {[]step{listed(children, "12", "gone wait wait"), deleted(reads, "10", "gone gone gone")}, "reads"},
		"a list of reads first":           {[]step{listed(reads, "12", "wait gone gone"), listed(children, "12", "gone gone gone")}, "children"},
		"the label is taken off":          {[]step{deleted(children, "10", "gone wait wait"), updated(reads, "10", "gone 10 10", unlabelled)}, "reads"},
		"the label was taken off":         {[]step{updated(reads, "9", "5 9 9", unlabelled), listed(children, "10", "gone wait wait"), passed(reads, "10", "gone 9 9")}, "reads"},
		"made anew":                       {[]step{deleted(children, "10", "gone wait wait"), updated(children, "11", "11 wait wait", second), updated(reads, "11", "11 11 11", second)}, "reads"},
		"terminating, then gone":          {[]step{updated(children, "9", "9 5 5", terminating), deleted(children, "10", "gone wait wait"), updated(reads, "9", "gone wait wait", terminating), deleted(reads, "10", "gone gone gone")}, "reads"},
		"versions that cannot be ordered": {[]step{deleted(children, "x10", "gone wait wait"), deleted(reads, "x10", "gone gone gone")}, "reads"},
		"another object goes": {[]step{{func(p *pair) error {
			return p.asRead.Delete(p.object("10", func(o *unstructured.Unstructured) { o.SetName("n"); o.SetUID("other") }))
		}, "5 5 5"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.list(p.asChild, "5", p.object("5"))
			p.list(p.asRead, "5", p.object("5"))
			if got := p.known(); got != "5 5 5" {
				t.Fatalf("at first it is %s", got)
			}
			for n, s := range c.steps {
				clear(p.woken)
				if err := s.do(p); err != nil {
					t.Fatal(err)
				}
				if got := p.known(); got != s.want {
					t.Fatalf("after step %d it is %q, want %q", n+1, got, s.want)
				}
			}
			if c.woken != "" && p.woken[c.woken] == 0 {
				t.Errorf("the last event woke %v, want those of %s", p.woken, c.woken)
			}
		})
	}
}

// TestListAfterDeletion: a watch that lists for the first time does not show what
// another watch knows to be deleted.
func TestListAfterDeletion(t *testing.T) {
	p := newPair(t)
	p.list(p.asChild, "5", p.object("5"))
	if err := p.asChild.Delete(p.object("10")); err != nil {
		t.Fatal(err)
	}
	p.list(p.asRead, "7", p.object("5"))
	if got := p.known(); got != "gone wait wait" {
		t.Errorf("it is %q", got)
	}
	p.list(p.asRead, "11")
	if got := p.known(); got != "gone gone gone" {
		t.Errorf("after the next list it is %q", got)
	}
}
