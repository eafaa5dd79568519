package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// check stops a rollout that should not begin.
func (r *Rollout) check() {
	failed := r.Failed()
	if open := r.unapproved(failed); len(open) > 0 && len(failed)*10 > len(r.members) {
		r.stop(RenderFailed, r.failing(open))
	}
	wanted := r.wanted()
	if all := r.counted(); slices.ContainsFunc(wanted, deletion.holdsData) || len(wanted) > 0 && tooMany(all, r.children) {
		r.stop(Deletes, fmt.Sprintf("it would delete %d of %d children", all, r.children))
	}
}

// A deletion is a child that the new version would delete, and its resource.
type deletion struct {
	of types.UID
	Child
}

func (d deletion) holdsData() bool { return holdsData(d.Child) }

// wanted are the deletions that nobody has approved and that are yet to come, by
// name.
func (r *Rollout) wanted() []deletion {
	var all []deletion
	for _, m := range r.members {
		for _, c := range m.wants(true) {
			if d := (deletion{m.UID, c}); !r.approved[d.key()] {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b deletion) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(string(a.UID), string(b.UID)))
	})
	return all
}

// counted is how many children the new version deletes in all, those of resources
// that it has served included.
func (r *Rollout) counted() int {
	n := len(r.replaced)
	for _, m := range r.members {
		n += len(m.wants(false))
	}
	return n
}

// wants are the children that the new version would delete; ahead leaves out
// those that a preview counted of a resource which it has served.
func (m *member) wants(ahead bool) []Child {
	switch {
	case m.left:
		return nil
	case m.Error != "" || ahead && m.taken && m.served:
		return m.asked
	}
	return slices.Concat(m.Lost, m.asked)
}

// goOn lets a rollout go on that stopped for resources which can be rendered
// by now, were edited or are gone: once all are released, none may be left.
func (r *Rollout) goOn(now time.Time) {
	if r.state != Stopped || r.reason != RenderFailed {
		return
	}
	failed := len(r.unapproved(r.Failed()))
	if failed == 0 || r.released < len(r.order) && failed*10 <= len(r.members) {
		r.state, r.reason, r.message, r.since = Running, "", "", now
		r.check()
	}
}

// Halt stops a rollout that a person rolled back, while the revision to return to cannot be
// used; why says so. "" lets it go on. An approval does not.
func (r *Rollout) Halt(why string, now time.Time) {
	switch {
	case why != "" && (r.state == Running || r.reason == RollbackFailed):
		r.state, r.reason, r.message = Stopped, RollbackFailed, why
	case why == "" && r.reason == RollbackFailed:
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
	return r.which(func(m *member) bool { return m.Error != "" && !m.left })
}

// which are the members for which something is so, by name.
func (r *Rollout) which(so func(*member) bool) []types.NamespacedName {
	var names []types.NamespacedName
	for name, m := range r.members {
		if so(m) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, ByName)
	return names
}

// stop stops the rollout, unless no wave stops for this reason any more or it is
// stopped already.
func (r *Rollout) stop(reason Reason, message string) {
	if r.state == Running && !r.goesOn(reason) {
		r.state, r.reason, r.message = Stopped, reason, message
	}
}

// goesOn reports whether the rollout does not stop for a reason.
func (r *Rollout) goesOn(reason Reason) bool {
	return r.allWaves[reason] || r.settings.Back && reason != Deletes
}
