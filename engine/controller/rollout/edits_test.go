package rollout

import (
	"math/rand"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestEditsNeverBlockAnywhere plays random rollouts and reverts in which resources are edited
// before and after every preview and every reconciliation. Every rollout completes while the
// edits continue, if each stop is approved and every resource becomes ready.
func TestEditsNeverBlockAnywhere(t *testing.T) {
	for seed := int64(0); seed < stories(5000); seed++ {
		random := rand.New(rand.NewSource(seed))
		how := settings([][]kind.Wave{kind.Sizes("1", "50%"), kind.Sizes("2"), {{Size: "2", Pause: true}}, nil}[random.Intn(4)]...)
		how.IsRevert = random.Intn(3) == 0
		s := &story{Rollout: New(how, Record{}, start), now: start}
		randomPreview := func(r Resource) Preview {
			p := Preview{UID: r.UID, Generation: r.Generation, Changes: random.Intn(4) > 0, WasReady: true, Children: 4}
			switch random.Intn(10) {
			case 0:
				p.Failure, p.Changes = "no such field", false
			case 1:
				p.Deletes = []Child{{GroupKind: statefulSet, Namespace: "ns", Name: string(r.UID)}}
			}
			return p
		}
		for i := range 1 + random.Intn(12) {
			s.resources = append(s.resources, resource(i))
			s.Observe(resource(i))
		}
		edit := func() {
			for i := range s.resources {
				if random.Intn(2) == 0 {
					s.resources[i].Generation++
					s.Observe(s.resources[i])
				}
			}
		}
		for n := 0; s.State() != Complete; n++ {
			if n == 200 {
				t.Fatalf("seed %d: not complete after %d passes: %s", seed, n, s.Record())
			}
			edit()
			toPreview := map[string]bool{}
			for _, name := range s.ToPreview() {
				toPreview[name.Name] = true
			}
			for _, r := range s.resources {
				if preview := randomPreview(r); toPreview[r.Name] {
					edit() // the preview is of an earlier generation now
					s.Previewed(preview)
				}
			}
			edit()
			s.serve(Outcome{Ready: true})
			edit()
			s.Step(s.now)
			if s.State() == Stopped {
				s.Approve(Approval{Stop: s.Record().Stop}, s.now)
			}
		}
	}
}
