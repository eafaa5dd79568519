package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Resource is a custom resource as the cache shows it.
type Resource struct {
	types.NamespacedName
	UID        types.UID
	Generation int64
	Labels     map[string]string
	// Paused resources do not change, so no wave waits for them.
	Paused bool
}

// A Preview describes what the target would do to a resource. It is the result of rendering
// and planning without writing anything.
type Preview struct {
	UID types.UID
	// Generation is the resource's generation at the time of the preview.
	Generation int64
	// Reached is true if the target already served the resource before this process
	// started. The function Reached determines it.
	Reached bool
	// Changes is true if the target would write or delete anything.
	Changes bool
	// Failure is the reason why the target cannot render a resource that its present
	// revision renders; empty if it can.
	Failure string
	// WasReady and WasRefused describe the resource before the rollout. No wave waits for a
	// resource that was not ready, and none stops for a child that was refused already.
	WasReady, WasRefused bool
	// Children is the number of live children. The target does not want those in Deletes.
	// It changes those in Recreates, and the folder permits deleting and creating them again
	// if the API refuses the change.
	Children           int
	Deletes, Recreates []Child
}

// A Child identifies a child, for people and for approvals.
type Child struct {
	schema.GroupKind
	Namespace, Name string
	UID             types.UID
}

// String returns "Kind namespace/name", or "Kind name" for a cluster-scoped child.
func (c Child) String() string {
	if c.Namespace == "" {
		return c.Kind + " " + c.Name
	}
	return c.Kind + " " + c.Namespace + "/" + c.Name
}

// An Outcome is how one reconciliation of a resource ended.
type Outcome struct {
	// Revision served the resource.
	Revision Revision
	// Ready is true if the resource is ready and nothing is left to write. WouldBeReady is true
	// if it is not Ready only since this reconciliation wrote. Failed is true if a child
	// failed, so that the resource does not become ready by waiting.
	Ready, WouldBeReady, Failed bool
	// IsHeld is true if it is not ready only since children are kept that a person has to allow
	// to be deleted.
	IsHeld bool
	// Refused describes a child whose content the API refuses, Forbidden one that the
	// operator has no permission to write. They are empty if there is none.
	Refused, Forbidden string
}

// noWave is the wave of members that have not been released.
const noWave = -1

// maxEdits is how many edits of a resource send it back to its preview. Otherwise a
// resource that is edited all the time would block the rollout for ever.
const maxEdits = 2

// A member is a resource in a rollout.
type member struct {
	Preview
	name   types.NamespacedName
	labels map[string]string
	paused bool
	phase  Phase
	// wave is the wave that released the member. Wave 0 consists of the resources that the
	// target had reached before this process started.
	wave int
	// generation is the latest one observed, and served the latest one that the present
	// revision has finished serving. A preview of an unserved generation would count
	// children that the edit itself removes.
	generation, served int64
	// edits counts the edits during the rollout. Above editLimit, they no longer change the
	// phase.
	edits, editLimit int
	// readySince is the start of the current period of readiness, or zero.
	readySince time.Time
	// settled is true once the target has made the resource ready. Later deletions result
	// from edits, not from the rollout.
	settled bool
	// failed is true while a child has failed.
	failed bool
	// isHeld is true while it is not ready only since children are kept.
	isHeld bool
	// refused is true while the API refuses or forbids a child. forbidden is
	// Outcome.Forbidden: since roles may still be on their way, the wave waits.
	refused   bool
	forbidden string
	// unpreviewedDeletions were not in any preview and wait for approval.
	unpreviewedDeletions []Child
}

// hasPreview reports whether the member has been previewed at least once.
func (m *member) hasPreview() bool { return m.Generation > 0 }

// needsPreview reports whether the member's latest generation has to be previewed.
func (m *member) needsPreview() bool {
	return m.phase == Unpreviewed || m.phase == Failing && m.Generation != m.generation
}

// isEditedOften reports whether edits no longer send the member back to its preview.
func (m *member) isEditedOften() bool { return m.edits > m.editLimit }

// belongsToWave reports whether the member belongs to a wave: the target changes it, or
// would have changed it before the latest edit.
func (m *member) belongsToWave() bool {
	return m.phase.isChangedByTarget() || m.phase == Unpreviewed && m.Changes
}

// isFailing reports whether the target failed to render the member in its last preview.
func (m *member) isFailing() bool {
	return m.phase == Failing || m.phase == Unpreviewed && m.Failure != ""
}

// observeGeneration records an edit if the generation is new.
func (m *member) observeGeneration(generation int64) {
	if m.generation == generation {
		return
	}
	m.generation = generation
	m.edits++
	switch {
	case !m.isEditedOften():
		m.applyEvent(edited)
	case m.Failure != "":
		m.applyEvent(previewFailed)
	case m.hasPreview():
		m.applyEvent(editedOften)
	}
}

// applyEvent changes the phase according to the table of transitions.
func (m *member) applyEvent(e event) {
	next, found := transitions[m.phase][e]
	if !found {
		return
	}
	m.phase = next
	switch {
	case next == Waiting && m.wave != noWave:
		m.phase = Released // edited after its wave was released: it stays in that wave
	case next == Unchanged || next == Failing:
		m.wave = noWave
	}
}

// recordOutcome records how the target served the member, and reports whether the member is
// as ready as before the rollout.
func (m *member) recordOutcome(out Outcome, now time.Time) (isAsReady bool) {
	m.settled = m.settled || out.Ready
	// Where edits go on, each reconciliation may write.
	out.Ready = out.Ready || out.WouldBeReady && m.isEditedOften()
	switch {
	case !out.Ready:
		m.readySince = time.Time{}
	case m.readySince.IsZero():
		m.readySince = now
	}
	m.failed, m.isHeld = out.Failed, out.IsHeld
	if m.WasRefused {
		out.Refused, out.Forbidden = "", ""
	}
	m.forbidden = out.Forbidden
	m.refused = out.Refused != "" || out.Forbidden != ""
	if !m.refused && (out.Ready || !m.WasReady) {
		m.applyEvent(servedReady)
		return true
	}
	m.applyEvent(servedUnready)
	return false
}

// plannedDeletions returns the children that the target deletes or has deleted.
func (m *member) plannedDeletions() []Child {
	if m.isFailing() {
		return m.unpreviewedDeletions
	}
	return slices.Concat(m.Deletes, m.unpreviewedDeletions)
}

// remainingDeletions returns the planned deletions, without those that were previewed and
// have been carried out.
func (m *member) remainingDeletions() []Child {
	if m.phase.ServedByTarget() && m.phase != Moved {
		return m.unpreviewedDeletions
	}
	return m.plannedDeletions()
}

// expectDeletion lists a deletion that no preview counted.
func (m *member) expectDeletion(c Child) {
	if !slices.Contains(m.unpreviewedDeletions, c) && !slices.Contains(m.Deletes, c) {
		m.unpreviewedDeletions = append(m.unpreviewedDeletions, c)
	}
}

// members are all resources of a rollout.
type members map[types.UID]*member

// selectMembers returns the members that match, sorted by namespace and name.
func (all members) selectMembers(match func(*member) bool) []*member {
	var found []*member
	for _, m := range all {
		if match(m) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *member) int {
		return cmp.Or(strings.Compare(a.name.Namespace, b.name.Namespace), strings.Compare(a.name.Name, b.name.Name))
	})
	return found
}

// inPhase returns the members in a phase.
func (all members) inPhase(p Phase) []*member {
	return all.selectMembers(func(m *member) bool { return m.phase == p })
}

// inWave returns the members of a wave.
func (all members) inWave(n int) []*member {
	return all.selectMembers(func(m *member) bool { return m.wave == n })
}

// withNames returns the members with these names.
func (all members) withNames(names []types.NamespacedName) []*member {
	return all.selectMembers(func(m *member) bool { return slices.Contains(names, m.name) })
}

// countPreviewable counts the members that existed before the rollout was running.
func (all members) countPreviewable() int { return len(all) - len(all.inPhase(Created)) }

// countChildren counts the children that the members had at their previews.
func (all members) countChildren() (n int) {
	for _, m := range all {
		n += m.Children
	}
	return n
}

// countProgress returns how many members the target changes, how many of them it serves,
// and how many of those are ready.
func (all members) countProgress() (total, moved, ready int) {
	for _, m := range all {
		if !m.phase.isCounted() || m.paused {
			continue
		}
		total++
		if m.phase.ServedByTarget() {
			moved++
		}
		if m.phase == Ready {
			ready++
		}
	}
	return total, moved, ready
}

// memberNames returns the names of members.
func memberNames(all []*member) []types.NamespacedName {
	names := make([]types.NamespacedName, len(all))
	for i, m := range all {
		names[i] = m.name
	}
	return names
}
