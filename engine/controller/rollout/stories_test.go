package rollout

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestStories plays random stories of rollouts: resources are served, edited and paused, waves
// go by number and by label, people approve. After each event, the state, the wave, the number
// of deletions and each choice must be those that testdata/stories.txt has a hash of, a line
// for each story.
//
// The hashes are those of the package that this one replaced, which had some twenty booleans for
// each resource. It differed on purpose in what the stories leave out:
//
//   - More than two edits of a resource send it back to its preview no longer.
//   - A refusal that arrives after an approval, or while the rollout is stopped, counts by
//     what the resource is then.
//   - A resource that can be rendered only later joins a wave by its name.
//   - Deleted resources no longer count for the tenth that may fail, nor for percentages.
//   - If a wave tolerates a resource that has not been served yet, and a pause follows, the
//     wave waits for the resource once more.
//   - An approval of refusals for all waves also covers the deadline.
//   - minReadySeconds count from the moment of readiness, not from the next look.
//   - An approval of one resource alone moves nothing that the target does not change.
//   - After a restart, the marks on children tell which resources were reached.
func TestStories(t *testing.T) {
	file, err := os.Open("testdata/stories.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	played := int64(0)
	for ; lines.Scan(); played++ {
		s := newRandomStory(played)
		for range 60 {
			s.playEvent()
		}
		if got := fmt.Sprintf("%x", s.answers.Sum(nil)[:6]); got != lines.Text() {
			t.Fatalf("story %d is told otherwise:\n%v", played, s.log)
		}
	}
	if played < 2000 {
		t.Errorf("%d stories", played)
	}
}

// A randomStory is a rollout to which random things happen.
type randomStory struct {
	random    *rand.Rand
	now       time.Time
	settings  kind.Rollout
	rollout   *Rollout
	resources []Resource
	previews  map[types.UID]Preview // the first preview of each resource
	latest    map[types.UID]Preview // the latest one
	edits     map[types.UID]int
	approved  bool
	log       []string
	answers   hash.Hash
}

func newRandomStory(seed int64) *randomStory {
	s := &randomStory{now: start, random: rand.New(rand.NewSource(seed)), previews: map[types.UID]Preview{}, latest: map[types.UID]Preview{},
		edits: map[types.UID]int{}, answers: sha256.New()}
	waves := [][]kind.Wave{kind.Sizes("1", "50%"), kind.Sizes("2"), {{Size: "2", Pause: true}}, {{MatchLabels: map[string]string{"env": "dev"}}}, nil}
	s.settings = kind.Rollout{Waves: waves[s.random.Intn(len(waves))], ProgressDeadline: metav1.Duration{Duration: deadline}}
	s.random.Intn(3) // stories with maxFailures took it
	s.rollout = New(Settings{Revisions: []Revision{base, target}, Rollout: s.settings}, Record{}, s.now)
	for i := range 1 + s.random.Intn(14) {
		r := resource(i)
		if s.random.Intn(3) == 0 {
			r.Labels = map[string]string{"env": "dev"}
		}
		preview := s.makePreview(r)
		s.resources, s.previews[r.UID] = append(s.resources, r), preview
		s.rollout.Observe(r)
		s.preview(preview)
		s.logf("%s %v: %+v", r.Name, r.Labels, preview)
	}
	s.rollout.Step(s.now)
	s.answerState()
	return s
}

func (s *randomStory) logf(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *randomStory) answer(values ...any) { _, _ = fmt.Fprintln(s.answers, values...) }

func (s *randomStory) answerState() {
	now := s.rollout.Record()
	s.answer(string(now.State), string(now.Reason), now.Wave, now.DeletionCount)
}

func (s *randomStory) makePreview(r Resource) Preview {
	kinds := []schema.GroupKind{configMap, configMap, configMap, statefulSet}
	preview := Preview{UID: r.UID, Generation: r.Generation, WasReady: true, Children: 4}
	switch s.random.Intn(8) {
	case 0:
		preview.Failure = "no such field"
	case 1:
	default:
		preview.Changes = true
		if s.random.Intn(6) == 0 {
			gk := kinds[s.random.Intn(len(kinds))]
			preview.Deletes = []Child{{GroupKind: gk, Namespace: "ns", Name: fmt.Sprint("child-", r.UID), UID: r.UID}}
		}
	}
	return preview
}

func (s *randomStory) preview(p Preview) {
	s.latest[p.UID] = p
	s.rollout.Previewed(p)
}

// playEvent plays one random event.
func (s *randomStory) playEvent() {
	i := s.random.Intn(len(s.resources))
	switch op := s.random.Intn(23); {
	case op < 10:
		s.serve(s.resources[i])
	case op < 15:
		s.now = s.now.Add([]time.Duration{0, time.Second, 40 * time.Second, deadline}[s.random.Intn(4)])
		for range 2 {
			released, _ := s.rollout.Step(s.now)
			s.logf("step at %s: %v", s.now.Format(time.TimeOnly), released)
		}
	case op < 16:
		s.edit(&s.resources[i])
	case op < 18:
		s.previewAgain()
	case op < 19:
		s.approve()
	case op < 21:
	default:
		s.resources[i].Paused = s.random.Intn(4) == 0
		s.logf("paused %s=%v", s.resources[i].Name, s.resources[i].Paused)
		s.rollout.Observe(s.resources[i])
	}
	s.answerState()
}

func (s *randomStory) serve(r Resource) {
	isTarget := s.rollout.Choose(r).Target
	out := Outcome{Revision: base, Ready: s.random.Intn(4) > 0}
	mayRefuse := !s.approved && s.rollout.State() == Running
	if isTarget {
		out.Revision = target
		switch s.random.Intn(12) {
		case 0:
			if mayRefuse {
				out.Refused, out.Ready = "refused", false
			}
		case 1:
			if mayRefuse {
				out.Forbidden, out.Ready = "forbidden", false
			}
		}
	}
	s.logf("serve %s target=%v %+v", r.Name, isTarget, out)
	if s.answer(isTarget); !r.Paused {
		s.rollout.Served(r, out, s.now)
	}
}

func (s *randomStory) edit(r *Resource) {
	if s.edits[r.UID]++; s.edits[r.UID] > maxEdits {
		return
	}
	r.Generation++
	s.logf("edit %s", r.Name)
	s.rollout.Observe(*r)
}

func (s *randomStory) previewAgain() {
	for _, name := range s.rollout.ToPreview() {
		r := s.resources[slices.IndexFunc(s.resources, func(r Resource) bool { return r.NamespacedName == name })]
		preview := s.makePreview(r)
		if len(s.settings.Waves) > 0 {
			first := s.previews[r.UID]
			preview.Failure, preview.Changes = first.Failure, first.Changes
		}
		s.logf("preview %s %+v", name, preview)
		s.preview(preview)
	}
}

func (s *randomStory) approve() {
	if s.rollout.State() != Stopped {
		return
	}
	a := Approval{Stop: s.rollout.Record().Stop, AllWaves: s.random.Intn(3) == 0 && s.rollout.Record().Reason == NotReady}
	if r := s.resources[s.random.Intn(len(s.resources))]; s.random.Intn(3) == 0 && s.latest[r.UID].Changes {
		a.Only, a.AllWaves = []string{r.NamespacedName.String()}, false
	}
	s.logf("approve %s", a)
	s.approved = true
	s.rollout.Approve(a, s.now)
}
