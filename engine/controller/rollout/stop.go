package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// progress is how far a rollout is, what may stop it, and why it is stopped.
type progress struct {
	settings  Settings
	approvals *approvals
	failures  failures
	deletions deletions

	state   State
	reason  Reason
	message string
	// stoppedBy are the resources that caused the stop: see Record.StoppedBy.
	stoppedBy []types.NamespacedName
}

// State returns how far the rollout is.
func (p *progress) State() State { return p.state }

// run starts or resumes a rollout, unless it would fail for, or delete, more than a person may want
// to repair.
func (p *progress) run() {
	p.state, p.reason, p.message, p.stoppedBy = Running, "", "", nil
	p.stopIfHarmful()
}

// stopIfHarmful stops a running rollout that would fail for, or delete, more than a person
// may want to repair.
func (p *progress) stopIfHarmful() {
	if failing := p.failures.unapprovedFailures(); p.failures.areTooMany() {
		p.stopFor(RenderFailed, p.failures.explainFailures(failing))
	}
	if p.deletions.needApproval() {
		p.stopFor(Deletes, p.deletions.explainDeletions())
	}
}

// completeOrStop completes the rollout after its last wave, unless resources would be left behind
// without an approval.
func (p *progress) completeOrStop() {
	if failing := p.failures.unapprovedFailures(); len(failing) > 0 {
		p.stopFor(RenderFailed, p.failures.explainFailures(failing))
	}
	if p.state == Running {
		p.state = Complete
	}
}

// stopFor stops a running rollout, unless the reason no longer stops it.
func (p *progress) stopFor(reason Reason, message string, by ...*member) {
	isIgnored := p.approvals.isApprovedForAllWaves(reason) || p.settings.IsRevert && reason != Deletes
	if p.state == Running && !isIgnored {
		p.recordStop(reason, message, by...)
	}
}

// recordStop records why the rollout stops. The resources that caused the stop are recorded, so
// that an approval still applies to them after a restart.
func (p *progress) recordStop(reason Reason, message string, by ...*member) {
	p.state, p.reason, p.message, p.stoppedBy = Stopped, reason, message, memberNames(by)
}

// stopName identifies the present stop by the target, the reason and, where two stops can
// have the same reason, their subject.
func (p *progress) stopName(wave int) string {
	target := p.settings.Target()
	switch p.reason {
	case Deletes:
		var keys []string
		for _, one := range p.deletions.unapprovedDeletions() {
			keys = append(keys, one.approvalKey())
		}
		return deletionsStop(target, keys)
	case Paused:
		return fmt.Sprintf("%s/%s/wave-%d", target.Digest, p.reason, wave)
	}
	return fmt.Sprintf("%s/%s", target.Digest, p.reason)
}

// deletionsStop identifies the stop for the deletions with these keys.
func deletionsStop(target Revision, keys []string) string {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	return fmt.Sprintf("%s/%s/%s", target.Digest, Deletes, hashOf(keys...))
}

// failures are the resources that the target cannot render.
type failures struct {
	members   members
	approvals *approvals
}

// unapprovedFailures returns the failing members that have not been approved to be left behind.
func (f failures) unapprovedFailures() []*member {
	return f.members.selectMembers(func(m *member) bool { return m.isFailing() && !f.approvals.hasKey(failureKey(m.UID)) })
}

// areTooMany reports whether more than a tenth of the members fail, and some of them have
// not been approved.
func (f failures) areTooMany() bool {
	failing := f.members.selectMembers((*member).isFailing)
	return len(f.unapprovedFailures()) > 0 && len(failing)*10 > f.members.countPreviewable()
}

// areRepaired reports whether a rollout that stopped for failing members may continue: they
// were edited or deleted, or can be rendered. If only failing members are left, all of them
// have to be repaired.
func (f failures) areRepaired(othersAreLeft bool) bool {
	failing := len(f.unapprovedFailures())
	return failing == 0 || othersAreLeft && failing*10 <= f.members.countPreviewable()
}

// explainFailures names resources but gives no reasons. Those are in the statuses: people who may
// read the CRD may not be permitted to read the resources.
func (f failures) explainFailures(failing []*member) string {
	return fmt.Sprintf("%d of %d resources cannot be rendered and stay on the version they have, as %s, whose status says why",
		len(failing), len(f.members), failing[0].name)
}

// fewDeletions do not need an approval because of their number. In a kind with a handful
// of children, every renamed child is more than a tenth of them. People who have to approve
// every step stop reading what they approve.
const fewDeletions = 3

// protectedKinds are kinds whose deletion always needs an approval: no template can restore
// their contents, or a workload stops.
var protectedKinds = []schema.GroupKind{
	{Kind: "PersistentVolumeClaim"},
	{Kind: "Namespace"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	{Group: "apps", Kind: "StatefulSet"},
}

// isProtected reports whether the deletion of a child always needs an approval.
func isProtected(c Child) bool { return slices.Contains(protectedKinds, c.GroupKind) }

// areTooManyDeletions reports whether the number of deletions needs an approval: more than
// a tenth of all children.
func areTooManyDeletions(deletions, children int) bool {
	return deletions > fewDeletions && deletions*10 > children
}

// A deletion is a child of a resource that the target would delete.
type deletion struct {
	owner types.UID
	child Child
}

// approvalKey identifies the deletion among approvals. It includes the child's uid.
func (d deletion) approvalKey() string { return deletionKey(d.owner, d.child.UID, d.child.String()) }

func deletionKey(owner, child types.UID, name string) string {
	return hashOf("delete", string(owner), string(child), name)
}

// deletions are the children that the target deletes, for good or to create them again.
type deletions struct {
	members   members
	approvals *approvals
	// uncounted children were deleted although no preview had counted them, since they were
	// few enough to need no approval.
	uncounted map[Child]bool
}

// unapprovedDeletions returns the remaining deletions that have not been approved.
func (d deletions) unapprovedDeletions() []deletion {
	var open []deletion
	for _, m := range d.members {
		for _, c := range m.remainingDeletions() {
			if one := (deletion{m.UID, c}); !d.approvals.hasKey(one.approvalKey()) {
				open = append(open, one)
			}
		}
	}
	slices.SortFunc(open, func(a, b deletion) int {
		return cmp.Or(strings.Compare(a.child.String(), b.child.String()), strings.Compare(string(a.owner), string(b.owner)))
	})
	return open
}

// countAll counts all deletions of the rollout, including those already carried out.
func (d deletions) countAll() int {
	n := len(d.uncounted)
	for _, m := range d.members {
		n += len(m.plannedDeletions())
	}
	return n
}

// needApproval reports whether the rollout has to stop for an approval of deletions.
func (d deletions) needApproval() bool {
	open := d.unapprovedDeletions()
	return slices.ContainsFunc(open, func(one deletion) bool { return isProtected(one.child) }) ||
		len(open) > 0 && areTooManyDeletions(d.countAll(), d.members.countChildren())
}

// explainDeletions describes how much the rollout would delete.
func (d deletions) explainDeletions() string {
	return fmt.Sprintf("it would delete %d of %d children", d.countAll(), d.members.countChildren())
}

// mayDelete reports whether a child of a member may be deleted now. It counts deletions
// that no preview counted, and allows them while they are few.
func (d deletions) mayDelete(m *member, c Child) bool {
	switch {
	case m.settled || m.phase == Created:
		return true
	case d.uncounted[c] || d.approvals.hasKey(deletion{m.UID, c}.approvalKey()):
		return true
	case slices.Contains(m.Deletes, c): // where a process before had moved it, nobody may have approved that
		return !m.Reached || !d.needApproval()
	case isProtected(c) || areTooManyDeletions(d.countAll()+1, d.members.countChildren()):
		return false
	}
	d.uncounted[c] = true
	return true
}

// expectDeletion lists a child for approval. If it has to be recreated, the same probably applies to
// children of its kind in other resources: they are listed too, so that one approval is
// enough.
func (d deletions) expectDeletion(m *member, c Child) {
	m.expectDeletion(c)
	if !slices.Contains(m.Recreates, c) {
		return
	}
	for _, other := range d.members {
		for _, similar := range other.Recreates {
			if similar.GroupKind == c.GroupKind && !other.settled && !d.uncounted[similar] && !slices.Contains(other.Deletes, similar) {
				other.expectDeletion(similar)
			}
		}
	}
}
