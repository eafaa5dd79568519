package rollout

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestChoose: who is served by the new version before any wave has come.
func TestChoose(t *testing.T) {
	trials := fail(ready(20), 1)
	trials[1].Same = true
	trials[2].Alone, trials[2].Unserved = true, true
	trials[6].Alone, trials[6].Same = true, true
	r := Begin(trials, settings(), Record{}, start)
	edited, anew := trials[3].resource(), trials[4].resource()
	edited.Generation, anew.UID = 2, "other"
	for _, tt := range []struct {
		name string
		o    Resource
		want Decision
	}{
		{"fails", trials[0].resource(), Decision{Failed: "no such field"}},
		{"same", trials[1].resource(), Decision{}},
		{"never served", trials[2].resource(), Decision{New: true}},
		{"edited since", edited, Decision{Changes: true, NotPreviewed: true}},
		{"deleted and made anew", anew, Decision{New: true}},
		{"new", Resource{Name: named(99)}, Decision{New: true}},
		{"not reached", trials[5].resource(), Decision{Changes: true}},
		{"same, its version is not here", trials[6].resource(), Decision{New: true}},
	} {
		if got := r.Choose(tt.o); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := r.Record(); got.Of != 16 { // without same, never served, recreated
		t.Errorf("%s, want 16 that change", got)
	}
}

// TestLeft: what is gone is not waited for; what is edited in its wave is, as the
// new version serves it; what failed is told of in the end, and what can be
// rendered later is reached.
func TestLeft(t *testing.T) {
	trials := fail(ready(20), 2)
	r := Begin(trials, settings("100%"), Record{}, start)
	names := r.Step(start)
	serve(r, trials, names[2:], Outcome{Ready: true})
	serve(r, trials, names[:1], Outcome{Ready: true})
	edited := trials[2].resource()
	edited.Generation = 2
	if !r.Choose(edited).New {
		t.Error("what the new version serves goes back when it is edited")
	}
	r.Served(trials[3].resource(), Outcome{Digest: "c", Ready: true})
	if got := r.Awaited(); len(got) != 1 || got[0] != named(3) {
		t.Errorf("awaited are %v", got)
	}
	r.Left(named(3))
	if r.Step(start); r.Record().Reason != RenderFailed {
		t.Errorf("%s", r.Record())
	}
	for i := range 2 {
		trials[i].Error = ""
		r.Previewed(trials[i])
	}
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.State() != Complete {
		t.Errorf("%s", r.Record())
	}
}

// TestMayDelete: what no trial had counted counts like what had been counted.
func TestMayDelete(t *testing.T) {
	child := func(gk schema.GroupKind, i int) Child {
		return Child{GroupKind: gk, Namespace: "ns", Name: fmt.Sprint(i)}
	}
	trials := ready(5) // 20 children
	trials[0].Lost = []Child{child(configMap, 9)}
	trials[0].Replace = []Child{child(configMap, 3), child(configMap, 4), child(statefulSet, 5)}
	begin := func() *Rollout {
		r := Begin(trials, settings(), Record{}, start)
		r.Step(start)
		r.Choose(trials[0].resource())
		return r
	}
	r := begin()
	for i := range 2 {
		if err := r.MayDelete(trials[0].resource(), child(configMap, i)); err != nil {
			t.Errorf("deleting %d: %v", i, err)
		}
	}
	for name, i := range map[string]int{"the same again": 0, "what was counted": 9} {
		if err := r.MayDelete(trials[0].resource(), child(configMap, i)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.MayDelete(trials[0].resource(), child(configMap, 3)); err == nil || r.Record().Reason != Deletes || r.Record().Deleted != 3 {
		t.Errorf("one too many: %v, %s", err, r.Record())
	}
	r.approve()
	for i := 3; i < 6; i++ { // with its like, which are to be recreated too
		if err := r.MayDelete(trials[0].resource(), child(configMap, i)); (err == nil) != (i < 5) {
			t.Errorf("%d after the approval: %v", i, err)
		}
	}
	r = begin()
	edited := trials[0].resource()
	edited.Generation = 2
	if err := r.MayDelete(edited, child(statefulSet, 1)); err == nil {
		t.Error("a StatefulSet may be deleted without approval, as its resource was edited in its wave")
	}
	r = begin()
	r.Served(trials[0].resource(), Outcome{Digest: "d", Ready: true})
	if err := r.MayDelete(edited, child(statefulSet, 1)); err != nil {
		t.Errorf("its author changed it once the new version had served it well: %v", err)
	}
}

// TestPaused: a paused resource is not waited for; what it is served by when it
// goes on is what it would be served by without.
func TestPaused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		i       int
		stopped bool
		want    bool
	}{
		{"a stopped rollout has not reached it", 1, true, false},
		{"its wave has come", 0, false, true},
		{"its wave had come when the rollout stopped", 0, true, false},
		{"its wave has not come", 2, false, false},
	} {
		trials := ready(3)
		r := Begin(trials, settings("2"), Record{}, start)
		r.Step(start)
		o := trials[tt.i].resource()
		if o.Paused = true; tt.i > 0 {
			r.Choose(trials[0].resource())
		} else if r.Choose(o).New || len(r.Awaited()) != 1 {
			t.Errorf("%s: paused, it is served by the new version, or awaited: %v", tt.name, r.Awaited())
		}
		if tt.stopped {
			r.Step(start.Add(time.Hour))
		}
		r.Choose(o)
		o.Paused = false
		if got := r.Choose(o).New; got != tt.want {
			t.Errorf("%s: it goes on with the new version: %v", tt.name, got)
		}
		if err := r.MayDelete(o, Child{GroupKind: statefulSet, Name: "x"}); err == nil {
			t.Errorf("%s: its StatefulSet may be deleted without approval", tt.name)
		}
	}
}

// TestRepaired: a rollout that stopped for resources which cannot be rendered
// goes on by itself once few enough are left, but not past another stop.
func TestRepaired(t *testing.T) {
	edit := func(r *Rollout, o Resource) {
		o.Generation++
		r.Choose(o)
		r.Previewed(Preview{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Same: true})
	}
	leave := func(r *Rollout, o Resource) { r.Left(o.Name) }
	retry := func(r *Rollout, o Resource) {
		r.Previewed(Preview{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Same: true})
	}
	again := func(r *Rollout, o Resource) {
		r.Previewed(Preview{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Error: "still"})
	}
	for _, tt := range []struct {
		name            string
		n, failing, cut int
		lost            schema.GroupKind
		repair          func(*Rollout, Resource)
		state           State
		reason          Reason
	}{
		{"edited, at the beginning", 10, 2, 1, configMap, edit, Complete, ""},
		{"gone, at the beginning", 10, 2, 1, configMap, leave, Complete, ""},
		{"rendered, at the beginning", 10, 2, 1, configMap, retry, Complete, ""},
		{"the only one edited", 1, 1, 1, configMap, edit, Complete, ""},
		{"one of too many", 10, 3, 1, configMap, edit, Stopped, RenderFailed},
		{"not repaired", 10, 2, 2, configMap, again, Stopped, RenderFailed},
		{"edited, in the end", 10, 1, 1, configMap, edit, Complete, ""},
		{"gone, in the end", 10, 1, 1, configMap, leave, Complete, ""},
		{"one of two, in the end", 20, 2, 1, configMap, leave, Stopped, RenderFailed},
		{"it would delete a claim", 10, 2, 2, claim, leave, Stopped, Deletes},
	} {
		trials := fail(ready(tt.n), tt.failing)
		trials[tt.n-1].Lost = []Child{{GroupKind: tt.lost, Name: "x"}}
		r := Begin(trials, settings(), Record{}, start)
		steps := func() {
			for range 5 {
				serve(r, trials, r.Step(start), Outcome{Ready: true})
			}
		}
		if steps(); tt.n > 1 && tt.lost != claim && r.Record().Reason != RenderFailed {
			t.Errorf("%s: before, it is %s", tt.name, r.Record())
		}
		for i := range tt.cut {
			tt.repair(r, trials[i].resource())
		}
		if steps(); tt.state == Complete && tt.failing > tt.cut { // the rest is told of in the end
			if r.Record().Reason != RenderFailed || r.released < len(r.order) {
				t.Errorf("%s: it has not gone on: %s", tt.name, r.Record())
			}
			for _, name := range r.Failed() {
				r.Left(name)
			}
			steps()
		}
		if got := r.Record(); got.State != tt.state || got.Reason != tt.reason {
			t.Errorf("%s: %s, want %s %s", tt.name, got, tt.state, tt.reason)
		}
	}
}

// TestEdited: an edit never chooses a version. What is edited, or made, while the
// rollout is stopped is served by the version before, and tried before its wave
// moves it.
func TestEdited(t *testing.T) {
	trials := lose(ready(3), 1, statefulSet)
	trials[2].Same = true
	r := Begin(trials, settings(), Record{}, start)
	for i, trial := range append(trials, Preview{Name: named(9), UID: "9"}) {
		o := trial.resource()
		if o.Generation++; r.Choose(o).New {
			t.Errorf("stopped, and the new version serves resource %d, which was edited or made", i)
		}
	}
	if got := r.NotPreviewed(); len(got) != 4 {
		t.Errorf("to be tried are %v", got)
	}
	made := Preview{Name: named(9), UID: "9", Generation: 1, Ready: true, Lost: []Child{{GroupKind: statefulSet, Name: "9"}}}
	r.Previewed(made)
	if got := r.Record(); got.Deleted != 2 {
		t.Errorf("what was made since is not counted: %s", got)
	}
	r.approve()
	r.Step(start)
	o := trials[0].resource()
	if o.Generation++; r.Choose(o).New {
		t.Error("its wave moves a resource that was edited since it was tried")
	}
	for i := range trials {
		trials[i].Generation++
		r.Previewed(trials[i])
	}
	all := append(trials, made)
	for range all {
		r.Step(start)
		serve(r, all, []types.NamespacedName{named(0), named(1), named(9)}, Outcome{Ready: true})
	}
	if r.State() != Complete || !r.Choose(made.resource()).New || !r.Choose(trials[2].resource()).New {
		t.Errorf("approved, and then %s", r.Record())
	}
}

// TestEndsTried: a rollout does not end before a resource without change that was
// edited has been tried.
func TestEndsTried(t *testing.T) {
	trials := ready(2)
	trials[1].Same = true
	r := Begin(trials, settings(), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if !r.Ends(start) {
		t.Fatalf("%s", r.Record())
	}
	trials[1].Generation = 2
	r.Look(trials[1].resource())
	if r.Step(start); r.State() != Running {
		t.Errorf("%s", r.Record())
	}
	trials[1].Same, trials[1].Lost = false, []Child{{GroupKind: statefulSet, Name: "x"}}
	if r.Previewed(trials[1]); r.Record().Reason != Deletes {
		t.Errorf("%s", r.Record())
	}
}
