package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// largeWave is the size above which, by default, a wave tolerates one resource that does
// not become ready: one of many is usually broken for other reasons.
const largeWave = 10

// waves decide which members may change, and when the next ones may.
type waves struct {
	settings  Settings
	members   members
	approvals *approvals
	// number is how many waves have been released, and since is when the latest one was.
	number int
	since  time.Time
	// recoveredWaves is how many waves the present one stands for. After a restart, all
	// resources that were reached before form one wave, with the tolerance of all of them.
	recoveredWaves int
	// namespaces are the labels of all namespaces, for the next wave only.
	namespaces map[string]map[string]string
}

// settingsOf returns the settings of wave n, counted from 1. The zero Wave takes all resources that
// are left.
func (w *waves) settingsOf(n int) kind.Wave {
	if w.settings.IsRevert || n < 1 || n > len(w.settings.Rollout.Waves) {
		return kind.Wave{}
	}
	return w.settings.Rollout.Waves[n-1]
}

// unreleasedMembers returns the members that no wave has released, sorted by name. Members
// that were approved and moved on their own still join a wave, which then waits for them.
func (w *waves) unreleasedMembers() []*member {
	return w.members.selectMembers(func(m *member) bool { return m.wave == noWave && m.belongsToWave() })
}

// releaseNext releases the next wave. A wave that selects by labels may be empty.
func (w *waves) releaseNext(now time.Time) []*member {
	unreleased, next := w.unreleasedMembers(), w.settingsOf(w.number+1)
	var released []*member
	if next.ByLabels() {
		released = selectByLabels(unreleased, next, w.namespaces)
	} else {
		total := len(w.members.selectMembers((*member).belongsToWave))
		released = unreleased[:min(waveSize(next, total), len(unreleased))]
	}
	w.number, w.recoveredWaves, w.since, w.namespaces = w.number+1, 1, now, nil
	for _, m := range released {
		m.wave = w.number
		m.applyEvent(waveReleased)
	}
	return released
}

// waveSize returns the number of resources in a wave: at least one, with percentages of
// total rounded up.
func waveSize(w kind.Wave, total int) int {
	if w.Size == "" {
		return total
	}
	number, isPercent := strings.CutSuffix(w.Size, "%")
	n, err := strconv.Atoi(number)
	if err != nil { // kind.yaml was checked when it was loaded
		return 1
	}
	if isPercent {
		n = (n*total + 99) / 100
	}
	return max(n, 1)
}

func selectByLabels(from []*member, w kind.Wave, namespaces map[string]map[string]string) []*member {
	own, ofNamespace := labels.SelectorFromSet(w.MatchLabels), labels.SelectorFromSet(w.NamespaceMatchLabels)
	var selected []*member
	for _, m := range from {
		if own.Matches(labels.Set(m.labels)) && ofNamespace.Matches(labels.Set(namespaces[m.name.Namespace])) {
			selected = append(selected, m)
		}
	}
	return selected
}

// needsNamespaces reports whether the next wave selects by labels of namespaces that have
// not been provided yet.
func (w *waves) needsNamespaces() bool {
	return w.namespaces == nil && w.settingsOf(w.number+1).NamespaceMatchLabels != nil
}

// waitsFor reports whether a wave waits for members with this kind of problem.
func (w *waves) waitsFor(reason Reason) bool {
	return !w.settings.IsRevert && !w.approvals.isApprovedForAllWaves(reason)
}

// membersToWaitFor returns the members that the present wave is waiting for.
func (w *waves) membersToWaitFor() []*member {
	return w.members.selectMembers(func(m *member) bool {
		if m.wave != w.number || m.paused {
			return false
		}
		switch m.phase {
		case Unpreviewed, Released, Moved:
			return true
		case Unready:
			return m.forbidden != "" && w.waitsFor(Refused) || m.forbidden == "" && w.waitsFor(NotReady)
		}
		return false
	})
}

// untilDeadline returns how long the present wave may still take.
func (w *waves) untilDeadline(now time.Time) time.Duration {
	return w.settings.Rollout.ProgressDeadline.Duration - now.Sub(w.since)
}

// mayProceedWithout reports whether the next wave may be released although these members
// are late. A missing permission is never the problem of a single resource.
func (w *waves) mayProceedWithout(late []*member) bool {
	allowed := 0
	switch configured := w.settings.Rollout.MaxFailures; {
	case configured != nil:
		allowed = *configured
	case len(w.members.inWave(w.number)) > largeWave:
		allowed = 1
	}
	for _, m := range late {
		if m.forbidden != "" {
			return false
		}
	}
	return len(late) <= allowed*w.recoveredWaves
}

// explainLate returns why a wave that has exceeded its deadline stops the rollout.
func (w *waves) explainLate(late []*member) (Reason, string) {
	deadline := w.settings.Rollout.ProgressDeadline.Duration
	for _, m := range late {
		if m.forbidden != "" {
			return Refused, fmt.Sprintf("%s (and still so after %s)", m.forbidden, deadline)
		}
	}
	if !slices.ContainsFunc(late, func(m *member) bool { return m.phase != Unready || !m.isHeld }) {
		return PruneBlocked, fmt.Sprintf("not ready again within %s, since children are kept: %s", deadline, formatMembers(late))
	}
	return NotReady, fmt.Sprintf("not ready again within %s: %s", deadline, formatMembers(late))
}

// formatMembers names the first of some members, and how many more there are.
func formatMembers(some []*member) string {
	text := some[0].name.String()
	if more := len(some) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// selectFailed returns those of some members of which a child failed.
func selectFailed(some []*member) []*member {
	return slices.DeleteFunc(slices.Clone(some), func(m *member) bool { return !m.failed })
}

// passUnready marks the unready members of the present wave as passed, before the next wave
// is released without them.
func (w *waves) passUnready() {
	for _, m := range w.members.inWave(w.number) {
		if !m.paused {
			m.applyEvent(passed)
		}
	}
}

// untilReadyLongEnough returns how long the members of the present wave still have to stay
// ready to satisfy minReadySeconds.
func (w *waves) untilReadyLongEnough(now time.Time) (wait time.Duration) {
	seconds := w.settings.Rollout.MinReadySeconds
	if own := w.settingsOf(w.number).MinReadySeconds; own != nil {
		seconds = *own
	}
	if !w.waitsFor(NotReady) {
		return 0
	}
	for _, m := range w.members.inWave(w.number) {
		if m.phase == Ready && !m.paused && !m.readySince.IsZero() {
			wait = max(wait, time.Duration(seconds)*time.Second-now.Sub(m.readySince))
		}
	}
	return wait
}

// pausesNow reports whether kind.yaml requires an approval before the next wave.
func (w *waves) pausesNow() bool {
	return w.settingsOf(w.number).Pause && len(w.members.inWave(w.number)) > 0 && !w.approvals.hasKey(pauseKey(w.number))
}

// explainPause describes a pause after the present wave.
func (w *waves) explainPause() string {
	return fmt.Sprintf("kind.yaml pauses it after wave %d", w.number)
}
