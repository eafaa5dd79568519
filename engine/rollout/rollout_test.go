package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var usual = []string{"1", "5%", "25%"}

// settings are those that a folder has if its kind.yaml says nothing.
func settings(waves ...string) Settings {
	if waves == nil {
		waves = usual
	}
	return Settings{Digest: "d", Waves: waves, Deadline: 10 * time.Minute}
}

func named(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("r%04d", i)}
}

// ready are resources that are ready and that the new version changes.
func ready(n int) []Trial {
	all := make([]Trial, n)
	for i := range all {
		all[i] = Trial{Name: named(i), UID: types.UID(fmt.Sprint(i)), Generation: 1, Ready: true, Children: 4}
	}
	return all
}

func (t Trial) resource() Resource {
	return Resource{Name: t.Name, UID: t.UID, Generation: t.Generation}
}

// serve serves resources by the new version and returns how many.
func serve(r *Rollout, trials []Trial, names []types.NamespacedName, came Outcome) int {
	n := 0
	for _, t := range trials {
		for _, name := range names {
			if t.Name == name && r.Choose(t.resource()).New {
				came.Digest = r.Digest()
				r.Served(t.resource(), came)
				n++
			}
		}
	}
	return n
}

func lose(trials []Trial, n int, gk schema.GroupKind) []Trial {
	for i := range n {
		trials[i].Lost = []Child{{GroupKind: gk, Namespace: "ns", Name: fmt.Sprintf("c%04d", i)}}
	}
	return trials
}

func fail(trials []Trial, n int) []Trial {
	for i := range n {
		trials[i].Error = "no such field"
	}
	return trials
}

// TestWaves: the sizes of waves.
func TestWaves(t *testing.T) {
	for _, tt := range []struct {
		waves []string
		n     int
		want  []int
	}{
		{usual, 0, nil},
		{usual, 1, []int{1}},
		{usual, 3, []int{1, 1, 1}},
		{usual, 10, []int{1, 1, 3, 5}},
		{usual, 1000, []int{1, 50, 250, 699}},
		{[]string{}, 10, []int{10}},
		{[]string{"10"}, 1000, []int{10, 990}},
		{[]string{"100%"}, 7, []int{7}},
		{[]string{"2", "0%"}, 7, []int{2, 1, 4}},
	} {
		trials := ready(tt.n)
		r := Begin(trials, Settings{Digest: "d", Waves: tt.waves, Deadline: 10 * time.Minute}, Record{}, start)
		var got []int
		for range tt.n + 1 {
			names := r.Step(start)
			if len(names) == 0 {
				break
			}
			if again := r.Step(start); len(again) != 0 {
				t.Fatalf("%v of %d: %d released before the wave is over", tt.waves, tt.n, len(again))
			}
			got = append(got, serve(r, trials, names, Outcome{Ready: true}))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || r.State() != Complete {
			t.Errorf("%v of %d: %s %s", tt.waves, tt.n, r.State(), diff)
		}
	}
}

var (
	configMap   = schema.GroupKind{Kind: "ConfigMap"}
	claim       = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
)

// TestBegin: what stops a rollout before it begins.
func TestBegin(t *testing.T) {
	stopped := Record{Digest: "d", State: Stopped, Reason: Refused, Message: "no"}
	for _, tt := range []struct {
		name   string
		trials []Trial
		before Record
		state  State
		reason Reason
	}{
		{"nothing", nil, Record{}, Running, ""},
		{"a tenth fails", fail(ready(10), 1), Record{}, Running, ""},
		{"more fail", fail(ready(10), 2), Record{}, Stopped, RenderFailed},
		{"the only one fails", fail(ready(1), 1), Record{}, Stopped, RenderFailed},
		{"that was approved", fail(ready(10), 2), Record{Digest: "d", Approved: []Reason{RenderFailed}}, Running, ""},
		{"of another version", fail(ready(10), 2), Record{Digest: "c", Approved: []Reason{RenderFailed}}, Stopped, RenderFailed},
		{"three of few children", lose(ready(3), 3, configMap), Record{}, Running, ""},
		{"four of few children", lose(ready(4), 4, configMap), Record{}, Stopped, Deletes},
		{"a tenth of the children", lose(ready(100), 40, configMap), Record{}, Running, ""},
		{"more children", lose(ready(100), 41, configMap), Record{}, Stopped, Deletes},
		{"one claim", lose(ready(1000), 1, claim), Record{}, Stopped, Deletes},
		{"one StatefulSet", lose(ready(1000), 1, statefulSet), Record{}, Stopped, Deletes},
		{"stopped earlier", ready(1), stopped, Stopped, Refused},
		{"another was stopped", ready(1), Record{Digest: "c", State: Stopped, Reason: Refused}, Running, ""},
	} {
		r := Begin(tt.trials, settings(), tt.before, start).Record()
		if r.State != tt.state || r.Reason != tt.reason {
			t.Errorf("%s: %s, want %s %s", tt.name, r, tt.state, tt.reason)
		}
	}
}

// TestNames: a record names at most 20 children that would be deleted.
func TestNames(t *testing.T) {
	r := Begin(lose(ready(30), 30, claim), settings(), Record{}, start).Record()
	if len(r.Deletes) != 20 || r.Deleted != 30 || r.Deletes[0] != "PersistentVolumeClaim ns/c0000" {
		t.Errorf("%s", r)
	}
	if got := Read(r.String()); !cmp.Equal(got, r) {
		t.Error(cmp.Diff(r, got))
	}
}

// TestStops: what stops a wave, who has changed then, and that an approval
// goes on.
func TestStops(t *testing.T) {
	for _, tt := range []struct {
		name   string
		came   Outcome
		after  time.Duration
		state  State
		reason Reason
	}{
		{"not ready, in time", Outcome{}, 9 * time.Minute, Running, ""},
		{"not ready", Outcome{}, 10 * time.Minute, Stopped, NotReady},
		{"refused", Outcome{Refused: "no"}, 0, Stopped, Refused},
		{"ready at last", Outcome{Ready: true}, time.Hour, Running, ""},
	} {
		trials := ready(10)
		r := Begin(trials, settings("2"), Record{}, start)
		first := r.Step(start)
		serve(r, trials, first[:1], tt.came)
		if tt.came.Ready {
			serve(r, trials, first[1:], tt.came)
		}
		r.Step(start.Add(tt.after))
		if got := r.Record(); got.State != tt.state || got.Reason != tt.reason {
			t.Errorf("%s: %s", tt.name, got)
		}
		if tt.state != Stopped {
			continue
		}
		for i, trial := range trials {
			if got := r.Choose(trial.resource()).New; got != (i == 0) {
				t.Errorf("%s: stopped, and resource %d is served by the new version: %v", tt.name, i, got)
			}
		}
		r.Approve(start)
		for range 3 {
			serve(r, trials, append(first, r.Step(start)...), tt.came)
			if tt.reason == Refused { // approved, and still waits to be ready until the deadline
				serve(r, trials, first, Outcome{Ready: true})
			}
			for _, trial := range trials {
				if r.Choose(trial.resource()).New {
					r.Served(trial.resource(), Outcome{Digest: "d", Ready: tt.reason == Refused, Refused: tt.came.Refused})
				}
			}
		}
		if r.Step(start); r.State() != Complete {
			t.Errorf("%s: approved, and then %s", tt.name, r.Record())
		}
	}
}

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
