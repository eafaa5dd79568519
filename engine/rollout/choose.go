package rollout

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// A Resource is one custom resource as it is now.
type Resource struct {
	Name       types.NamespacedName
	UID        types.UID
	Generation int64
	// Paused: nothing of it is changed for now.
	Paused bool
}

// A Decision is which version serves a resource.
type Decision struct {
	// New: the version that is rolled out; else the one that it had.
	New bool
	// Failed says why the new version cannot serve it; "" if it could.
	Failed string
}

// isNew says whether the new version serves the member.
func (m *member) isNew(r *Rollout) bool {
	return r.state == Complete || m.taken || m.left || m.Edited || (m.Same && m.Error == "")
}

// find returns the member, or nil if the resource came or was changed by its
// author since the rollout began: the new version then serves it at once.
func (r *Rollout) find(o Resource) *member {
	m := r.members[o.Name]
	if m == nil || m.UID != o.UID || m.Generation != o.Generation || m.Edited || m.left {
		return nil
	}
	return m
}

// Choose decides about a resource that is about to be served.
func (r *Rollout) Choose(o Resource) Decision {
	m := r.find(o)
	if m == nil {
		r.serves(o)
		return Decision{New: true}
	}
	if m.paused = o.Paused; m.released && r.state == Running && !m.paused {
		m.taken = true
	}
	if m.isNew(r) {
		return Decision{New: true}
	}
	return Decision{Failed: m.Error}
}

// An Outcome is what came of serving a resource.
type Outcome struct {
	// Digest is that of the version which served it.
	Digest string
	// Ready says whether it is ready now.
	Ready bool
	// Refused says which child the API refuses for its content, Forbidden which
	// one it forbids; "" for none.
	Refused, Forbidden string
}

// Served takes up what came of serving a resource that is not paused.
func (r *Rollout) Served(o Resource, came Outcome) {
	if came.Digest != r.settings.Digest {
		return
	}
	m := r.find(o)
	if m == nil {
		return // Choose has taken that up
	}
	m.served, m.ready = true, came.Ready
	if m.forbidden = ""; !m.Refused {
		m.forbidden = came.Forbidden
	}
	if came.Refused != "" && !m.Refused && !m.Same {
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

// serves takes up that the new version serves a resource which is not the one
// that was tried, unless nothing of it is changed for now.
func (r *Rollout) serves(o Resource) {
	if r.Left(o.Name); r.members[o.Name] == nil && !o.Paused {
		r.came[o.Name] = true
	}
}

// Retried takes up a later trial of a resource that could not be rendered. Once
// it can, it belongs to the next wave.
func (r *Rollout) Retried(t Trial) {
	m := r.members[t.Name]
	if m == nil || m.Error == "" || m.left {
		return
	}
	if t.Ready = m.Ready; t.Error != "" {
		m.Error = t.Error
		return
	}
	m.Trial = t
	if !t.Same {
		r.order = append(r.order, t.Name)
		r.wanted = append(r.wanted, t.Lost...)
	}
	r.check()
}

// MayReplace says why a child may not be deleted now to be made anew, which the
// API asked for only when the new version was applied: it counts like a child
// that is not rendered any more.
func (r *Rollout) MayReplace(o Resource, c Child) error {
	if r.find(o) == nil || r.approved[Deletes] || r.replaced[c] {
		return nil
	}
	if isPrecious(c) || tooMany(len(r.wanted)+len(r.replaced)+1, r.children) {
		if r.state == Running {
			r.wanted = append(r.wanted, c)
		}
		r.stop(Deletes, fmt.Sprintf("%s would be deleted and made anew, since the API refuses to change it", c))
		return fmt.Errorf("the rollout of the changed folder waits for approval: it would delete %s and make it anew", c)
	}
	r.replaced[c] = true
	return nil
}
