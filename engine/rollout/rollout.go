package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Rollout is one version of a folder on its way to the resources of a kind.
// It must not be used by several goroutines at once.
type Rollout struct {
	settings Settings
	members  map[types.NamespacedName]*member
	// came are resources that are no members and are served by the new version:
	// they came since the rollout began.
	came map[types.NamespacedName]bool
	// order are those that change, as they are reached; the first released of
	// them may change, those from first on belong to the present wave.
	order           []types.NamespacedName
	first, released int
	wave            int
	began, since    time.Time
	children        int
	// wanted are the children that it would delete; replaced those that were
	// deleted to be made anew.
	wanted   []Child
	replaced map[Child]bool
	state    State
	reason   Reason
	message  string
	approved map[Reason]bool
}

// A member is a resource that was there when the rollout began.
type member struct {
	Trial
	// released: its wave has come; taken: the new version serves it, or is just
	// about to. What was not taken when the rollout stopped stays as it is.
	released, taken bool
	// served: the new version has served it; ready says how it was then.
	served, ready bool
	// forbidden says which child the API forbids that it did not forbid before.
	// The right to it may be on its way, as when folder and roles are applied one
	// after the other, so that is waited for as readiness is.
	forbidden string
	// left: it is gone, or its author changed it: then the new version serves
	// it without being waited for.
	left bool
	// paused: nobody knows when it will change, so it is not waited for; it
	// stays on the version that it has.
	paused bool
}

// counts says whether the new version changes the resource.
func (m *member) counts() bool { return !m.Same && !m.Edited && !m.left && !m.paused }

// over says whether the resource need not be waited for.
func (m *member) over() bool {
	return m.left || m.paused || m.served && m.forbidden == "" && (m.ready || !m.Ready)
}

// Begin begins a rollout with the trials of all resources. before is the record
// of an earlier process, or the zero Record: what was approved for this digest
// stays approved, and what stopped it still does.
func Begin(trials []Trial, settings Settings, before Record, now time.Time) *Rollout {
	r := &Rollout{
		settings: settings, state: Running, began: now, since: now,
		members: map[types.NamespacedName]*member{}, came: map[types.NamespacedName]bool{}, replaced: map[Child]bool{}, approved: map[Reason]bool{},
	}
	if before.Digest == settings.Digest {
		for _, reason := range before.Approved {
			r.approved[reason] = true
		}
		if !before.Began.IsZero() {
			r.began = before.Began
		}
	}
	for _, t := range trials {
		r.members[t.Name] = &member{Trial: t}
		r.children += t.Children
		if t.Error == "" && !t.Edited {
			r.wanted = append(r.wanted, t.Lost...)
		}
		if t.Error == "" && !t.Same && !t.Edited {
			r.order = append(r.order, t.Name)
		}
	}
	slices.SortFunc(r.order, byName)
	slices.SortFunc(r.wanted, func(a, b Child) int { return strings.Compare(a.String(), b.String()) })
	r.check()
	if before.Digest == settings.Digest && before.State == Stopped && (before.Reason == NotReady || before.Reason == Refused) {
		r.stop(before.Reason, before.Message)
	}
	return r
}

// check stops a rollout that should not begin.
func (r *Rollout) check() {
	if failed := r.Failed(); len(failed)*10 > len(r.members) {
		r.stop(RenderFailed, r.failing(failed))
	}
	kinds := slices.ContainsFunc(r.wanted, isPrecious)
	if kinds || tooMany(len(r.wanted), r.children) {
		r.stop(Deletes, fmt.Sprintf("it would delete %d of %d children", len(r.wanted), r.children))
	}
}

// goOn lets a rollout go on that stopped for resources which can be rendered
// by now, were edited or are gone: once all are released, none may be left.
func (r *Rollout) goOn(now time.Time) {
	if r.state != Stopped || r.reason != RenderFailed {
		return
	}
	failed := len(r.Failed())
	if failed == 0 || r.released < len(r.order) && failed*10 <= len(r.members) {
		r.state, r.reason, r.message, r.since = Running, "", "", now
		r.check()
	}
}

// failing says which resources cannot be rendered. Why is for their own
// statuses: whoever may read the CRD may not be meant to read a resource.
func (r *Rollout) failing(names []types.NamespacedName) string {
	return fmt.Sprintf("%d of %d resources cannot be rendered and stay on the version they have, as %s, whose status says why",
		len(names), len(r.members), names[0])
}

// Failed are the resources that stay behind since the new version cannot render
// them.
func (r *Rollout) Failed() []types.NamespacedName {
	var names []types.NamespacedName
	for name, m := range r.members {
		if m.Error != "" && !m.left && !m.Edited {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, byName)
	return names
}

// stop stops the rollout, unless a person has approved this reason or it is
// stopped already.
func (r *Rollout) stop(reason Reason, message string) {
	if r.state == Running && !r.approved[reason] {
		r.state, r.reason, r.message = Stopped, reason, message
	}
}

// Approve lets a stopped rollout go on; it does not stop for that reason again.
func (r *Rollout) Approve(now time.Time) {
	if r.state != Stopped {
		return
	}
	r.approved[r.reason] = true
	r.state, r.reason, r.message, r.since = Running, "", "", now
	r.check()
}

// State returns how far the rollout is.
func (r *Rollout) State() State { return r.state }

// Step goes on as far as can be by now, and returns the resources that may
// change from now on.
func (r *Rollout) Step(now time.Time) []types.NamespacedName {
	r.goOn(now)
	start := r.released
	for r.state == Running {
		if late := r.late(); len(late) > 0 {
			if now.Sub(r.since) < r.settings.Deadline {
				break
			}
			r.stop(r.tooLate(late))
			if r.state == Stopped {
				break
			}
		}
		if r.released == len(r.order) {
			r.finish()
			break
		}
		r.first = r.released
		r.released = min(r.first+r.settings.size(r.wave, len(r.order)), len(r.order))
		r.wave, r.since = r.wave+1, now
		for _, name := range r.order[r.first:r.released] {
			r.members[name].released = true
		}
	}
	return slices.Clone(r.order[start:r.released])
}

// finish ends a rollout whose waves are over, unless resources stay behind.
func (r *Rollout) finish() {
	failed := r.Failed()
	if len(failed) > 0 {
		r.stop(RenderFailed, r.failing(failed))
	}
	if r.state == Running {
		r.state = Complete
	}
}

// late are the resources that the present wave waits for. Once a person has
// approved of resources that are not ready, it waits only until they are served.
func (r *Rollout) late() []types.NamespacedName {
	return slices.DeleteFunc(slices.Clone(r.order[r.first:r.released]), func(name types.NamespacedName) bool {
		m := r.members[name]
		if m.forbidden != "" && !r.approved[Refused] {
			return m.left || m.paused
		}
		return m.over() || m.served && (m.forbidden != "" || r.approved[NotReady])
	})
}

// tooLate says why a wave ends the rollout whose time is over.
func (r *Rollout) tooLate(late []types.NamespacedName) (Reason, string) {
	for _, name := range late {
		if m := r.members[name]; m.forbidden != "" && !r.approved[Refused] {
			return Refused, fmt.Sprintf("%s (and still so after %s)", m.forbidden, r.settings.Deadline)
		}
	}
	return NotReady, fmt.Sprintf("%d resources were not ready again within %s, as %s", len(late), r.settings.Deadline, late[0])
}

// Awaited are the resources that the present wave waits for; none unless it
// runs.
func (r *Rollout) Awaited() []types.NamespacedName {
	if r.state != Running {
		return nil
	}
	return r.late()
}

// Reached are the resources that the new version serves, those without change
// and those that came since included.
func (r *Rollout) Reached() []types.NamespacedName {
	reached := maps.Clone(r.came)
	for name, m := range r.members {
		if m.isNew(r) {
			reached[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(reached), byName)
}

// Resume lets the present wave take its time anew, after the kind was paused.
func (r *Rollout) Resume(now time.Time) { r.since = now }
