package rollout

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// TestMinReadySeconds: the next wave begins once all resources of a wave have been
// ready for long enough without a break; one that becomes not ready stops the rollout
// at its deadline.
func TestMinReadySeconds(t *testing.T) {
	trials := ready(4)
	of := kind.Rollout{Waves: kind.Sizes("1", "2"), MinReadySeconds: 30}
	of.Waves[1].MinReadySeconds = ptr.To(60)
	r := Begin(trials, settingsOf(of), Record{}, start)
	well, ill := Outcome{Ready: true}, Outcome{}
	step := func(seconds, want int) []types.NamespacedName {
		t.Helper()
		names := r.Step(after(seconds))
		if len(names) != want {
			t.Errorf("after %d s %d resources are released, want %d", seconds, len(names), want)
		}
		return names
	}
	first := step(0, 1)
	serve(r, trials, first, well)
	step(1, 0)
	step(30, 0)
	serve(r, trials, first, ill)
	serve(r, trials, first, well) // between two steps
	step(31, 0)
	step(60, 0)
	second := step(61, 2) // ready since the step at 31
	serve(r, trials, second, well)
	step(70, 0)
	step(129, 0)
	last := step(130, 1)
	serve(r, trials, last, well)
	step(131, 0)
	serve(r, trials, last, ill)
	if step(160, 0); r.State() != Running {
		t.Errorf("it is %s while the last wave may become ready again", r.State())
	}
	if step(130+600, 0); r.State() != Stopped || r.Record().Reason != NotReady {
		t.Errorf("after the deadline: %s", r.Record())
	}
	r.Approve(Approval{Stop: r.Record().Stop()}, after(731))
	if step(731, 0); r.State() != Complete {
		t.Errorf("once it is approved: %s", r.Record())
	}
}

// TestMinReadySecondsOfOthers: what was not ready before, what is paused and what an
// approval goes past need not be ready for any time.
func TestMinReadySecondsOfOthers(t *testing.T) {
	trials := ready(3)
	trials[0].Ready = false
	r := Begin(trials, settingsOf(kind.Rollout{MinReadySeconds: 30}), Record{}, start)
	names := r.Step(start)
	serve(r, trials, names[:2], Outcome{})
	r.Look(Resource{Name: trials[2].Name, UID: trials[2].UID, Generation: 1, Paused: true})
	if r.Step(after(600)); r.State() != Stopped {
		t.Fatalf("one is not ready any more: %s", r.Record())
	}
	r.Approve(Approval{Stop: r.Record().Stop()}, after(601))
	if r.Step(after(601)); r.State() != Complete {
		t.Errorf("it waits: %s", r.Record())
	}
}

// TestPause: a rollout stops after a wave that says so, until that very pause is
// approved; the process may end meanwhile.
func TestPause(t *testing.T) {
	trials := ready(6)
	of := kind.Rollout{Waves: kind.Sizes("1", "2")}
	of.Waves[0].Pause, of.Waves[1].Pause = true, true
	r := Begin(trials, settingsOf(of), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	r.Step(after(1))
	first := r.Record()
	if first.State != Stopped || first.Reason != Paused || first.Done != 1 {
		t.Fatalf("after the first wave: %s", first)
	}
	trials[0].Same = true
	r = Begin(trials, settingsOf(of), first, after(2)) // another process
	if told := r.Record(); told.State != Stopped || told.Stop() != first.Stop() {
		t.Fatalf("in the next process: %s, want %s", told.Stop(), first.Stop())
	}
	if names := r.Step(after(3)); len(names) != 0 {
		t.Fatalf("%v are released before it is approved", names)
	}
	r.Approve(Approval{Stop: first.Stop()}, after(4))
	second := r.Step(after(4))
	if len(second) != 2 {
		t.Fatalf("the second wave is %v", second)
	}
	serve(r, trials, second, Outcome{Ready: true})
	r.Step(after(5))
	told := r.Record()
	if told.Reason != Paused || told.Stop() == first.Stop() {
		t.Fatalf("after the second wave: %s, and the first pause is %s", told, first.Stop())
	}
	r.Approve(Approval{Stop: told.Stop()}, after(6))
	last := r.Step(after(6))
	serve(r, trials, last, Outcome{Ready: true})
	if r.Step(after(7)); len(last) != 3 || r.State() != Complete {
		t.Errorf("the last wave is %v: %s", last, r.Record())
	}
}

// TestPauseGoesOn: after an approval for all waves no later one pauses, and a wave
// that nothing is left after does not.
func TestPauseGoesOn(t *testing.T) {
	trials := ready(3)
	of := kind.Rollout{Waves: kind.Sizes("1", "2")}
	of.Waves[0].Pause, of.Waves[1].Pause = true, true
	r := Begin(trials, settingsOf(of), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.Record().Reason != Paused {
		t.Fatalf("after the first wave: %s", r.Record())
	}
	r.Approve(Approval{Stop: r.Record().Stop(), AllWaves: true}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.State() != Complete {
		t.Errorf("after the last wave: %s", r.Record())
	}
}

// TestWavesOfLabels: a wave of labels has the resources that it selects, as they are
// labelled when it begins, and is left out where there are none.
func TestWavesOfLabels(t *testing.T) {
	trials := ready(6)
	for i, env := range []string{"prod", "dev", "prod", "test", "dev", ""} {
		trials[i].Labels = map[string]string{"env": env}
	}
	wave := func(env string) kind.Wave {
		return kind.Wave{MatchLabels: map[string]string{"env": env}, Pause: env == "none"}
	}
	r := Begin(trials, settingsOf(kind.Rollout{Waves: []kind.Wave{wave("dev"), wave("none"), wave("test"), {Size: "1"}}}), Record{}, start)
	r.Look(Resource{Name: trials[5].Name, UID: trials[5].UID, Generation: 1, Labels: map[string]string{"env": "test"}})
	for _, want := range [][]int{{1, 4}, {3, 5}, {0}, {2}} {
		names := r.Step(start)
		if !slices.EqualFunc(names, want, func(name types.NamespacedName, i int) bool { return name == named(i) }) {
			t.Fatalf("a wave is %v, want %v", names, want)
		}
		for _, i := range want {
			o := trials[i].resource()
			o.Labels = r.members[o.Name].labels
			r.Choose(o)
			r.Served(o, Outcome{Digest: "d", Ready: true})
		}
	}
	if r.Step(start); r.State() != Complete {
		t.Error(r.Record())
	}
}

// TestMaxFailures: in a large wave one resource that is not ready again stops nothing,
// unless kind.yaml says otherwise; what the API forbids does.
func TestMaxFailures(t *testing.T) {
	for _, tt := range []struct {
		n, ill int
		most   *int
		want   State
	}{
		{10, 1, nil, Stopped}, {11, 1, nil, Complete}, {11, 2, nil, Stopped},
		{11, 1, ptr.To(0), Stopped}, {3, 2, ptr.To(2), Complete}, {3, 3, ptr.To(2), Stopped},
	} {
		trials := ready(tt.n)
		r := Begin(trials, settingsOf(kind.Rollout{MaxFailures: tt.most}), Record{}, start)
		names := r.Step(start)
		serve(r, trials, names[tt.ill:], Outcome{Ready: true})
		serve(r, trials, names[:tt.ill], Outcome{})
		if r.Step(after(599)); r.State() != Running {
			t.Errorf("%d of %d: before the deadline %s", tt.ill, tt.n, r.State())
		}
		if r.Step(after(600)); r.State() != tt.want || tt.want == Complete && r.Record().NotReady != tt.ill {
			t.Errorf("%d of %d: %s, want %s", tt.ill, tt.n, r.Record(), tt.want)
		}
	}
	trials := ready(11)
	r := Begin(trials, settingsOf(kind.Rollout{}), Record{}, start)
	names := r.Step(start)
	serve(r, trials, names[1:], Outcome{Ready: true})
	serve(r, trials, names[:1], Outcome{Forbidden: "Secret a: forbidden"})
	if r.Step(after(600)); r.Record().Reason != Refused {
		t.Errorf("what is forbidden: %s", r.Record())
	}
}

// TestNamespaces: a wave may select by the labels of namespaces, which are read when it
// begins. Until they are, the rollout waits, and says why.
func TestNamespaces(t *testing.T) {
	trials := ready(4)
	for i := range trials {
		trials[i].Name.Namespace = []string{"a", "b"}[i%2]
		trials[i].Labels = map[string]string{"tier": []string{"web", "data"}[i/2]}
	}
	dev := map[string]string{"env": "dev"}
	r := Begin(trials, settingsOf(kind.Rollout{Waves: []kind.Wave{
		{MatchLabels: map[string]string{"tier": "data"}, NamespaceMatchLabels: dev}, {NamespaceMatchLabels: dev},
	}}), Record{}, start)
	if names := r.Step(start); len(names) > 0 || !r.WantsNamespaces() {
		t.Fatalf("%v are released before the labels of namespaces are known", names)
	}
	r.Namespaces(nil, errors.New("it is forbidden"))
	if names := r.Step(start); len(names) > 0 || !r.WantsNamespaces() || !strings.HasSuffix(r.Record().Text("things"), "wave 1 waits for the labels of namespaces: it is forbidden") {
		t.Fatalf("%v are released, and it says %q", names, r.Record().Text("things"))
	}
	for _, want := range [][]int{{3}, {1}, {0, 2}} {
		r.Namespaces(map[string]map[string]string{"b": dev}, nil)
		if told := r.Record().Message; told != "" {
			t.Errorf("it goes on and says %q", told)
		}
		names := r.Step(start)
		if !slices.EqualFunc(names, want, func(name types.NamespacedName, i int) bool { return name == trials[i].Name }) {
			t.Fatalf("a wave is %v, want %v", names, want)
		}
		if r.WantsNamespaces() {
			t.Error("it asks before the wave is over")
		}
		serve(r, trials, names, Outcome{Ready: true})
	}
	if r.Step(start); r.State() != Complete {
		t.Error(r.Record())
	}
}
