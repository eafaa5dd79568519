package replicas

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// The model has three replicas and two buckets. Everything that a replica does is a step
// of its own, so that a replica that is paused, cut off or slow is one whose steps come
// late. What the server does, and what replicas decide, is the code under test.

const (
	modelReplicas = 3
	// duration is how many ticks a Lease is good; fence is for how many a replica writes
	// after a renewal. A clock may be a tick slow.
	duration, fence = 3, 2
)

// parts are what one replica at a time may serve: two kinds in two buckets, and the lead.
const (
	leads = 1 << iota
	dividedFirst
	dividedSecond
	exclusiveFirst
	exclusiveSecond
)

const exclusiveKind = "exclusive"

// A modelReplica is a replica in the model.
type modelReplica struct {
	up, isEnding bool
	// age is the time since its last renewal, by its own clock.
	age int8
	// division is what it has seen, by number, and fresh whether that is the newest.
	division int32
	fresh    bool
	// pending is the change that it sent and has had no answer to, and inFlight whether
	// that may be made still; -1: none.
	pending  int32
	inFlight bool
	// sees are the Leases that it has seen, gone those that the server said are gone.
	sees, gone [modelReplicas]bool
	// confirms are those of them that had seen the newest division then.
	confirms [modelReplicas]bool
	// since is the time since it saw the last renewal of a Lease, and unseen whether
	// there was one since.
	since  [modelReplicas]int8
	unseen [modelReplicas]bool
	// serves are the parts that it was told to serve, busy those that it works on.
	serves, busy uint8
}

// A world is a state of the model. It is a value.
type world struct {
	division int32
	leases   [modelReplicas]bool
	replicas [modelReplicas]modelReplica
	// Faults and changes that may still come.
	ticks, kills, lost, joins, ends, slow, turns int8
	wantExclusive                                bool
}

// A model explores worlds.
type model struct {
	divisions []Division
	numbers   map[string]int32
	// unfenced: replicas write as long as they believe that they may.
	unfenced bool
	names    [modelReplicas]string
	decided  map[known]decision
}

// known is all that a replica decides by.
type known struct {
	replica           int
	division, pending int32
	sees, gone        [modelReplicas]bool
	confirms          [modelReplicas]bool
	isEnding          bool
	wantExclusive     bool // what the leader wants
}

// A decision is what follows of it: what it serves, the change that it wants if it works
// on more than that or not (-1: none), whom it asks for, and whether it has something to
// give away.
type decision struct {
	serves        uint8
	busy, drained int32
	unsure        [modelReplicas]bool
	owns          bool
}

// decide runs the code under test, once for all that it decides by.
func (m *model) decide(w world, i int) decision {
	r := w.replicas[i]
	by := known{i, r.division, r.pending, r.sees, r.gone, r.confirms, r.isEnding, w.wantExclusive}
	d, is := m.decided[by]
	if is {
		return d
	}
	v := m.view(w, i)
	number := func(change *Division) int32 {
		if change == nil {
			return -1
		}
		return m.number(*change)
	}
	d = decision{serves: partsOf(v.presentShare()), busy: number(v.nextDivision(false)), drained: number(v.nextDivision(true)), owns: owns(v)}
	for j, name := range m.names {
		d.unsure[j] = slices.Contains(v.unseenReplicas(), name)
	}
	m.decided[by] = d
	return d
}

func newModel() *model {
	m := &model{numbers: map[string]int32{}, decided: map[known]decision{}}
	for i := range m.names {
		m.names[i] = fmt.Sprintf("replica-%d", i)
	}
	return m
}

func (m *model) number(d Division) int32 {
	text := d.clone().String()
	if n, known := m.numbers[text]; known {
		return n
	}
	m.divisions = append(m.divisions, d.clone())
	m.numbers[text] = int32(len(m.divisions) - 1)
	return m.numbers[text]
}

// begin is a world in which some replicas run, and have what they should.
func (m *model) begin(running int, w world) world {
	w.division = m.number(New(2))
	for i := range w.replicas {
		w.replicas[i].pending = -1
	}
	for i := range running {
		w = m.join(w, i)
	}
	return m.settle(w)
}

func (m *model) join(w world, i int) world {
	w.leases[i] = true
	w.replicas[i] = modelReplica{up: true, pending: -1}
	for j := range w.replicas {
		w.replicas[j].unseen[i] = true
	}
	return m.observe(w, i)
}

func (m *model) observe(w world, i int) world {
	r := &w.replicas[i]
	r.division, r.fresh, r.sees = w.division, true, w.leases
	if !r.inFlight {
		r.pending = -1
	}
	for j := range r.unseen {
		r.confirms[j] = w.replicas[j].fresh
		if r.unseen[j] {
			r.since[j], r.unseen[j] = 0, false
		}
	}
	return w
}

func (m *model) view(w world, i int) view {
	r := w.replicas[i]
	v := view{self: m.names[i], division: m.divisions[r.division], alive: map[string]bool{}, gone: map[string]bool{}, isEnding: r.isEnding,
		exclusive: map[string]bool{exclusiveKind: w.wantExclusive}, buckets: 2}
	if r.pending >= 0 {
		v.pending = &m.divisions[r.pending]
	}
	for j, name := range m.names {
		if r.sees[j] && j != i {
			v.alive[name] = r.confirms[j]
		}
		v.gone[name] = r.gone[j]
	}
	return v
}

// uidIn returns a uid in a bucket of two.
func uidIn(bucket int) types.UID {
	for n := 0; ; n++ {
		if uid := types.UID(fmt.Sprint("uid-", n)); bucketOf(uid, 2) == bucket {
			return uid
		}
	}
}

func partsOf(s Share) (parts uint8) {
	for part, is := range map[uint8]bool{
		leads: s.Leads, dividedFirst: s.Serves("divided", uidIn(0)), dividedSecond: s.Serves("divided", uidIn(1)),
		exclusiveFirst: s.Serves(exclusiveKind, uidIn(0)), exclusiveSecond: s.Serves(exclusiveKind, uidIn(1)),
	} {
		if is {
			parts |= part
		}
	}
	return parts
}

// fenced reports whether a replica may send nothing.
func (m *model) fenced(r modelReplica) bool { return !r.up || r.age >= fence && !m.unfenced }

// write makes a change of the division; who saw the one before cannot change it any more.
func (m *model) write(w world, d int32) world {
	w.division = d
	for i := range w.replicas {
		w.replicas[i].fresh, w.replicas[i].inFlight = false, false
	}
	return w
}

// act is one look of a replica. Its change is made and answered, or made without an
// answer, or is on its way.
func (m *model) act(w world, i int) []world {
	r := &w.replicas[i]
	d := m.decide(w, i)
	r.serves = d.serves
	r.busy |= r.serves
	n := d.busy
	if r.busy == r.serves {
		n = d.drained
	}
	switch {
	case r.isEnding && r.busy == 0 && n < 0 && r.fresh && r.pending < 0 && !d.owns:
		w.leases[i], r.up = false, false
		return []world{w}
	case n < 0 || !r.fresh || r.pending >= 0:
		return []world{w}
	}
	answered := m.read(m.write(w, n), i)
	outcomes := []world{answered}
	if w.lost > 0 {
		made, under := m.write(w, n), w
		made.lost, under.lost = w.lost-1, w.lost-1
		made.replicas[i].pending = n
		under.replicas[i].pending, under.replicas[i].inFlight = n, true
		outcomes = append(outcomes, m.again(made, i), m.again(under, i))
	}
	return outcomes
}

// again tells a replica what it serves after a change without answer.
func (m *model) again(w world, i int) world {
	w.replicas[i].serves = m.decide(w, i).serves
	return w
}

// read shows a replica the division, and no Leases.
func (m *model) read(w world, i int) world {
	r := &w.replicas[i]
	if r.division, r.fresh = w.division, true; !r.inFlight {
		r.pending = -1
	}
	return w
}

func owns(v view) bool {
	return v.division.Leader == v.self || slices.Contains(v.division.Owners, v.self)
}

// steps are all worlds that may follow.
func (m *model) steps(w world) map[string]world {
	next := map[string]world{}
	if w.ticks > 0 {
		for slow := -1; slow < modelReplicas; slow++ {
			if slow >= 0 && (w.slow == 0 || !w.replicas[slow].up) {
				continue
			}
			t := w
			t.ticks--
			for i := range t.replicas {
				if r := &t.replicas[i]; r.up {
					if i != slow {
						r.age = min(r.age+1, duration+1)
					}
					for j := range r.since {
						r.since[j] = min(r.since[j]+1, duration+1)
					}
				}
			}
			if slow >= 0 {
				t.slow--
			}
			next[fmt.Sprint("tick, slow ", slow)] = t
		}
	}
	if w.turns > 0 {
		t := w
		t.turns, t.wantExclusive = t.turns-1, !t.wantExclusive
		next["the rollout begins or ends"] = t
	}
	for i, r := range w.replicas {
		if r.inFlight {
			next[fmt.Sprint("the change arrives of ", i)] = m.write(w, r.pending)
		}
		if r.up {
			m.stepsOf(w, i, next)
		} else if w.joins > 0 && r.sees == ([modelReplicas]bool{}) {
			t := w
			t.joins--
			next[fmt.Sprint("begins ", i)] = m.join(t, i)
		}
	}
	return next
}

// stepsOf are the steps of one replica.
func (m *model) stepsOf(w world, i int, next map[string]world) {
	r := w.replicas[i]
	next[fmt.Sprint("sees ", i)] = m.observe(w, i)
	next[fmt.Sprint("reads ", i)] = m.read(w, i)
	for n, t := range m.act(w, i) {
		next[fmt.Sprint("acts ", i, " ", n)] = t
	}
	if w.leases[i] && r.age > 0 {
		t := w
		for j := range t.replicas {
			t.replicas[j].unseen[i] = true
		}
		unanswered := t
		t.replicas[i].age = 0
		next[fmt.Sprint("renews ", i)] = t
		if unanswered.lost > 0 {
			unanswered.lost--
			next[fmt.Sprint("renews without answer ", i)] = unanswered
		}
	}
	if r.busy != r.serves {
		t := w
		t.replicas[i].busy = r.serves
		next[fmt.Sprint("drains ", i)] = t
	}
	if w.kills > 0 {
		t := w
		t.kills--
		t.replicas[i].up = false
		next[fmt.Sprint("is killed ", i)] = t
	}
	if w.ends > 0 && !r.isEnding {
		t := w
		t.ends--
		t.replicas[i].isEnding = true
		next[fmt.Sprint("is told to end ", i)] = t
	}
	unsure := m.decide(w, i).unsure
	for j := range m.names {
		if t := w; i != j && r.sees[j] && r.since[j] >= duration && !r.unseen[j] && w.leases[j] {
			t.leases[j], t.replicas[i].sees[j] = false, false
			next[fmt.Sprint("deletes the Lease ", i, " of ", j)] = t
		}
		if t := w; unsure[j] && !w.leases[j] {
			t.replicas[i].gone[j] = true
			next[fmt.Sprint("asks ", i, " for ", j)] = t
		}
	}
}

// safe says which part two replicas may write now; "" if there is none.
func (m *model) safe(w world) string {
	var all uint8
	for _, r := range w.replicas {
		if m.fenced(r) {
			continue
		}
		if both := all & r.busy; both != 0 {
			return fmt.Sprintf("two replicas write %b", both)
		}
		all |= r.busy
	}
	return ""
}

// settle lets everybody who lives do all steps in turn, without faults, until nothing
// changes any more.
func (m *model) settle(w world) world {
	w.lost, w.kills, w.ends, w.joins, w.turns, w.slow = 0, 0, 0, 0, 0, 0
	for range 40 {
		w.ticks = 1
		w = m.steps(w)["tick, slow -1"]
		for i := range w.replicas {
			for _, step := range []string{"renews %d", "the change arrives of %d", "sees %d"} {
				if t, may := m.steps(w)[fmt.Sprintf(step, i)]; may {
					w = t
				}
			}
			for j := range w.replicas {
				for _, step := range []string{"deletes the Lease %d of %d", "asks %d for %d"} {
					if t, may := m.steps(w)[fmt.Sprintf(step, i, j)]; may {
						w = t
					}
				}
			}
			for _, step := range []string{"acts %d 0", "drains %d", "acts %d 0"} {
				if t, may := m.steps(w)[fmt.Sprintf(step, i)]; may {
					w = t
				}
			}
		}
	}
	return w
}

// served says what nobody serves though somebody lives; "" if all is served.
func (m *model) served(w world) string {
	var all uint8
	lives := false
	for i, r := range w.replicas {
		if r.up && w.leases[i] && !r.isEnding {
			lives = true
			all |= r.busy
		}
	}
	if most := uint8(leads | dividedFirst | dividedSecond | exclusiveFirst | exclusiveSecond); lives && all != most {
		return fmt.Sprintf("nobody serves %b", most&^all)
	}
	return ""
}

// explore looks at all worlds that can follow, at most so many, and returns how many there
// were, and a road to one that is wrong.
func (m *model) explore(from world, most int) (seen int, wrong []string) {
	type at struct {
		world
		road *road
	}
	seed := maphash.MakeSeed()
	known := map[uint64]bool{maphash.Comparable(seed, from): true}
	queue := []at{{from, nil}}
	for len(queue) > 0 && len(known) < most {
		now := queue[0]
		queue = queue[1:]
		next := m.steps(now.world)
		for _, name := range slices.Sorted(maps.Keys(next)) {
			w := next[name]
			h := maphash.Comparable(seed, w)
			if known[h] {
				continue
			}
			known[h] = true
			road := &road{name, now.road}
			if bad := m.safe(w); bad != "" {
				return len(known), append(road.steps(), bad)
			}
			queue = append(queue, at{w, road})
		}
		if len(known)%50 == 0 {
			if bad := m.served(m.settle(now.world)); bad != "" {
				return len(known), append(now.road.steps(), bad)
			}
		}
	}
	return len(known), nil
}

// A road is how a world came about.
type road struct {
	step string
	from *road
}

func (r *road) steps() (all []string) {
	for ; r != nil; r = r.from {
		all = append(all, r.step)
	}
	slices.Reverse(all)
	return all
}

// wander takes random steps for long, and returns the road to a world that is wrong.
func (m *model) wander(from world, steps int, random *rand.Rand) (wrong []string) {
	w := from
	var taken *road
	for range steps {
		next := m.steps(w)
		names := slices.Sorted(maps.Keys(next))
		if len(names) == 0 {
			break
		}
		name := names[random.IntN(len(names))]
		w, taken = next[name], &road{name, taken}
		if bad := m.safe(w); bad != "" {
			return append(taken.steps(), bad)
		}
	}
	if bad := m.served(m.settle(w)); bad != "" {
		return append(taken.steps(), bad)
	}
	return nil
}

// TestModel: whatever replicas do and in whatever order, with clocks that go slowly,
// answers that get lost and replicas that are killed, paused, ended and begun, no two
// write the same resource; and once nothing else happens, everything is served.
func TestModel(t *testing.T) {
	most := 60_000
	if testing.Short() {
		most = 20_000
	}
	for name, w := range map[string]world{
		"a replica is killed or paused":     {ticks: 5, kills: 1, slow: 1},
		"answers get lost":                  {ticks: 4, lost: 2},
		"a replica begins":                  {ticks: 2, joins: 1, lost: 1},
		"a replica ends":                    {ticks: 3, ends: 1, lost: 1},
		"a kind rolls out":                  {ticks: 1, turns: 3, lost: 1},
		"the leader of a rollout is killed": {ticks: 4, turns: 1, kills: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			seen, wrong := m.explore(m.ready(w), most)
			if wrong != nil {
				t.Fatal(strings.Join(wrong, "\n"))
			}
			t.Log(seen, "worlds")
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range most / 500 {
		m := newModel()
		w := m.ready(world{ticks: 30, kills: 2, lost: 5, joins: 1, ends: 1, slow: 1, turns: 3})
		if wrong := m.wander(w, 200, random); wrong != nil {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	}
}

// ready is a world in which two replicas of three have what they should, with the faults
// that may come.
func (m *model) ready(faults world) world {
	w := m.begin(2, world{})
	w.ticks, w.kills, w.lost, w.joins, w.ends, w.slow, w.turns = faults.ticks, faults.kills, faults.lost, faults.joins, faults.ends,
		faults.slow, faults.turns
	return w
}

// TestModelUnfenced: without the fence the model finds two writers.
func TestModelUnfenced(t *testing.T) {
	m := newModel()
	m.unfenced = true
	if _, wrong := m.explore(m.ready(world{ticks: 5}), 150_000); wrong == nil {
		t.Fatal("nothing is wrong without the fence: the model does not show what it is for")
	} else {
		t.Log(strings.Join(wrong, "\n"))
	}
}
