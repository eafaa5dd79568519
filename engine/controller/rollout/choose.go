package rollout

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Resource is one custom resource as it is now.
type Resource struct {
	Name       types.NamespacedName
	UID        types.UID
	Generation int64
	// Labels are its own, by which a wave may select it.
	Labels map[string]string
	// Paused: nothing of it is changed for now.
	Paused bool
}

// A Decision is which version serves a resource.
type Decision struct {
	// New: the version that is rolled out; else the one that it had.
	New bool
	// Failed says why the new version cannot serve it; "" if it could.
	Failed string
	// Changes: the new version is going to change it.
	Changes bool
	// NotPreviewed: it is not as it was tried, so a preview of it is wanted, once it is
	// due.
	NotPreviewed bool
}

// isNew reports whether the new version serves the member.
func (m *member) isNew(r *Rollout) bool { return m.taken || r.state == Complete }

// find returns the member that this very resource is; nil if it is none: it came
// while the rollout ran, and the new version serves it from the beginning.
func (r *Rollout) find(o Resource) *member {
	if m := r.members[o.Name]; m != nil && m.UID == o.UID {
		return m
	}
	return nil
}

// see takes up how a resource is now, and returns its member, if it is one. What
// is made while the rollout runs is served by the new version from the beginning;
// what is made while it is stopped becomes a member, to be tried and reached as
// those that were there before.
func (r *Rollout) see(o Resource) *member {
	if m := r.find(o); m != nil {
		m.labels, m.paused = o.Labels, o.Paused
		if m.seen != o.Generation {
			m.seen = o.Generation
			r.recordEdit(m)
		}
		return m
	}
	switch uid, came := r.came[o.Name]; {
	case came && uid == o.UID:
		return nil
	case r.state == Stopped:
		return r.join(o)
	}
	if r.Left(o.Name); !o.Paused {
		r.came[o.Name] = o.UID
	}
	return nil
}

// maxEdits is how many edits of a resource send it back to its preview. Otherwise a
// resource that is edited all the time would keep the rollout from its end.
const maxEdits = 2

// isEditedOften reports whether edits no longer send the member back to its preview. In a
// revert, none does.
func (r *Rollout) isEditedOften(m *member) bool {
	return r.settings.Back && m.edits > 0 || m.edits > maxEdits
}

// recordEdit records that a member was edited. The first edits of a member that the new
// version does not serve send it back to its preview, but not out of a wave that changes
// it. After that, it counts as changed by the new version: its wave moves it as it is, and
// what no preview counted still needs MayDelete. A member that was never previewed, or whose
// last preview failed, is previewed again in any case, and at once.
func (r *Rollout) recordEdit(m *member) {
	m.edits++
	switch isOften := r.isEditedOften(m); {
	case m.isNew(r):
	case !isOften || m.joined || m.Error != "":
		m.notPreviewed, m.due = true, isOften
	default:
		if m.notPreviewed = false; m.Same {
			m.Same = false
			r.order = append(r.order, m.Name)
		}
	}
}

// join makes a resource a member that is to be tried, in place of an earlier one
// of its name.
func (r *Rollout) join(o Resource) *member {
	r.drop(o.Name)
	m := &member{Preview: Preview{Name: o.Name, UID: o.UID}, seen: o.Generation, notPreviewed: true, joined: true, paused: o.Paused,
		labels: o.Labels}
	r.members[o.Name] = m
	return m
}

// Missed takes up a resource when the previews have been made and nothing is served
// by them yet: what was made or changed meanwhile is to be tried too.
func (r *Rollout) Missed(o Resource) {
	if uid, came := r.came[o.Name]; r.find(o) == nil && (!came || uid != o.UID) {
		r.join(o)
		return
	}
	r.see(o)
}

// Look takes up how a resource is now. Before a step that may end the rollout it
// is to be called for all.
func (r *Rollout) Look(o Resource) { r.see(o) }

// Choose decides about a resource that is about to be served. What its author
// changes never decides that: it is served by the version that it has, and tried
// again before the new one may serve it.
func (r *Rollout) Choose(o Resource) Decision {
	m := r.see(o)
	if m == nil {
		return Decision{New: true}
	}
	if m.taken = m.taken || r.mayMove(m); m.isNew(r) {
		return Decision{New: true}
	}
	return Decision{Failed: m.Error, Changes: m.counts() && m.Error == "", NotPreviewed: m.notPreviewed}
}

// An Outcome is what came of serving a resource.
type Outcome struct {
	// Digest is that of the version which served it.
	Digest string
	// Ready reports whether it is ready now, Failed whether a child of it failed, so that
	// it will not become so by waiting.
	Ready, Failed bool
	// WouldBeReady reports whether it is not Ready only since this reconciliation wrote.
	WouldBeReady bool
	// Refused says which child the API refuses for its content, Forbidden which
	// one it forbids; "" for none.
	Refused, Forbidden string
}

// Served takes up what came of serving a resource that is not paused.
func (r *Rollout) Served(o Resource, came Outcome) {
	m := r.find(o)
	if m == nil || came.Digest != r.settings.Digest {
		return
	}
	// Where edits go on, each reconciliation may write.
	m.served, m.ready, m.failed = true, came.Ready || came.WouldBeReady && r.isEditedOften(m), came.Failed
	m.settled = m.settled || came.Ready
	if !m.ready {
		m.readySince = time.Time{}
	}
	if m.forbidden = ""; !m.Refused {
		m.forbidden = came.Forbidden
	}
	m.refused = came.Refused != "" && !m.Refused && !m.Same
	switch {
	case m.refused && m.forgiven:
		m.forced = true
	case m.refused:
		r.stop(Refused, came.Refused)
	}
}

// Left takes up that a resource need not be waited for any more: it is gone,
// or it is not the one that was tried.
func (r *Rollout) Left(name types.NamespacedName) {
	if m := r.members[name]; m != nil {
		m.left = true
	}
}

// NotPreviewed are the members that are to be tried, again or for the first time,
// before the new version may serve them.
func (r *Rollout) NotPreviewed() []types.NamespacedName {
	return r.which(func(m *member) bool { return m.notPreviewed && !m.left })
}

// Due takes up that the version which a resource has has served it as it is now,
// or cannot: only then a preview tells all that the new one would take away.
func (r *Rollout) Due(o Resource) {
	if m := r.find(o); m != nil && m.seen == o.Generation {
		m.due = true
	}
}

// ToPreview are those of the untried that are due.
func (r *Rollout) ToPreview() []types.NamespacedName {
	return r.which(func(m *member) bool { return m.notPreviewed && m.due && !m.left })
}

// Previewed takes up a later trial: of a resource that could not be rendered, or
// that is not as it was tried before. What it changes belongs to a wave that is
// to come, unless its own has come already. A preview of an earlier generation counts until
// there is a later one; of a member that is edited often, there may never be.
func (r *Rollout) Previewed(t Preview) {
	m := r.members[t.Name]
	if m == nil || m.UID != t.UID || m.left || m.isNew(r) {
		return
	}
	isStale, isOften := t.Generation != m.seen, r.isEditedOften(m)
	if isStale && isOften && !m.notPreviewed { // it counts as changed
		return
	}
	if !m.joined {
		t.Ready = m.Ready
	}
	m.Preview, m.notPreviewed, m.joined = t, isStale && !isOften, false
	changes := t.Error == "" && !t.Same
	switch due := slices.Contains(r.order, t.Name); {
	case changes && !due:
		r.order = append(r.order, t.Name)
	case !changes && due:
		r.drop(t.Name)
	}
	r.check()
}

// drop takes a resource out of the waves.
func (r *Rollout) drop(name types.NamespacedName) {
	i := slices.Index(r.order, name)
	if i < 0 {
		return
	}
	r.order = slices.Delete(r.order, i, i+1)
	if i < r.released {
		r.released--
	}
	if i < r.first {
		r.first--
	}
	r.members[name].released = false
}

// MayDelete says why a child may not be deleted now, since that comes of the new
// version and was not counted when its resource was tried: that a child has to
// be recreated is known only once the API says so, and what a template reads may
// have changed. It counts like any child that the new version does not want.
func (r *Rollout) MayDelete(o Resource, c Child) error {
	m := r.find(o)
	if m == nil || m.mayDelete(c) || r.state == Complete || r.approved[deletion{m.UID, c}.key()] || r.replaced[c] {
		return nil
	}
	if holdsData(c) || tooMany(r.counted()+1, r.children) {
		r.ask(m, c)
		r.stop(Deletes, fmt.Sprintf("%s would be deleted, which shows only now; what may be deleted", c))
		return fmt.Errorf("the rollout of the changed folder waits for approval: it would delete %s", c)
	}
	r.replaced[c] = true
	return nil
}

// ask lists a child for approval; one that is to be recreated with its like in
// resources that the new version has not made yet, since it will say the same of
// these.
func (r *Rollout) ask(m *member, c Child) {
	if m.asks(c); !slices.Contains(m.Replace, c) {
		return
	}
	for _, other := range r.members {
		for _, like := range other.Replace {
			if like.GroupKind == c.GroupKind && !other.left && !other.mayDelete(like) && !r.replaced[like] {
				other.asks(like)
			}
		}
	}
}

func (m *member) asks(c Child) {
	if !slices.Contains(m.asked, c) {
		m.asked = append(m.asked, c)
	}
}

// mayDelete reports whether the rollout has nothing to say of a child's deletion: it
// was counted by the preview, or it comes of an edit, since the new version has
// served the resource well before. Of a resource that was as the new version
// wants it when this process began nobody knows which version had served it; so
// there precious children are asked for.
func (m *member) mayDelete(c Child) bool {
	if m.unsure {
		return !holdsData(c)
	}
	return m.settled || slices.Contains(m.Lost, c)
}
