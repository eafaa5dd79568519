package rollout

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

var (
	base, target = Revision{1, "aaaa"}, Revision{2, "bbbb"}
	start        = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	deadline     = 10 * time.Minute

	configMap   = schema.GroupKind{Kind: "ConfigMap"}
	claim       = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
)

// A story plays a rollout: it reconciles resources as the rollout decides, and keeps the time.
type story struct {
	*Rollout
	resources []Resource
	now       time.Time
}

// stories returns how many of so many random stories are played.
func stories(all int64) int64 {
	if os.Getenv("NIGHTLY") == "" {
		return all / 20
	}
	return all
}

func settings(waves ...kind.Wave) Settings {
	return Settings{Revisions: []Revision{base, target}, Rollout: kind.Rollout{
		Waves: waves, ProgressDeadline: metav1.Duration{Duration: deadline}}}
}

func resource(i int) Resource {
	return Resource{NamespacedName: types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("r%03d", i)},
		UID: types.UID(fmt.Sprint("uid-", i)), Generation: 1}
}

// changing are previews of resources that are ready and that the target changes.
func changing(n int) []Preview {
	all := make([]Preview, n)
	for i := range all {
		all[i] = Preview{UID: resource(i).UID, Generation: 1, Changes: true, WasReady: true, Children: 4}
	}
	return all
}

func deleting(previews []Preview, n int, gk schema.GroupKind) []Preview {
	for i := range n {
		previews[i].Deletes = []Child{{GroupKind: gk, Namespace: "ns", Name: fmt.Sprintf("c%03d", i)}}
	}
	return previews
}

func failing(previews []Preview, n int) []Preview {
	for i := range n {
		previews[i].Failure, previews[i].Changes = "no such field", false
	}
	return previews
}

// begin plays a rollout up to its first step.
func begin(s Settings, record Record, previews []Preview) *story {
	st := &story{Rollout: New(s, record, start), now: start}
	for i, p := range previews {
		st.resources = append(st.resources, resource(i))
		st.Observe(resource(i))
		st.Previewed(p)
	}
	st.Step(st.now)
	return st
}

// serve reconciles each resource once, with this outcome if the target serves it. It returns
// how many resources the target serves.
func (s *story) serve(out Outcome) (n int) {
	for _, o := range s.resources {
		out.Revision = base
		if s.Choose(o).Target {
			out.Revision = target
			n++
		}
		s.Served(o, out, s.now)
	}
	return n
}

// run serves and steps until nothing changes. It returns how many resources the target
// serves after each step.
func (s *story) run(out Outcome) (counts []int) {
	for {
		n := s.serve(out)
		if len(counts) > 0 && counts[len(counts)-1] == n {
			return counts
		}
		counts = append(counts, n)
		s.Step(s.now)
	}
}

func (s *story) approve(t *testing.T, a Approval) {
	t.Helper()
	a.Stop = s.Record().Stop
	if !s.Approve(a, s.now) {
		t.Fatalf("nothing to approve: %s", s.Record())
	}
	s.Step(s.now)
}

func (s *story) expect(t *testing.T, what string, state State, reason Reason) {
	t.Helper()
	if r := s.Record(); r.State != state || r.Reason != reason {
		t.Errorf("%s: want %s %s, got %s", what, state, reason, r)
	}
}

func TestTransitionsAreTotal(t *testing.T) {
	for p := Unpreviewed; p <= Created; p++ {
		if _, found := transitions[p]; !found {
			t.Errorf("phase %s has no row", p)
		}
		for e, next := range transitions[p] {
			if p.ServedByTarget() && !next.ServedByTarget() {
				t.Errorf("event %d takes %s back to %s: only another rollout may do that", e, p, next)
			}
		}
	}
}

func TestWaves(t *testing.T) {
	usual := kind.Sizes("1", "5%", "25%")
	for _, tt := range []struct {
		name  string
		waves []kind.Wave
		n     int
		want  []int
	}{
		{"no resource changes", usual, 0, []int{0}},
		{"one resource", usual, 1, []int{1}},
		{"at least one resource in each wave", usual, 3, []int{1, 2, 3}},
		{"percentages round up", usual, 10, []int{1, 2, 5, 10}},
		{"many resources", usual, 1000, []int{1, 51, 301, 1000}},
		{"no waves", nil, 10, []int{10}},
		{"a number", kind.Sizes("10"), 100, []int{10, 100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := begin(settings(tt.waves...), Record{}, changing(tt.n))
			if diff := cmp.Diff(tt.want, s.run(Outcome{Ready: true})); diff != "" || s.State() != Complete {
				t.Errorf("%s, (-want +got):\n%s", s.State(), diff)
			}
		})
	}
}

func TestLabelWave(t *testing.T) {
	s := &story{Rollout: New(settings(
		kind.Wave{MatchLabels: map[string]string{"env": "dev"}, Pause: true},
		kind.Wave{NamespaceMatchLabels: map[string]string{"tier": "test"}},
	), Record{}, start), now: start}
	for i, p := range changing(4) {
		o := resource(i)
		if i == 2 {
			o.Labels = map[string]string{"env": "dev"}
		}
		if i == 3 {
			o.Namespace = "test"
		}
		s.resources = append(s.resources, o)
		s.Observe(o)
		s.Previewed(p)
	}
	s.Step(s.now)
	if got := s.run(Outcome{Ready: true}); !cmp.Equal(got, []int{1}) || !s.Choose(s.resources[2]).Target {
		t.Errorf("the wave that selects by labels has %v", got)
	}
	s.expect(t, "after the wave", Stopped, Paused)
	s.approve(t, Approval{})
	if !s.NeedsNamespaces() {
		t.Fatal("the next wave does not need namespaces")
	}
	s.SetNamespaces(nil, errors.New("forbidden"))
	s.SetNamespaces(map[string]map[string]string{"test": {"tier": "test"}}, nil)
	s.Step(s.now)
	if got := s.run(Outcome{Ready: true}); !cmp.Equal(got, []int{2, 4}) {
		t.Errorf("waves: %v", got)
	}
	s.expect(t, "in the end", Complete, "")
}

func TestBegin(t *testing.T) {
	approved := func(previews []Preview) Record {
		s := begin(settings(kind.Sizes("1")...), Record{}, previews)
		s.Approve(Approval{Stop: s.Record().Stop}, start)
		return s.Record()
	}
	for _, tt := range []struct {
		name     string
		previews []Preview
		record   Record
		state    State
		reason   Reason
	}{
		{"a tenth cannot be rendered", failing(changing(10), 1), Record{}, Running, ""},
		{"more cannot be rendered", failing(changing(10), 2), Record{}, Stopped, RenderFailed},
		{"more cannot be rendered, approved", failing(changing(10), 2), approved(failing(changing(10), 2)), Running, ""},
		{"more cannot be rendered than were approved", failing(changing(10), 3), approved(failing(changing(10), 2)), Stopped, RenderFailed},
		{"three deletions of few children", deleting(changing(3), 3, configMap), Record{}, Running, ""},
		{"four deletions of few children", deleting(changing(4), 4, configMap), Record{}, Stopped, Deletes},
		{"a tenth of the children", deleting(changing(100), 40, configMap), Record{}, Running, ""},
		{"more of the children", deleting(changing(100), 41, configMap), Record{}, Stopped, Deletes},
		{"one deletion of a child with data", deleting(changing(100), 1, claim), Record{}, Stopped, Deletes},
		{"one deletion of a child with data, approved", deleting(changing(100), 1, claim), approved(deleting(changing(100), 1, claim)), Running, ""},
		{"stopped before a restart", changing(2), Record{Revisions: []Revision{base, target}, State: Stopped, Reason: Refused}, Stopped, Refused},
		{"another folder stopped before", changing(2), Record{Revisions: []Revision{base, {2, "cccc"}}, State: Stopped, Reason: Refused}, Running, ""},
		{"the same folder stopped in an earlier period", changing(2), Record{Revisions: []Revision{base, {1, "bbbb"}}, State: Stopped, Reason: Refused}, Running, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin(settings(kind.Sizes("1")...), tt.record, tt.previews).expect(t, "begun", tt.state, tt.reason)
		})
	}
}

// TestProblemsStopWave covers what stops a wave. No other resource is moved then. An approval
// covers the present wave, or all waves.
func TestProblemsStopWave(t *testing.T) {
	for _, tt := range []struct {
		name   string
		out    Outcome
		after  time.Duration
		moved  int
		state  State
		reason Reason
	}{
		{"not ready, before the deadline", Outcome{}, deadline - 1, 2, Running, ""},
		{"not ready, after the deadline", Outcome{}, deadline, 2, Stopped, NotReady},
		{"not ready since children are kept", Outcome{IsHeld: true}, deadline, 2, Stopped, PruneBlocked},
		{"a child failed", Outcome{Failed: true}, 0, 2, Stopped, NotReady},
		{"refused", Outcome{Refused: "no"}, 0, 1, Stopped, Refused},
		{"forbidden, before the deadline", Outcome{Ready: true, Forbidden: "no"}, deadline - 1, 2, Running, ""},
		{"forbidden, after the deadline", Outcome{Ready: true, Forbidden: "no"}, deadline, 2, Stopped, Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := begin(settings(kind.Sizes("2")...), Record{}, changing(10))
			s.serve(tt.out)
			s.now = s.now.Add(tt.after)
			s.Step(s.now)
			s.expect(t, "first wave", tt.state, tt.reason)
			if n := s.serve(tt.out); n != tt.moved {
				t.Errorf("the target serves %d", n)
			}
			if tt.state != Stopped {
				return
			}
			s.approve(t, Approval{})
			s.run(tt.out)
			s.now = s.now.Add(deadline)
			s.Step(s.now)
			s.expect(t, "second wave", Stopped, tt.reason)
			s.approve(t, Approval{AllWaves: true})
			s.run(tt.out)
			s.expect(t, "approved for all waves", Complete, "")
			if r := s.Record(); r.NotReady != 10 {
				t.Errorf("%d are not ready: %s", r.NotReady, r)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	for _, tt := range []struct {
		name             string
		of, unready      int
		maxFailures      *int
		state            State
		restartedInWave2 bool
	}{
		{"one of few", 10, 1, nil, Stopped, false},
		{"one of many", 11, 1, nil, Complete, false},
		{"two of many", 11, 2, nil, Stopped, false},
		{"two of two waves, seen as one after a restart", 11, 2, nil, Complete, true},
		{"two of five, maxFailures is 2", 5, 2, ptr.To(2), Complete, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			how, record, previews := settings(), Record{}, changing(tt.of)
			how.Rollout.MaxFailures = tt.maxFailures
			if tt.restartedInWave2 {
				record = Record{Revisions: how.Revisions, State: Running, Wave: 2}
				for i := range previews {
					previews[i].Reached = true
				}
			}
			s := begin(how, record, previews)
			for i, o := range s.resources {
				s.Choose(o)
				s.Served(o, Outcome{Revision: target, Ready: i >= tt.unready}, s.now)
			}
			s.now = s.now.Add(deadline)
			s.Step(s.now)
			if s.State() != tt.state {
				t.Errorf("%s", s.Record())
			}
		})
	}
}

func TestMinReadySeconds(t *testing.T) {
	how := settings(kind.Sizes("1")...)
	how.Rollout.MinReadySeconds = 60
	s := begin(how, Record{}, changing(2))
	s.serve(Outcome{Ready: true})
	if _, wait := s.Step(s.now); wait != time.Minute {
		t.Errorf("requeued after %s", wait)
	}
	s.now = s.now.Add(59 * time.Second)
	s.serve(Outcome{})
	s.serve(Outcome{Ready: true}) // the minute starts again
	if released, wait := s.Step(s.now.Add(59 * time.Second)); len(released) != 0 || wait != time.Second {
		t.Errorf("released: %v, requeued after %s", released, wait)
	}
	if released, _ := s.Step(s.now.Add(time.Minute)); len(released) != 1 {
		t.Errorf("released: %v", released)
	}
}

// TestChoose covers which revision serves a resource before any wave is released.
func TestChoose(t *testing.T) {
	previews := failing(changing(20), 1)
	previews[1].Changes = false
	previews[2].Reached = true
	s := begin(settings(kind.Sizes("1")...), Record{Revisions: []Revision{base, target}, State: Running}, previews)
	edited, recreated, other := s.resources[3], s.resources[4], resource(99)
	edited.Generation, recreated.UID = 2, "another"
	for _, tt := range []struct {
		name string
		o    Resource
		want Decision
	}{
		{"cannot be rendered", s.resources[0], Decision{Failure: "no such field"}},
		{"nothing changes", s.resources[1], Decision{}},
		{"reached before the restart", s.resources[2], Decision{Target: true}},
		{"edited since its preview", edited, Decision{Pending: true, Unpreviewed: true}},
		{"deleted and created again", recreated, Decision{Target: true}},
		{"created during the rollout", other, Decision{Target: true}},
		{"its wave is not released", s.resources[5], Decision{Pending: true}},
	} {
		if got := s.Choose(tt.o); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestEditNeverMovesResource edits and creates resources while the rollout is stopped. Their
// present revision serves them, and they are previewed before their wave.
func TestEditNeverMovesResource(t *testing.T) {
	s := begin(settings(), Record{}, deleting(changing(3), 1, statefulSet))
	s.expect(t, "begun", Stopped, Deletes)
	s.resources = append(s.resources, resource(3))
	for i := range s.resources {
		s.resources[i].Generation = 2
	}
	if n := s.serve(Outcome{Ready: true}); n != 0 {
		t.Errorf("the target serves %d", n)
	}
	if got := s.ToPreview(); len(got) != 4 {
		t.Errorf("resources to preview: %v", got)
	}
	for i := range s.resources {
		s.Previewed(Preview{UID: s.resources[i].UID, Generation: 2, Changes: true, WasReady: true,
			Deletes: []Child{{GroupKind: statefulSet, Name: fmt.Sprint(i)}}})
	}
	if r := s.Record(); r.DeletionCount != 4 {
		t.Errorf("%d deletions to approve", r.DeletionCount)
	}
	s.approve(t, Approval{})
	s.resources[0].Generation = 3
	if s.serve(Outcome{Ready: true}); s.Choose(s.resources[0]).Target {
		t.Error("a resource that was edited since its preview is moved")
	}
	s.Previewed(Preview{UID: s.resources[0].UID, Generation: 3, Changes: true, WasReady: true})
	s.run(Outcome{Ready: true})
	s.expect(t, "in the end", Complete, "")
}

// TestEditsNeverBlock edits one resource between each preview and the reconciliation that
// follows, so that no preview is ever up to date. Rollouts and reverts complete anyway, and
// a deletion that no preview counted still needs an approval.
func TestEditsNeverBlock(t *testing.T) {
	for _, isRevert := range []bool{false, true} {
		t.Run(fmt.Sprintf("revert=%v", isRevert), func(t *testing.T) {
			how := settings(kind.Sizes("1", "50%")...)
			how.IsRevert = isRevert
			s := begin(how, Record{}, changing(20))
			for range 20 {
				previewed := s.resources[0].Generation
				s.resources[0].Generation++
				s.Observe(s.resources[0])
				for range s.ToPreview() {
					s.Previewed(Preview{UID: s.resources[0].UID, Generation: previewed, Changes: true, WasReady: true})
				}
				s.resources[0].Generation++
				s.serve(Outcome{Ready: true})
				s.Step(s.now)
			}
			s.expect(t, "after twenty previews that are out of date", Complete, "")
		})
	}
	s := begin(settings(), Record{}, changing(20))
	for range maxEdits + 1 {
		s.resources[0].Generation++
		s.Choose(s.resources[0])
	}
	if err := s.MayDelete(s.resources[0], Child{GroupKind: claim, Namespace: "ns", Name: "data"}); err == nil || s.State() != Stopped {
		t.Errorf("a PersistentVolumeClaim of a resource that is edited often may be deleted: %s", s.Record())
	}
}

// TestContinuesOnceRepaired covers rollouts that stopped for failing resources. They continue
// once few are left, and complete once none is left.
func TestContinuesOnceRepaired(t *testing.T) {
	s := begin(settings(), Record{}, failing(changing(20), 3))
	s.expect(t, "three of twenty", Stopped, RenderFailed)
	s.resources = s.resources[2:]
	s.ObserveAll(s.resources)
	s.Step(s.now)
	s.expect(t, "one of eighteen", Running, "")
	s.run(Outcome{Ready: true})
	s.expect(t, "only one failing resource is left", Stopped, RenderFailed)
	s.Previewed(Preview{UID: s.resources[0].UID, Generation: 1})
	s.Step(s.now)
	s.expect(t, "the last one can be rendered", Complete, "")
}

func TestMayDelete(t *testing.T) {
	child := func(gk schema.GroupKind, i int) Child {
		return Child{GroupKind: gk, Namespace: "ns", Name: fmt.Sprint(i)}
	}
	previews := changing(5) // with 20 children
	previews[0].Deletes = []Child{child(configMap, 9)}
	previews[1].Recreates = []Child{child(configMap, 4)}
	previews[0].Recreates = []Child{child(configMap, 3)}
	s := begin(settings(kind.Sizes("1")...), Record{}, previews)
	s.Choose(s.resources[0])
	for _, tt := range []struct {
		name  string
		child Child
		may   bool
	}{
		{"counted by the preview", child(configMap, 9), true},
		{"first of few", child(configMap, 0), true},
		{"second of few", child(configMap, 1), true},
		{"first of few, again", child(configMap, 0), true},
		{"one more than a few", child(configMap, 3), false},
	} {
		if err := s.MayDelete(s.resources[0], tt.child); (err == nil) != tt.may {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if r := s.Record(); r.Reason != Deletes || r.DeletionCount != 3 { // including the similar child of the next resource
		t.Errorf("%s", r)
	}
	s.approve(t, Approval{})
	if err := s.MayDelete(s.resources[1], child(configMap, 4)); err != nil {
		t.Errorf("approved together with a similar child: %v", err)
	}
	s.Served(s.resources[0], Outcome{Revision: target, Ready: true}, s.now)
	if err := s.MayDelete(s.resources[0], child(statefulSet, 5)); err != nil {
		t.Errorf("a deletion that results from an edit needs an approval: %v", err)
	}
	s = begin(settings(kind.Sizes("1")...), Record{}, changing(5))
	s.Choose(s.resources[0])
	if err := s.MayDelete(s.resources[0], child(statefulSet, 0)); err == nil || s.State() != Stopped {
		t.Errorf("the only deletion is that of a StatefulSet, and needs no approval: %s", s.Record())
	}
}

// TestReachedBeforeRestart: what stopped a rollout before a restart is not deleted afterwards,
// although the target serves the resource already.
func TestReachedBeforeRestart(t *testing.T) {
	previews := deleting(changing(2), 1, claim)
	previews[0].Reached = true
	s := begin(settings(), Record{Revisions: settings().Revisions, State: Stopped, Reason: Deletes}, previews)
	s.expect(t, "it would still delete", Stopped, Deletes)
	if !s.Choose(s.resources[0]).Target {
		t.Error("the target does not serve what it had reached")
	}
	if err := s.MayDelete(s.resources[0], previews[0].Deletes[0]); err == nil {
		t.Error("the child may be deleted")
	}
	if n := s.Record().DeletionCount; n != 1 {
		t.Errorf("%d deletions wait", n)
	}
	s.approve(t, Approval{})
	if err := s.MayDelete(s.resources[0], previews[0].Deletes[0]); err != nil {
		t.Error(err)
	}
}

func TestApproveSomeResources(t *testing.T) {
	s := begin(settings(), Record{}, deleting(changing(4), 2, claim))
	s.approve(t, Approval{Only: []string{s.resources[1].NamespacedName.String()}})
	if n := s.serve(Outcome{Ready: true}); n != 1 || !s.Choose(s.resources[1]).Target {
		t.Errorf("the target serves %d", n)
	}
	s.expect(t, "one approved", Stopped, Deletes)
	s.approve(t, Approval{})
	s.run(Outcome{Ready: true})
	s.expect(t, "all approved", Complete, "")
}

func TestNoWaveWaitsForPausedResource(t *testing.T) {
	s := begin(settings(), Record{}, changing(2))
	s.resources[0].Paused = true
	if n := s.serve(Outcome{Ready: true}); n != 1 {
		t.Errorf("the target serves %d", n)
	}
	s.Step(s.now)
	s.expect(t, "no wave waits for it", Complete, "")
}

// TestRevertWaitsForDeletionsOnly covers the return to the base of an unfinished rollout.
func TestRevertWaitsForDeletionsOnly(t *testing.T) {
	how := settings(kind.Sizes("1", "1")...)
	how.IsRevert = true
	s := begin(how, Record{}, changing(5))
	if n := s.serve(Outcome{Refused: "no"}); n != 5 {
		t.Errorf("the target serves %d", n)
	}
	s.Step(s.now)
	s.expect(t, "all at once", Complete, "")
	begin(how, Record{}, deleting(changing(5), 1, claim)).expect(t, "a claim", Stopped, Deletes)
}

func TestRestart(t *testing.T) {
	s := begin(settings(kind.Sizes("2")...), Record{}, changing(5))
	s.serve(Outcome{})
	s.now = s.now.Add(deadline)
	s.Step(s.now)
	record := ParseRecord(s.Record().String())
	if diff := cmp.Diff(s.Record(), record); diff != "" {
		t.Fatalf("the record is changed by writing and reading it:\n%s", diff)
	}
	if d := New(settings(), record, start).Choose(resource(0)); !d.Undecided {
		t.Errorf("restarted, before the previews: %+v", d)
	}
	again := changing(5)
	again[0].Reached, again[1].Reached = true, true
	s = begin(settings(kind.Sizes("2")...), record, again)
	s.expect(t, "restarted", Stopped, NotReady)
	if n := s.serve(Outcome{}); n != 2 {
		t.Errorf("the target serves %d", n)
	}
	s.approve(t, Approval{})
	record = s.Record()
	if record.NotReady != 2 {
		t.Errorf("passed: %v", record.Passed)
	}
	if got := s.run(Outcome{Ready: true}); !cmp.Equal(got, []int{4, 5}) {
		t.Errorf("the remaining waves have %v", got)
	}
}

// TestApprovedAfterRestart covers a resource of which every child was refused. It carries no
// mark, so after a restart it is not reached. The approval applies to it nevertheless.
func TestApprovedAfterRestart(t *testing.T) {
	s := begin(settings(kind.Sizes("1")...), Record{}, changing(2))
	s.serve(Outcome{Refused: "no"})
	s.expect(t, "refused", Stopped, Refused)
	s = begin(settings(kind.Sizes("1")...), ParseRecord(s.Record().String()), changing(2))
	s.expect(t, "restarted", Stopped, Refused)
	s.approve(t, Approval{})
	s.serve(Outcome{Refused: "no"})
	s.Step(s.now)
	s.expect(t, "refused again", Running, "")
}

// TestLatestMarkServes covers resources whose children carry several revisions. A folder that
// returns is another revision, so its old marks do not count as reached.
func TestLatestMarkServes(t *testing.T) {
	a, b, aAgain := Revision{1, "aaaa"}, Revision{2, "bbbb"}, Revision{3, "aaaa"}
	record := Record{Revisions: []Revision{a, b, aAgain}, State: Running}
	for _, tt := range []struct {
		name  string
		marks []Revision
		want  Revision
	}{
		{"no marks", nil, a},
		{"mark of the base", []Revision{a}, a},
		{"marks of both", []Revision{a, b}, b},
		{"mark of another installation", []Revision{{7, "ffff"}}, a},
	} {
		if got := record.Serving(tt.marks); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if Reached(aAgain, tt.marks, true, true) {
			t.Errorf("%s: counts as reached by %s", tt.name, aAgain)
		}
	}
	if !Reached(b, []Revision{a, b}, true, true) || !Reached(b, []Revision{a}, false, true) || Reached(b, []Revision{a}, false, false) {
		t.Error("reached means: a child carries the target, or only the revision before would change something")
	}
}
