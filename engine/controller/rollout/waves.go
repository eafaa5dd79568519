package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Settings are what is rolled out, and how.
type Settings struct {
	// Digest is that of the version which is rolled out.
	Digest string
	// Rollout is how, as kind.yaml says; here are no defaults.
	Rollout kind.Rollout
	// Back: the version is the one before an unfinished rollout, put back. It
	// goes to all at once and waits for nothing, but for approval of what it
	// deletes.
	Back bool
	// Approved are deletions that a person approved with the rollback that this is.
	Approved string
}

// wave is wave i; the zero Wave is the last one, of all that are left.
func (s Settings) wave(i int) kind.Wave {
	if s.Back || i < 0 || i >= len(s.Rollout.Waves) {
		return kind.Wave{}
	}
	return s.Rollout.Waves[i]
}

// size is how many resources a wave has when total change: at least one, and
// per cent are rounded up. After the last wave all are due.
func size(w kind.Wave, total int) int {
	if w.Size == "" {
		return total
	}
	number, percent := strings.CutSuffix(w.Size, "%")
	n, err := strconv.Atoi(number)
	if err != nil { // kind.yaml was checked when it was loaded
		return 1
	}
	if percent {
		n = (n*total + 99) / 100
	}
	return max(n, 1)
}

// WantsNamespaces reports whether the last step waits for Namespaces: the wave that is
// about to begin selects resources by the labels of their namespaces.
func (r *Rollout) WantsNamespaces() bool { return r.wants && r.state == Running }

// Namespaces takes up the labels of all namespaces, by their names, or why they cannot
// be read. The rollout waits until they are.
func (r *Rollout) Namespaces(all map[string]map[string]string, err error) {
	r.namespaces, r.message = all, ""
	if r.wants = err != nil; r.wants {
		r.message = fmt.Sprintf("wave %d waits for the labels of namespaces: %v", r.wave+1, err)
	}
}

// next is how many resources the wave that is about to begin has. Those that its
// labels select come first of what is left then.
func (r *Rollout) next() int {
	left, w := r.order[r.released:], r.settings.wave(r.wave)
	if !w.ByLabels() {
		return min(size(w, len(r.order)), len(left))
	}
	selects, within := labels.SelectorFromSet(w.MatchLabels), labels.SelectorFromSet(w.NamespaceMatchLabels)
	spaces := r.namespaces
	r.namespaces = nil // the next wave looks again
	var first, last []types.NamespacedName
	for _, name := range left {
		if selects.Matches(labels.Set(r.members[name].labels)) && within.Matches(labels.Set(spaces[name.Namespace])) {
			first = append(first, name)
		} else {
			last = append(last, name)
		}
	}
	copy(left, slices.Concat(first, last))
	return len(first)
}

// minReady is for how long the resources of the present wave must be ready.
func (r *Rollout) minReady() time.Duration {
	seconds := r.settings.Rollout.MinReadySeconds
	if own := r.settings.wave(r.wave - 1).MinReadySeconds; own != nil {
		seconds = *own
	}
	if r.goesOn(NotReady) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// lasts reports whether the resources of the present wave that are ready have been so
// for long enough. It notes since when they are.
func (r *Rollout) lasts(now time.Time) bool {
	lasts, least := true, r.minReady()
	for _, name := range r.order[r.first:r.released] {
		m := r.members[name]
		if m.left || m.paused || m.forced || !m.served || !m.ready {
			continue
		}
		if m.readySince.IsZero() {
			m.readySince = now
		}
		lasts = lasts && now.Sub(m.readySince) >= least
	}
	return lasts
}

// tolerates reports whether the present wave may leave these behind not ready. One of
// many may be so for its own reasons, and keeps a change from nobody else.
func (r *Rollout) tolerates(late []types.NamespacedName) bool {
	most := 0
	switch of := r.settings.Rollout.MaxFailures; {
	case of != nil:
		most = *of
	case r.released-r.first > manyInWave:
		most = 1
	}
	forbidden := func(name types.NamespacedName) bool { return r.members[name].forbidden != "" }
	return len(late) <= most*r.waves && !slices.ContainsFunc(late, forbidden)
}

// manyInWave is the size of waves beyond which one resource that is not ready stops
// nothing, unless kind.yaml says otherwise.
const manyInWave = 10

// pauses reports whether the rollout is to wait for a person after the present wave.
func (r *Rollout) pauses() bool {
	return r.settings.wave(r.wave-1).Pause && r.released > r.first && r.released < len(r.order) && !r.approved[pause(r.wave)]
}
