package controller

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// marksOf returns the revisions that the children of a resource carry, if that matters: a
// revision whose rollout was abandoned may serve it.
func (c versionChooser) marksOf(uid types.UID) []rollout.Revision {
	c.mu.Lock()
	_, isKnown := c.earlier[uid]
	matters := len(c.versions) > 2 && !isKnown
	c.mu.Unlock()
	if !matters {
		return nil
	}
	return c.readMarks(uid)
}

// presentOf returns the version that serves a resource which the rollout has not reached, and
// whether its rollout was abandoned. The caller must hold the mutex.
func (c *servingState) presentOf(uid types.UID, marks []rollout.Revision) (v servedVersion, isAbandoned bool) {
	earlier, isKnown := c.earlier[uid]
	for i := len(c.versions) - 2; i > 0; i-- {
		s := c.versions[i]
		if isKnown && s.Revision == earlier || !isKnown && slices.Contains(marks, s.Revision) {
			if c.earlier == nil {
				c.earlier = map[types.UID]rollout.Revision{}
			}
			c.earlier[uid] = s.Revision
			return s, true
		}
	}
	return c.versions[0], false
}

// chooseVersion chooses the version that serves a resource in this reconciliation.
func (c versionChooser) chooseVersion(o *unstructured.Unstructured) reconcile.Choice {
	choice, wakes := c.decideVersion(o, c.marksOf(o.GetUID()), c.isPaused())
	if wakes {
		c.wake()
	}
	return choice
}

// decideVersion chooses the version, and reports whether that lets the rollout continue.
func (c versionChooser) decideVersion(o *unstructured.Unstructured, marks []rollout.Revision, isPaused bool) (
	choice reconcile.Choice, wakes bool,
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.targetVersion()
	if c.rollout == nil {
		return reconcile.Choice{Version: target.version}, false
	}
	present, isAbandoned := c.presentOf(o.GetUID(), marks)
	decided := rollout.Decision{Undecided: present.version == nil}
	if isPaused || c.record.Target() == target.Revision { // what marks children must be on record
		decided = c.rollout.Choose(rollout.ResourceOf(o))
	}
	switch {
	case decided.Undecided:
		return reconcile.Choice{Version: target.version, Undecided: true}, false
	case decided.Target:
		mine := c.rollout
		return reconcile.Choice{Version: target.version, MayDelete: func(gk apischema.GroupKind, child metav1.Object) error {
			return c.mayDelete(mine, rollout.ResourceOf(o), rollout.ChildOf(gk, child))
		}}, false
	}
	choice.Version = present.version
	if isAbandoned { // nobody approved what its rollout waited for
		choice.MayDelete = func(gk apischema.GroupKind, child metav1.Object) error {
			return rollout.MayDeleteAbandoned(rollout.ChildOf(gk, child))
		}
	}
	if present.version == nil {
		choice.Version, choice.Frozen, choice.Why = target.version, true, present.err.Error()
	}
	if c.rollout.State() == rollout.Previewing {
		return choice, false
	}
	if decided.Failure != "" {
		choice.Refused = "the changed folder cannot be rendered, so the resource stays as it was: " + decided.Failure
	}
	choice.RollsOut = decided.Pending
	if wakes = choice.Frozen && decided.Unpreviewed; wakes { // nothing serves it first
		c.rollout.Served(rollout.ResourceOf(o), rollout.Outcome{}, time.Now())
	}
	return choice, wakes
}

// mayDelete returns an error if the rollout has to be approved before a child is deleted.
func (c versionChooser) mayDelete(r *rollout.Rollout, o rollout.Resource, child rollout.Child) error {
	c.mu.Lock()
	err := r.MayDelete(o, child)
	c.mu.Unlock()
	if err != nil {
		c.wake()
	}
	return err
}

// recordServed records the outcome of a reconciliation.
func (c versionChooser) recordServed(o *unstructured.Unstructured, came reconcile.Outcome) {
	if !c.isPaused() && c.recordOutcome(rollout.ResourceOf(o), came) { // else it was only observed
		c.wake()
	}
}

// recordOutcome reports whether the outcome concerns a rollout.
func (c versionChooser) recordOutcome(o rollout.Resource, came reconcile.Outcome) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil {
		return came.Ready && c.noteRecovered(o.NamespacedName)
	}
	revision, _ := rollout.ParseRevision(came.Version.Revision) // a version without folder has none
	c.rollout.Served(o, rollout.Outcome{Revision: revision, Ready: came.Ready, WouldBeReady: came.WouldBeReady,
		Failed: came.Failed, IsHeld: came.IsHeld, Refused: came.Refused, Forbidden: came.Forbidden}, time.Now())
	return true
}
