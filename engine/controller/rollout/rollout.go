package rollout

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Rollout is one version of a folder on its way to the resources of a kind. It must
// not be used by several goroutines at once.
type Rollout struct {
	settings Settings
	members  map[types.NamespacedName]*member
	// came are resources that are no members and are served by the new version:
	// they came while the rollout ran.
	came map[types.NamespacedName]types.UID
	// order are those that change, as they are reached; the first released of
	// them may change, those from first on belong to the present wave.
	order           []types.NamespacedName
	first, released int
	wave            int
	// waves is how many waves the present one stands for: what an earlier process had
	// reached is waited for as one.
	waves        int
	began, since time.Time
	children     int
	// replaced are children whose deletion no trial had counted, and that were
	// few enough.
	replaced map[Child]bool
	state    State
	reason   Reason
	message  string
	// approved are things that a person has approved of, allWaves reasons for
	// which no wave stops any more.
	approved set
	allWaves map[Reason]bool
	// namespaces are labels of namespaces, for the wave that is about to begin, and
	// wants is whether it waits for them.
	namespaces map[string]map[string]string
	wants      bool
}

// A member is a resource that was there when the rollout began, or that was made while
// it was stopped.
type member struct {
	Preview
	// released: its wave has come; taken: the new version serves it, or is just
	// about to. What was not taken when the rollout stopped stays as it is.
	released, taken bool
	// served: the new version has served it; ready, failed and refused say how it was
	// then: whether a child failed, and whether the API refused a child that it did not
	// refuse before.
	served, ready, failed, refused bool
	// forgiven: a person approved of refusals in its wave; forced: the rollout
	// went past it although it was not ready.
	forgiven, forced bool
	// settled: the new version has made all of it, so what is deleted later comes
	// of an edit. unsure: it was taken since it was found as the new version wants
	// it, and the version that had served it is not here.
	settled, unsure bool
	// notPreviewed: it is to be tried again, since it was made or edited, and joined: it
	// was never tried. seen is its latest generation, and due that it may be tried.
	notPreviewed, joined, due bool
	seen                      int64
	// edits counts the edits during the rollout.
	edits int
	// asked are children whose deletion waits for approval and that no trial had
	// counted.
	asked []Child
	// forbidden says which child the API forbids that it did not forbid before.
	// The right to it may be on its way, as when folder and roles are applied one
	// after the other, so that is waited for as readiness is.
	forbidden string
	// left: it is gone.
	left bool
	// paused: nobody knows when it will change, so it is not waited for; it
	// stays on the version that it has.
	paused bool
	// readySince is since when the new version has it ready, as far as was seen; zero
	// while it is not.
	readySince time.Time
	// labels are those of the resource.
	labels map[string]string
	// resumed: the new version had reached it before this process began.
	resumed bool
}

// counts reports whether the new version changes the resource, or has done so.
func (m *member) counts() bool { return (!m.Same || m.resumed) && !m.left && !m.paused }

// well reports whether the new version has served the resource and it is as ready as
// it was before.
func (m *member) well() bool { return m.served && m.forbidden == "" && (m.ready || !m.Ready) }

// over reports whether the resource need not be waited for.
func (r *Rollout) over(m *member) bool {
	switch {
	case m.left || m.paused:
		return true
	case !m.served || m.forced:
		return m.served
	case m.forbidden != "":
		return r.goesOn(Refused)
	}
	return m.well() || r.goesOn(NotReady)
}

// Begin begins a rollout with the previews of all resources. before is the record
// of an earlier process, or the zero Record: what was approved for this digest
// stays approved, and what stopped it still does.
func Begin(trials []Preview, settings Settings, before Record, now time.Time) *Rollout {
	r := &Rollout{
		settings: settings, state: Running, began: now, since: now,
		members: map[types.NamespacedName]*member{}, came: map[types.NamespacedName]types.UID{}, replaced: map[Child]bool{}, approved: set{},
		allWaves: map[Reason]bool{},
	}
	if before.Digest != settings.Digest {
		before = Record{}
	}
	r.resume(before)
	maps.Copy(r.approved, readSet(settings.Approved))
	had := ReadSet(before.Reached)
	var unserved []Preview
	var reached []types.NamespacedName
	for _, t := range trials {
		if t.Unserved {
			unserved = append(unserved, t)
			continue
		}
		resumed := had.Has(t.UID) || t.Error == "" && t.Mine && before.Digest != ""
		if resumed { // a version that served it before goes on, whatever it can render now
			t.Error = ""
		}
		alike := t.Error == "" && t.Same && t.Alone || resumed
		r.members[t.Name] = &member{Preview: t, seen: t.Generation, taken: alike, unsure: alike, labels: t.Labels,
			resumed: resumed, released: resumed}
		r.children += t.Children
		switch {
		case resumed:
			reached = append(reached, t.Name)
		case t.Error == "" && !t.Same:
			r.order = append(r.order, t.Name)
		}
	}
	slices.SortFunc(reached, ByName)
	slices.SortFunc(r.order, ByName)
	r.order, r.released, r.waves = append(reached, r.order...), len(reached), max(before.Wave, 1)
	r.check()
	switch {
	case before.State != Stopped:
	case before.Reason == Paused:
		r.wave = before.Wave
		fallthrough
	case before.Reason == NotReady || before.Reason == Refused:
		r.stop(before.Reason, before.Message)
	}
	for _, name := range before.ForcedNames() {
		if m := r.members[name]; m != nil {
			m.forced = true
		}
	}
	for _, t := range unserved {
		r.see(Resource{Name: t.Name, UID: t.UID, Generation: t.Generation, Labels: t.Labels})
	}
	return r
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
			isOver := now.Sub(r.since) >= r.settings.Rollout.ProgressDeadline.Duration
			if failed := r.failedOf(late); isOver && !r.tolerates(late) {
				r.stop(r.tooLate(late))
			} else if !isOver && len(failed) > 0 && !r.tolerates(failed) {
				r.stop(NotReady, "a child failed of "+listed(failed))
			}
			if r.state == Stopped || !isOver {
				break
			}
		}
		if !r.lasts(now) {
			break
		}
		if r.released == len(r.order) {
			r.finish()
			break
		}
		r.goPast()
		if r.pauses() {
			if r.stop(Paused, fmt.Sprintf("kind.yaml pauses it after wave %d", r.wave)); r.state == Stopped {
				break
			}
		}
		if r.wants = r.namespaces == nil && r.settings.wave(r.wave).NamespaceMatchLabels != nil; r.wants {
			break
		}
		r.first = r.released
		r.released += r.next()
		r.wave, r.waves, r.since = r.wave+1, 1, now
		for _, name := range r.order[r.first:r.released] {
			r.members[name].released = true
		}
	}
	return slices.Clone(r.order[start:r.released])
}

// Ends reports whether nothing is waited for any more, so that the next step may
// end the rollout: then every resource is served by the new version.
func (r *Rollout) Ends(now time.Time) bool {
	return r.state == Running && r.released == len(r.order) && len(r.late()) == 0 && r.lasts(now)
}

// finish ends a rollout whose waves are over, unless resources stay behind or are
// to be tried first. It does not wait for one that is edited often and failed.
func (r *Rollout) finish() {
	if len(r.which(func(m *member) bool { return m.notPreviewed && !m.left && (m.joined || !r.isEditedOften(m)) })) > 0 {
		return
	}
	if failed := r.unapproved(r.Failed()); len(failed) > 0 {
		r.stop(RenderFailed, r.failing(failed))
	}
	if r.state == Running {
		r.goPast()
		r.state = Complete
	}
}

// late are the resources that the present wave waits for.
func (r *Rollout) late() []types.NamespacedName {
	return slices.DeleteFunc(slices.Clone(r.order[r.first:r.released]), func(name types.NamespacedName) bool {
		return r.over(r.members[name])
	})
}

// tooLate says why a wave ends the rollout whose time is over.
func (r *Rollout) tooLate(late []types.NamespacedName) (Reason, string) {
	for _, name := range late {
		if m := r.members[name]; m.forbidden != "" {
			return Refused, fmt.Sprintf("%s (and still so after %s)", m.forbidden, r.settings.Rollout.ProgressDeadline.Duration)
		}
	}
	return NotReady, fmt.Sprintf("not ready again within %s: %s", r.settings.Rollout.ProgressDeadline.Duration, listed(late))
}

// listed names the first of some resources, and how many more there are.
func listed(names []types.NamespacedName) string {
	text := names[0].String()
	if more := len(names) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// failedOf returns those of the resources of which a child failed.
func (r *Rollout) failedOf(names []types.NamespacedName) []types.NamespacedName {
	return slices.DeleteFunc(slices.Clone(names), func(name types.NamespacedName) bool { return !r.members[name].failed })
}

// Awaited are the resources that the present wave waits for; none unless it
// runs.
func (r *Rollout) Awaited() []types.NamespacedName {
	if r.state != Running {
		return nil
	}
	return r.late()
}

// Reached are the resources that the new version serves, those that came since
// included.
func (r *Rollout) Reached() []types.UID {
	reached := slices.Collect(maps.Values(r.came))
	for _, m := range r.members {
		if m.isNew(r) {
			reached = append(reached, m.UID)
		}
	}
	return reached
}

// Holds are the resources that the new version serves or is about to, as a record
// keeps them.
func (r *Rollout) Holds() Set {
	uids := r.Reached()
	for _, m := range r.members {
		if !m.left && r.mayMove(m) {
			uids = append(uids, m.UID)
		}
	}
	return SetOf(uids)
}

// Resume lets the present wave take its time again, after the kind was paused.
func (r *Rollout) Resume(now time.Time) { r.since = now }
