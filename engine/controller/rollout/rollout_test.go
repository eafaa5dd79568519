package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var usual = []string{"1", "5%", "25%"}

// settings are those that a folder has if its kind.yaml says nothing.
func settings(waves ...string) Settings {
	if waves == nil {
		waves = usual
	}
	return settingsOf(kind.Rollout{Waves: kind.Sizes(waves...)})
}

func settingsOf(how kind.Rollout) Settings {
	how.ProgressDeadline.Duration = 10 * time.Minute
	return Settings{Digest: "d", Rollout: how}
}

func named(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("r%04d", i)}
}

// ready are resources that are ready and that the new version changes.
func ready(n int) []Preview {
	all := make([]Preview, n)
	for i := range all {
		all[i] = Preview{Name: named(i), UID: types.UID(fmt.Sprint(i)), Generation: 1, Ready: true, Children: 4}
	}
	return all
}

func (t Preview) resource() Resource {
	return Resource{Name: t.Name, UID: t.UID, Generation: t.Generation}
}

// serve serves resources by the new version and returns how many.
func serve(r *Rollout, trials []Preview, names []types.NamespacedName, came Outcome) int {
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

func lose(trials []Preview, n int, gk schema.GroupKind) []Preview {
	for i := range n {
		trials[i].Lost = []Child{{GroupKind: gk, Namespace: "ns", Name: fmt.Sprintf("c%04d", i)}}
	}
	return trials
}

func fail(trials []Preview, n int) []Preview {
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
		r := Begin(trials, settings(tt.waves...), Record{}, start)
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
		trials []Preview
		before Record
		state  State
		reason Reason
	}{
		{"nothing", nil, Record{}, Running, ""},
		{"a tenth fails", fail(ready(10), 1), Record{}, Running, ""},
		{"more fail", fail(ready(10), 2), Record{}, Stopped, RenderFailed},
		{"the only one fails", fail(ready(1), 1), Record{}, Stopped, RenderFailed},
		{"that was approved", fail(ready(10), 2), approvedOf(fail(ready(10), 2), "d"), Running, ""},
		{"of another version", fail(ready(10), 2), approvedOf(fail(ready(10), 2), "c"), Stopped, RenderFailed},
		{"fewer were approved", fail(ready(10), 3), approvedOf(fail(ready(10), 2), "d"), Stopped, RenderFailed},
		{"three of few children", lose(ready(3), 3, configMap), Record{}, Running, ""},
		{"four of few children", lose(ready(4), 4, configMap), Record{}, Stopped, Deletes},
		{"a tenth of the children", lose(ready(100), 40, configMap), Record{}, Running, ""},
		{"more children", lose(ready(100), 41, configMap), Record{}, Stopped, Deletes},
		{"one claim", lose(ready(1000), 1, claim), Record{}, Stopped, Deletes},
		{"that claim was approved", lose(ready(1000), 1, claim), approvedOf(lose(ready(1000), 1, claim), "d"), Running, ""},
		{"one claim was approved", lose(ready(1000), 2, claim), approvedOf(lose(ready(1000), 1, claim), "d"), Stopped, Deletes},
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
		{"failed", Outcome{Failed: true}, 0, Stopped, NotReady},
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
		r.approve()
		for range 3 {
			serve(r, trials, append(first, r.Step(start)...), tt.came)
		}
		if r.Step(start.Add(time.Hour)); r.Record().Reason != tt.reason {
			t.Errorf("%s: approved, the next wave does not stop: %s", tt.name, r.Record())
		}
		r.Approve(Approval{Stop: r.Record().Stop(), AllWaves: true}, start)
		for range 3 {
			serve(r, trials, append(first, r.Step(start)...), tt.came)
			for _, trial := range trials {
				if r.Choose(trial.resource()).New {
					r.Served(trial.resource(), Outcome{Digest: "d", Refused: tt.came.Refused, Forbidden: tt.came.Forbidden, Ready: tt.came.Ready})
				}
			}
		}
		if r.Step(start); r.State() != Complete {
			t.Errorf("%s: approved, and then %s", tt.name, r.Record())
		}
	}
}
