package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// recordRollout records how far the rollout is when that changed, and announces it by event,
// log and metric.
func (m *rolloutManager) recordRollout(ctx context.Context, r *kindController, crd metav1.Object) error {
	approved := m.readRecord(crd, r.shard).Approved
	now, changed, used := r.versions.toRecord(approved)
	if m.options.ReadOnly || !changed && !used {
		return nil
	}
	// An approval is removed once it is used, or if it is of another stop.
	isOfOther := now.State != rollout.Stopped || rollout.ParseApproval(approved).Stop != now.Stop
	write := kinds.Writes{IsApprovalUsed: approved != "" && (used || isOfOther)}
	if changed {
		write.Rollout = &now
	}
	if err := m.writeRecord(ctx, crd, r.shard, write); err != nil {
		return fmt.Errorf("recording the rollout on CRD %s: %w", r.name, err)
	}
	switch runs := r.versions.isRollingOut(); {
	case changed && runs:
		m.announceRollout(ctx, r, now)
	case changed:
		logRollout(ctx, r, now)
	}
	r.versions.forgetApproval()
	m.names.Add(r.name) // what is on record decides how to continue
	return nil
}

// toRecord returns what the record is to say, whether the CRD says something else, and whether an
// approval on it was taken in.
func (c rolloutRecorder) toRecord(approved string) (now rollout.Record, changed, used bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, changed = c.newRecord()
	return now, changed, approved != "" && approved == c.used
}

// forgetApproval forgets the approval that was taken in last: it is on the CRD no more.
func (c rolloutRecorder) forgetApproval() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = ""
}

// newRecord returns what the record is to say, and whether the CRD says something else. The caller
// must hold the mutex.
func (c *servingState) newRecord() (now rollout.Record, changed bool) {
	switch {
	case c.rollout != nil && c.rollout.State() == rollout.Previewing:
		return c.record, false
	case c.rollout != nil:
		now = c.rollout.Record()
	case c.record.State == rollout.Complete && c.record.Target() == c.targetVersion().Revision:
		now = c.record
		if len(c.recovered) > 0 {
			now = now.WithPassed(c.listPassed())
		}
	default:
		return c.record, false
	}
	now = now.WithRollback(c.rollback, c.record)
	return now, !now.EqualIgnoringProgress(c.record)
}

// listPassed returns the resources that a complete rollout has passed, and that are not known to
// be ready or gone. The caller must hold the mutex.
func (c *servingState) listPassed() []types.NamespacedName {
	return slices.DeleteFunc(c.record.PassedNames(), func(name types.NamespacedName) bool { return c.recovered[name] })
}

// noteRecovered records that a resource is ready or gone, and reports whether a complete rollout
// had passed it. The caller must hold the mutex.
func (c *servingState) noteRecovered(name types.NamespacedName) bool {
	if c.rollout != nil || !slices.Contains(c.listPassed(), name) {
		return false
	}
	if c.recovered == nil {
		c.recovered = map[types.NamespacedName]bool{}
	}
	c.recovered[name] = true
	return true
}

// rolloutReasons are the reasons of the events about a rollout, by its new state.
var rolloutReasons = map[rollout.State]string{
	rollout.Running:  api.ReasonRolloutRunning,
	rollout.Stopped:  api.ReasonRolloutStopped,
	rollout.Complete: api.ReasonRolloutComplete,
}

// announceRollout announces a rollout's new state by an event.
func (m *rolloutManager) announceRollout(ctx context.Context, r *kindController, now rollout.Record) {
	logRollout(ctx, r, now)
	severity := corev1.EventTypeNormal
	if now.State == rollout.Stopped {
		severity = corev1.EventTypeWarning
	}
	m.recordEvent(r.name, severity, rolloutReasons[now.State], "Rollout", now.Text(r.name))
}

func logRollout(ctx context.Context, r *kindController, now rollout.Record) {
	log.FromContext(ctx).Info("rollout", "kind", r.name, "digest", now.Target().Digest, "state", string(now.State),
		"message", now.Text(r.name))
}
