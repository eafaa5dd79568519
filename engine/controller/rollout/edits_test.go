package rollout

import (
	"math/rand"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestEditsNeverBlock plays random rollouts and reverts in which resources are edited before
// and after every preview and every reconciliation. Each of them completes while the edits
// go on, if each stop is approved and every resource becomes ready.
func TestEditsNeverBlock(t *testing.T) {
	for seed := range int64(1000) {
		s := newEditStory(seed)
		for n := 0; s.State() != Complete; n++ {
			if n == 200 {
				t.Fatalf("seed %d: not complete after %d passes: %s", seed, n, s.Record())
			}
			s.edit()
			for _, name := range s.ToPreview() {
				for i := range s.resources {
					if s.resources[i].Name == name {
						preview := s.preview(s.resources[i])
						s.edit() // the preview is of an earlier generation now
						s.Previewed(preview)
					}
				}
			}
			s.edit()
			s.serve()
			s.edit()
			s.Step(s.now)
			if s.State() == Stopped {
				s.Approve(Approval{Stop: s.Record().Stop()}, s.now)
			}
			s.now = s.now.Add(time.Second)
		}
	}
}

// An editStory is a random rollout of resources that are edited all the time.
type editStory struct {
	*Rollout
	random    *rand.Rand
	resources []Resource
	now       time.Time
}

func newEditStory(seed int64) *editStory {
	s := &editStory{random: rand.New(rand.NewSource(seed)), now: start}
	how := settingsOf(kind.Rollout{Waves: [][]kind.Wave{kind.Sizes("1", "50%"), kind.Sizes("2"), {{Size: "2", Pause: true}}, nil}[s.random.Intn(4)]})
	how.Back = s.random.Intn(3) == 0
	var previews []Preview
	for i := range 1 + s.random.Intn(12) {
		o := ready(i + 1)[i].resource()
		s.resources, previews = append(s.resources, o), append(previews, s.preview(o))
	}
	s.Rollout = Begin(previews, how, Record{}, start)
	return s
}

// preview is a random preview of a resource as it is now.
func (s *editStory) preview(o Resource) Preview {
	p := Preview{Name: o.Name, UID: o.UID, Generation: o.Generation, Ready: true, Children: 4, Same: s.random.Intn(2) == 0}
	switch s.random.Intn(10) {
	case 0:
		p.Error = "no such field"
	case 1:
		p.Lost = []Child{{GroupKind: statefulSet, Namespace: "ns", Name: o.Name.Name}}
	}
	return p
}

// edit edits half of the resources, and makes one now and then.
func (s *editStory) edit() {
	if n := len(s.resources); n < 14 && s.random.Intn(20) == 0 {
		s.resources = append(s.resources, ready(n + 1)[n].resource())
		s.Look(s.resources[n])
	}
	for i := range s.resources {
		if s.random.Intn(2) == 0 {
			s.resources[i].Generation++
			s.Look(s.resources[i])
		}
	}
}

// serve serves every resource by the version that it has. Each reconciliation writes, as
// the resource was edited.
func (s *editStory) serve() {
	for _, o := range s.resources {
		digest := "before"
		if s.Choose(o).New || s.settings.Back && s.random.Intn(2) == 0 { // the version before is the target of a revert
			digest = s.settings.Digest
		}
		s.Due(o)
		s.Served(o, Outcome{Digest: digest, WouldBeReady: true})
	}
}

// TestEditedOftenMovesInItsWave: a resource that is edited more often than it can be
// previewed is moved with its wave, which waits until the new version has served it. What
// no preview counted is not deleted without approval.
func TestEditedOftenMovesInItsWave(t *testing.T) {
	for _, isRevert := range []bool{false, true} {
		trials := ready(3)
		how := settings("1")
		how.Back = isRevert
		r := Begin(trials, how, Record{}, start)
		edit := func(i int) Resource {
			trials[i].Generation++
			return trials[i].resource()
		}
		first := r.Step(start)
		if edit(0); !isRevert {
			for n := range 2 {
				if o := edit(0); r.Choose(o).New {
					t.Errorf("edit %d: it is moved before it is previewed", n+1)
				}
			}
		}
		if o := edit(0); !r.Choose(o).New || len(r.Awaited()) != len(first) {
			t.Errorf("revert %v: it is not moved, or not awaited: %v of %v", isRevert, r.Awaited(), first)
		}
		if err := r.MayDelete(trials[0].resource(), Child{GroupKind: statefulSet, Namespace: "ns", Name: "x"}); err == nil || r.Record().Reason != Deletes {
			t.Errorf("revert %v: a StatefulSet that no preview counted may be deleted: %s", isRevert, r.Record())
		}
		r.approve()
		for range 4 {
			r.Step(start)
			for _, trial := range trials {
				if r.Choose(trial.resource()).New {
					r.Served(trial.resource(), Outcome{Digest: "d", Ready: true})
				}
			}
		}
		if r.State() != Complete {
			t.Errorf("revert %v: %s", isRevert, r.Record())
		}
	}
}

// TestUnchangedAndEditedOften: a resource that the new version did not change when it was
// previewed, and that was edited often since, gets a wave of its own rather than being
// served by the new version without one.
func TestUnchangedAndEditedOften(t *testing.T) {
	trials := ready(2)
	trials[1].Same = true
	r := Begin(trials, settings(), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	for range 3 {
		trials[1].Generation++
		r.Look(trials[1].resource())
	}
	stale := trials[1]
	stale.Generation--
	r.Previewed(stale) // it tells nothing of the resource as it is now
	names := r.Step(start)
	if len(names) != 1 || names[0] != named(1) || r.State() != Running {
		t.Fatalf("released are %v: %s", names, r.Record())
	}
	serve(r, trials, names, Outcome{Ready: true})
	if r.Step(start); r.State() != Complete {
		t.Errorf("%s", r.Record())
	}
}
