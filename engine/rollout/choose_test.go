package rollout

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestChoose: who is served by the new version before any wave has come.
func TestChoose(t *testing.T) {
	trials := fail(ready(20), 1)
	trials[1].Same = true
	trials[2].Edited = true
	r := Begin(trials, settings(), Record{}, start)
	edited, anew := trials[3].resource(), trials[4].resource()
	edited.Generation, anew.UID = 2, "other"
	for _, tt := range []struct {
		name string
		o    Resource
		want Decision
	}{
		{"fails", trials[0].resource(), Decision{Failed: "no such field"}},
		{"same", trials[1].resource(), Decision{New: true}},
		{"edited before", trials[2].resource(), Decision{New: true}},
		{"edited since", edited, Decision{New: true}},
		{"deleted and made anew", anew, Decision{New: true}},
		{"new", Resource{Name: named(99)}, Decision{New: true}},
		{"not reached", trials[5].resource(), Decision{}},
	} {
		if got := r.Choose(tt.o); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := r.Record(); got.Of != 16 { // without same, edited before, edited since, made anew
		t.Errorf("%s, want 16 that change", got)
	}
}

// TestLeft: what is gone or edited is not waited for; what failed is told of in
// the end, and what can be rendered later is reached.
func TestLeft(t *testing.T) {
	trials := fail(ready(20), 2)
	r := Begin(trials, settings("100%"), Record{}, start)
	names := r.Step(start)
	serve(r, trials, names[2:], Outcome{Ready: true})
	edited := trials[2].resource()
	edited.Generation = 2
	serve(r, []Trial{{Name: edited.Name, UID: edited.UID, Generation: 2}}, names, Outcome{})
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
		r.Retried(trials[i])
	}
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.State() != Complete {
		t.Errorf("%s", r.Record())
	}
}

// TestMayReplace: what is deleted to be made anew counts like what is not
// rendered any more.
func TestMayReplace(t *testing.T) {
	child := func(gk schema.GroupKind, i int) Child {
		return Child{GroupKind: gk, Namespace: "ns", Name: fmt.Sprint(i)}
	}
	trials := ready(5) // 20 children
	r := Begin(trials, settings(), Record{}, start)
	r.Step(start)
	for i := range 3 {
		if err := r.MayReplace(trials[0].resource(), child(configMap, i)); err != nil {
			t.Errorf("replacing %d: %v", i, err)
		}
	}
	if err := r.MayReplace(trials[0].resource(), child(configMap, 0)); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := r.MayReplace(trials[0].resource(), child(configMap, 3)); err == nil || r.Record().Reason != Deletes {
		t.Errorf("one too many: %v, %s", err, r.Record())
	}
	r.Approve(start)
	if err := r.MayReplace(trials[0].resource(), child(statefulSet, 4)); err != nil {
		t.Errorf("approved: %v", err)
	}
	r = Begin(trials, settings(), Record{}, start)
	if err := r.MayReplace(trials[0].resource(), child(statefulSet, 1)); err == nil {
		t.Error("a StatefulSet may be replaced without approval")
	}
	if err := r.MayReplace(Resource{Name: named(0), UID: "0", Generation: 2}, child(statefulSet, 1)); err != nil {
		t.Errorf("its author changed it: %v", err)
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
		if err := r.MayReplace(o, Child{GroupKind: statefulSet, Name: "x"}); err == nil {
			t.Errorf("%s: its StatefulSet may be replaced without approval", tt.name)
		}
	}
}

// TestRepaired: a rollout that stopped for resources which cannot be rendered
// goes on by itself once few enough are left, but not past another stop.
func TestRepaired(t *testing.T) {
	edit := func(r *Rollout, o Resource) { o.Generation++; r.Choose(o) }
	leave := func(r *Rollout, o Resource) { r.Left(o.Name) }
	retry := func(r *Rollout, o Resource) {
		r.Retried(Trial{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Same: true})
	}
	again := func(r *Rollout, o Resource) {
		r.Retried(Trial{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Error: "still"})
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
