package rollout

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Settings determine what is rolled out, and how.
type Settings struct {
	// Revisions are those in the Record: the base first, the target last.
	Revisions []Revision
	// Rollout comes from the target's kind.yaml, with defaults filled in.
	Rollout kind.Rollout
	// IsRevert is set to return to the base of an unfinished rollout: all resources change at
	// once, and only deletions can stop it.
	IsRevert bool
	// Approved are deletions that a person approved with the rollback that this is: see
	// ApproveDeletions.
	Approved string
}

// Target returns the revision that is rolled out.
func (s Settings) Target() Revision { return s.Revisions[len(s.Revisions)-1] }

// A Rollout takes a revision to all resources of a kind. It is not safe for concurrent use.
type Rollout struct {
	progress
	members members
	waves   waves
	began   time.Time
	// previous is the record of this rollout by an earlier process, or zero.
	previous Record
	// halted is why nothing may move: see Halt.
	halted string
}

// New returns a rollout in state Previewing. If the record is about the same target, the
// rollout keeps its approvals, and whatever stopped it. The revisions must be recorded
// before the first call of Choose.
func New(settings Settings, record Record, now time.Time) *Rollout {
	all, approvals := members{}, newApprovals()
	isSameTarget := record.Target() == settings.Target()
	if isSameTarget {
		approvals = parseApprovals(record.Approved, record.AllWaves)
	}
	approvals.addKeys(settings.Approved)
	r := &Rollout{members: all, began: now,
		progress: progress{state: Previewing, settings: settings, approvals: approvals, failures: failures{all, approvals},
			deletions: deletions{all, approvals, map[Child]bool{}}},
		waves: waves{members: all, approvals: approvals, settings: settings, recoveredWaves: 1, since: now}}
	if !isSameTarget {
		return r
	}
	r.previous = record
	if !record.Began.IsZero() {
		r.began = record.Began
	}
	if record.State == Stopped && record.Reason == Paused {
		r.waves.number = record.Wave
	}
	return r
}

// Observe records the present state of a resource. While the rollout is running, a new
// resource belongs to the target; otherwise it belongs to the base, like all others.
func (r *Rollout) Observe(o Resource) {
	m := r.members[o.UID]
	if m == nil {
		m = &member{Preview: Preview{UID: o.UID}, name: o.NamespacedName, wave: noWave, generation: o.Generation}
		if r.settings.IsRevert {
			m.editLimit = 0
		} else {
			m.editLimit = maxEdits
		}
		if r.state == Running || r.state == Complete {
			m.phase = Created
		}
		r.members[o.UID] = m
	}
	m.labels, m.paused = o.Labels, o.Paused
	m.observeGeneration(o.Generation)
}

// ObserveAll records the present state of all resources, and forgets those that no longer
// exist.
func (r *Rollout) ObserveAll(all []Resource) {
	exist := map[types.UID]bool{}
	for _, o := range all {
		exist[o.UID] = true
		r.Observe(o)
	}
	for uid := range r.members {
		if !exist[uid] {
			delete(r.members, uid)
		}
	}
}

// Failing returns the resources that the target cannot render.
func (r *Rollout) Failing() []types.NamespacedName { return memberNames(r.members.inPhase(Failing)) }

// ToPreview returns the resources that need a preview now. Once the rollout has begun, an
// edited resource is first served by its present revision, unless it is edited often.
func (r *Rollout) ToPreview() []types.NamespacedName {
	return memberNames(r.members.selectMembers(func(m *member) bool {
		return m.needsPreview() && (r.state == Previewing || m.served == m.generation || m.isEditedOften())
	}))
}

// Previewed records a preview. It ignores previews of resources that the target serves
// already, and previews of earlier generations, unless the resource is edited often.
func (r *Rollout) Previewed(p Preview) {
	m := r.members[p.UID]
	if m == nil || m.phase.ServedByTarget() || p.Generation != m.generation && !m.isEditedOften() {
		return
	}
	if m.hasPreview() {
		p.WasReady, p.WasRefused = m.WasReady, m.WasRefused
	}
	m.Preview = p
	switch {
	case p.Reached && r.state == Previewing:
		m.wave = r.waves.number
		m.applyEvent(previewReached)
	case p.Failure != "":
		m.applyEvent(previewFailed)
	case p.Changes:
		m.applyEvent(previewChanged)
	default:
		m.applyEvent(previewUnchanged)
	}
	if r.state == Running {
		r.stopIfHarmful()
	}
}

// A Decision determines which revision serves a resource in one reconciliation.
type Decision struct {
	// Target is true if the target serves the resource; otherwise its present revision does.
	Target bool
	// Pending is true if the target is going to change the resource.
	Pending bool
	// Failure is the reason why the target cannot serve the resource, or empty.
	Failure string
	// Unpreviewed is true if the resource has yet to be previewed as it is.
	Unpreviewed bool
	// Undecided is true after a restart, until a preview shows whether the target has
	// reached the resource. Until then, no revision may serve it.
	Undecided bool
}

// Choose decides which revision serves a resource now. An edit never moves a resource to
// another revision.
func (r *Rollout) Choose(o Resource) Decision {
	r.Observe(o)
	m := r.members[o.UID]
	isApproved := r.approvals.isApprovedIndividually(m)
	if isApproved {
		m.applyEvent(waveReleased)
	}
	if !m.paused && (r.state == Running || isApproved && r.state == Stopped) {
		m.applyEvent(chosen)
	}
	switch {
	case m.phase.ServedByTarget() || r.state == Complete:
		return Decision{Target: true}
	case m.phase == Failing:
		return Decision{Failure: m.Failure}
	case r.state == Previewing && m.phase == Unpreviewed && r.IsResumed():
		return Decision{Undecided: true}
	}
	return Decision{Pending: m.phase.isCounted(), Unpreviewed: m.phase == Unpreviewed}
}

// IsResumed reports whether an earlier process may have taken the target to resources.
func (r *Rollout) IsResumed() bool { return r.previous.State != "" && r.previous.State != Previewing }

// Served records the outcome of a reconciliation.
func (r *Rollout) Served(o Resource, out Outcome, now time.Time) {
	m := r.members[o.UID]
	switch {
	case m == nil:
		return
	case out.Revision != r.settings.Target():
		m.served = o.Generation
		return
	case !m.phase.ServedByTarget() || m.paused:
		return
	}
	if isAsReady := m.recordOutcome(out, now); isAsReady || m.phase == Created {
		return
	}
	isRefused := out.Refused != "" && !m.WasRefused
	switch {
	case isRefused && !r.approvals.hasKey(refusalKey(m.UID)) && r.waves.waitsFor(Refused):
		r.stopFor(Refused, out.Refused, m)
	case isRefused || r.approvals.hasKey(unreadyKey(m.UID)):
		r.approvals.approveUnready(m)
	case m.wave != noWave && m.wave < r.waves.number && !m.settled:
		m.applyEvent(passed) // later waves have been released without it
	}
}

// Step advances the rollout as far as possible. It returns the resources that were
// released, and when the passing of time may allow another step; 0 means that only an event
// can.
func (r *Rollout) Step(now time.Time) (released []types.NamespacedName, wait time.Duration) {
	r.Start(now)
	if r.state == Stopped && r.reason == RenderFailed && r.failures.areRepaired(len(r.waves.unreleasedMembers()) > 0) {
		r.resumeRunning(now)
	}
	for r.state == Running {
		if late := r.waves.membersToWaitFor(); len(late) > 0 {
			remaining := r.waves.untilDeadline(now)
			if failed := selectFailed(late); remaining > 0 && len(failed) > 0 && !r.waves.mayProceedWithout(failed) {
				r.stopFor(NotReady, "a child failed of "+formatMembers(failed), failed...)
			} else if remaining <= 0 && !r.waves.mayProceedWithout(late) {
				reason, message := r.waves.explainLate(late)
				r.stopFor(reason, message, late...)
			}
			switch {
			case r.state == Stopped:
				return released, 0
			case remaining > 0:
				return released, remaining
			}
		}
		if wait := r.waves.untilReadyLongEnough(now); wait > 0 {
			return released, wait
		}
		r.waves.passUnready()
		if len(r.waves.unreleasedMembers()) == 0 {
			if len(r.members.inPhase(Unpreviewed)) == 0 {
				r.completeOrStop()
			}
			return released, 0
		}
		if r.waves.pausesNow() {
			if r.stopFor(Paused, r.waves.explainPause()); r.state == Stopped {
				return released, 0
			}
		}
		if r.NeedsNamespaces() {
			return released, 0
		}
		released = append(released, memberNames(r.waves.releaseNext(now))...)
	}
	return released, 0
}

// Start starts the waves once every resource has been previewed.
func (r *Rollout) Start(now time.Time) {
	if r.state != Previewing || len(r.members.inPhase(Unpreviewed)) > 0 {
		return
	}
	r.resumeRunning(now)
	if r.previous.State == Stopped && r.previous.Reason.MayApproveAllWaves() {
		r.stopFor(r.previous.Reason, r.previous.Message, r.members.withNames(parseNames(r.previous.StoppedBy))...)
	}
	if r.halted != "" {
		r.Halt(r.halted, now)
	}
	r.waves.recoveredWaves = max(r.previous.Wave, 1)
	passedBefore := parseNames(r.previous.Passed)
	for _, m := range r.members.inPhase(Moved) {
		if slices.Contains(passedBefore, m.name) {
			m.phase = Passed
		}
	}
}

// resumeRunning starts or resumes a rollout. Another reason may stop it again immediately.
func (r *Rollout) resumeRunning(now time.Time) {
	r.RestartDeadline(now)
	r.run()
}

// Halt stops a rollout that a person rolled back, while the revision to return to cannot be
// used; why says so. "" lets it continue. An approval does not.
func (r *Rollout) Halt(why string, now time.Time) {
	r.halted = why
	switch {
	case why != "" && (r.state == Running || r.reason == RollbackFailed):
		r.recordStop(RollbackFailed, why)
	case why == "" && r.reason == RollbackFailed:
		r.resumeRunning(now)
	}
}

// RestartDeadline restarts the deadline of the present wave, after the kind was paused.
func (r *Rollout) RestartDeadline(now time.Time) { r.waves.since = now }

// NeedsNamespaces reports whether the next wave needs the labels of namespaces. They are
// read again for each wave: see SetNamespaces.
func (r *Rollout) NeedsNamespaces() bool { return r.state == Running && r.waves.needsNamespaces() }

// SetNamespaces provides the labels of all namespaces by name, or the reason why they
// cannot be read.
func (r *Rollout) SetNamespaces(all map[string]map[string]string, err error) {
	r.waves.namespaces, r.message = all, ""
	if err != nil {
		r.waves.namespaces = nil
		r.message = fmt.Sprintf("wave %d waits for the labels of namespaces: %v", r.waves.number+1, err)
	}
}

// MayDelete returns an error if the target must not delete a child now, neither for good
// nor to create it again. A deletion that no preview counted, because only the API server
// knows that a field is immutable, counts like any other.
func (r *Rollout) MayDelete(o Resource, c Child) error {
	m := r.members[o.UID]
	if m == nil || r.state == Complete || r.deletions.mayDelete(m, c) {
		return nil
	}
	r.deletions.expectDeletion(m, c)
	r.stopFor(Deletes, fmt.Sprintf("%s would be deleted, which only became known during the rollout", c))
	return fmt.Errorf("the rollout of the changed folder waits for approval: it would delete %s", c)
}

// MayDeleteAbandoned returns the reason why a revision whose rollout was abandoned deletes no
// child: what its rollout waited for was never approved. The target of the present rollout
// decides what becomes of the child.
func MayDeleteAbandoned(c Child) error {
	return fmt.Errorf("it would delete %s, and the rollout of its folder was abandoned", c)
}

// Approve lets a stopped rollout continue past the deletions and resources that stopped it,
// and nothing else. It reports whether the approval applies to the present stop.
func (r *Rollout) Approve(a Approval, now time.Time) bool {
	if r.state != Stopped || !r.reason.MayApprove() || a.Stop != r.stopName(r.waves.number) {
		return false
	}
	if len(a.Only) > 0 {
		r.approvals.approveIndividually(r.members.withNames(parseNames(a.Only)))
		return true
	}
	if a.AllWaves && r.reason.MayApproveAllWaves() {
		r.approvals.allWaves[r.reason] = true
		r.approvals.allWaves[NotReady] = r.approvals.allWaves[NotReady] || r.reason == PruneBlocked
	}
	// Members that caused the stop before a restart may not have been released since.
	stoppedBefore := slices.DeleteFunc(r.members.withNames(r.stoppedBy), func(m *member) bool { return m.wave != noWave })
	switch r.reason {
	case Deletes:
		for _, d := range r.deletions.unapprovedDeletions() {
			r.approvals.addKey(d.approvalKey())
		}
	case RenderFailed:
		for _, m := range r.failures.unapprovedFailures() {
			r.approvals.addKey(failureKey(m.UID))
		}
	case NotReady, PruneBlocked:
		for _, m := range append(r.waves.membersToWaitFor(), stoppedBefore...) {
			r.approvals.approveUnready(m)
		}
	case Refused:
		for _, m := range append(r.members.inWave(r.waves.number), stoppedBefore...) {
			r.approvals.approveRefusal(m)
		}
	case Paused:
		r.approvals.addKey(pauseKey(r.waves.number))
	}
	r.resumeRunning(now)
	return true
}

// ServedResources returns the resources that the target serves.
func (r *Rollout) ServedResources() (all []types.UID) {
	for uid, m := range r.members {
		if r.state == Complete || m.phase.ServedByTarget() {
			all = append(all, uid)
		}
	}
	return all
}

// Record returns the present state of the rollout.
func (r *Rollout) Record() Record {
	out := Record{
		Revisions: r.settings.Revisions, State: r.state, Reason: r.reason, Message: r.message, Wave: r.waves.number,
		AllWaves: r.approvals.reasonsForAllWaves(), Approved: r.approvals.String(), Began: r.began,
	}
	switch r.state {
	case Stopped:
		out.Stop = r.stopName(r.waves.number)
	case Complete:
		out.Revisions = []Revision{r.settings.Target()}
	}
	if r.reason == Deletes {
		open := r.deletions.unapprovedDeletions()
		out.DeletionCount = len(open)
		for _, d := range open[:min(len(open), maxNamedDeletions)] {
			out.DeletionNames = append(out.DeletionNames, d.child.String())
		}
	}
	out.Total, out.Moved, out.Ready = r.members.countProgress()
	out.StoppedBy = formatNames(r.stoppedBy)
	return out.WithPassed(memberNames(r.members.inPhase(Passed)))
}
