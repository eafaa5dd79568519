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
				came.Digest = r.settings.Digest
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

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// TestWaves: the sizes of waves, and that the record is another with each.
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
		last := r.Record()
		for range tt.n + 1 {
			names := r.Step(start)
			if now := r.Record(); now.Same(last) && tt.n > 0 || now.Done != sum(got) {
				t.Errorf("%v of %d: after %v the record is %s", tt.waves, tt.n, got, now)
			}
			if last = r.Record(); len(names) == 0 {
				break
			}
			if again := r.Step(start); len(again) != 0 {
				t.Fatalf("%v of %d: %d released before the wave is over", tt.waves, tt.n, len(again))
			}
			got = append(got, serve(r, trials, names, Outcome{Ready: true}))
			if !r.Record().Same(last) {
				t.Errorf("%v of %d: within wave %d the record is %s", tt.waves, tt.n, len(got), r.Record())
			}
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
		{"forbidden, in time", Outcome{Forbidden: "no", Ready: true}, 9 * time.Minute, Running, ""},
		{"forbidden", Outcome{Forbidden: "no", Ready: true}, 10 * time.Minute, Stopped, Refused},
		{"ready at last", Outcome{Ready: true}, time.Hour, Running, ""},
	} {
		trials := ready(10)
		r := Begin(trials, settings("2"), Record{}, start)
		first := r.Step(start)
		serve(r, trials, first[:1], tt.came)
		if tt.came == (Outcome{Ready: true}) {
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

// TestApproval: an approval is of one stop; the next one of the same folder
// wants its own.
func TestApproval(t *testing.T) {
	trials := lose(fail(ready(4), 2), 4, claim)
	r := Begin(trials, settings(), Record{}, start)
	first := r.Record()
	r.Approve(start)
	second := r.Record()
	if first.Reason != RenderFailed || second.Reason != Deletes || first.Approval() == second.Approval() {
		t.Errorf("%s, and once that is approved by %s, %s by %s", first, first.Approval(), second, second.Approval())
	}
	other := first
	if other.Digest = "e"; other.Approval() == first.Approval() {
		t.Error("an approval is good for another folder")
	}
}

// TestApprovalLate: an approval is not of deletions that a later trial found
// while the rollout was stopped for something else.
func TestApprovalLate(t *testing.T) {
	trials := fail(ready(20), 2)
	r := Begin(trials, settings("100%"), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.Record().Reason != RenderFailed {
		t.Fatalf("%s", r.Record())
	}
	again := lose(ready(1), 1, claim)[0]
	r.Retried(again)
	if r.Approve(start); r.Record().Reason != Deletes {
		t.Errorf("%s", r.Record())
	}
	if len(r.Step(start)) > 0 || r.Choose(again.resource()).New {
		t.Error("the new version serves it without approval")
	}
}
