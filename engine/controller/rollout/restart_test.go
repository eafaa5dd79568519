package rollout

import (
	"math/rand"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestRestartAnywhere plays random stories and restarts the rollout at random moments, from
// its record and from the marks on children. A resource that was reached stays with the
// target, no other resource is moved, and a stopped rollout stays stopped for the same
// reason.
func TestRestartAnywhere(t *testing.T) {
	restarts, stopped, approved := 0, 0, 0
	for seed := int64(0); seed < stories(20000); seed++ {
		rnd := rand.New(rand.NewSource(seed))
		how := settings([][]kind.Wave{kind.Sizes("1", "50%"), kind.Sizes("2"), {{Size: "2", Pause: true}}, nil}[rnd.Intn(4)]...)
		previews := changing(1 + rnd.Intn(12))
		for i := range previews {
			switch rnd.Intn(14) {
			case 0:
				previews[i].Failure, previews[i].Changes = "no", false
			case 1:
				previews[i].Changes = false
			case 2:
				previews[i].Deletes = []Child{{GroupKind: statefulSet, Namespace: "ns", Name: string(previews[i].UID)}}
			}
		}
		s := begin(how, Record{}, previews)
		for range 50 {
			switch op := rnd.Intn(20); {
			case op < 12:
				o := s.resources[rnd.Intn(len(s.resources))]
				out := Outcome{Revision: base, Ready: rnd.Intn(4) > 0}
				if s.Choose(o).Target {
					out.Revision = target
					if rnd.Intn(15) == 0 {
						out.Ready, out.Refused = false, "no"
					}
				}
				s.Served(o, out, s.now)
			case op < 16:
				s.now = s.now.Add([]time.Duration{0, time.Second, deadline}[rnd.Intn(3)])
				s.Step(s.now)
			case op < 18:
				if s.State() == Stopped {
					approved++
					s.Approve(Approval{Stop: s.Record().Stop}, s.now)
				}
			default:
				if s.State() == Complete {
					continue
				}
				restarts++
				record := ParseRecord(s.Record().String())
				again := make([]Preview, len(previews))
				reached := map[int]bool{}
				for i, p := range previews {
					m := s.members[p.UID]
					p.Reached = m.phase.ServedByTarget() && (m.phase != Moved || rnd.Intn(2) == 0)
					p.Changes = p.Changes && !(p.Reached && m.phase == Ready)
					again[i], reached[i] = p, p.Reached
				}
				s.Rollout = New(how, record, s.now)
				for i, o := range s.resources {
					if d := s.Choose(o); record.State != Previewing && !d.Undecided {
						t.Fatalf("seed %d: not previewed, and %+v", seed, d)
					}
					s.Previewed(again[i])
				}
				s.Start(s.now)
				if record.State == Stopped {
					stopped++
					if (s.state != Stopped || s.reason != record.Reason) && record.Reason != RenderFailed { // previews determine this again
						t.Fatalf("seed %d: was %s, is %s", seed, record, s.Record())
					}
				}
				for i, o := range s.resources {
					if got := s.Choose(o).Target; got != reached[i] && s.waves.number == 0 {
						t.Fatalf("seed %d: resource %d reached %v, target %v", seed, i, reached[i], got)
					}
				}
			}
		}
	}
	t.Log(restarts, "restarts,", stopped, "while stopped,", approved, "approvals")
}
