package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// announceRollout puts on record how far the rollout is when that changed, and
// tells of it by event, log and metric.
func (o *Operator) announceRollout(ctx context.Context, r *kindController) error {
	crd, c := o.crd(r.name), r.versions
	if crd == nil {
		return nil
	}
	c.mu.Lock()
	approved := crd.GetAnnotations()[r.shard.Key(api.AnnotationApproved)]
	now, changed := c.announced()
	if changed {
		now = c.holders(now)
	}
	runs, used := c.rollout != nil, approved != "" && approved == c.used
	c.mu.Unlock()
	if o.options.ReadOnly || !changed && !used {
		return nil
	}
	write := map[string]any{}
	if changed {
		write[r.shard.Key(api.AnnotationRollout)] = now.String()
		if now.State == rollout.Complete {
			write[r.shard.Key(api.AnnotationRolledOut)] = now.Digest
		}
	}
	// An approval is taken off once it is used, or if it is of another stop.
	if approved != "" && (used || now.State != rollout.Stopped || rollout.ReadApproval(approved).Stop != now.Stop()) {
		write[r.shard.Key(api.AnnotationApproved)] = nil
	}
	if err := o.annotate(ctx, crd, write); err != nil {
		return fmt.Errorf("recording the rollout on CRD %s: %w", r.name, err)
	}
	c.recorded(now)
	switch {
	case changed && runs:
		o.announce(ctx, r, now)
	case changed:
		log.FromContext(ctx).Info("rollout", "kind", r.name, "digest", now.Digest, "state", string(now.State), "message", now.Text(r.name))
	}
	c.trigger() // an approval may wait for the record
	return nil
}

// recorded takes up that the CRD says how far the rollout is. One that is
// complete is over.
func (c *versionTracker) recorded(now rollout.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used = ""; now.State != "" {
		c.written = now
	}
	if now.State == rollout.Complete && c.next != nil && c.next.Digest == now.Digest {
		forced := c.rollout.Forced()
		c.use(c.next)
		c.force(now, forced)
	}
}

// force takes up which resources a rollout that is complete was forced past.
func (c *versionTracker) force(written rollout.Record, names []types.NamespacedName) {
	c.written, c.forced = written, map[types.NamespacedName]bool{}
	for _, name := range names {
		c.forced[name] = true
	}
}

// takeRecord takes up what the leader before this one left on record of a rollout that is
// complete.
func (c *versionTracker) takeRecord(of rollout.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil && of.State == rollout.Complete {
		c.force(of, of.ForcedNames())
	}
}

// announced is what is to be said of the rollout, or of the last one; and whether the
// CRD does not say so yet. It needs the mutex.
func (c *versionTracker) announced() (now rollout.Record, changed bool) {
	switch {
	case c.rollout != nil:
		now = c.rollout.Record()
	case c.next == nil && c.written.State == rollout.Complete:
		now = c.written.WithForced(slices.SortedFunc(maps.Keys(c.forced), rollout.ByName))
	case c.next == nil && c.written.State == "" && c.rollback.Request != "": // there was no rollout yet
		now = rollout.Record{Digest: c.base, State: rollout.Complete, Began: time.Now().UTC()}
	default:
		return now, false
	}
	now.Rollback = c.rollback.Request
	return now, !now.Same(c.written)
}

// rolloutReasons are the reasons of the events about a rollout, by its new state.
var rolloutReasons = map[rollout.State]string{
	rollout.Running:  api.ReasonRolloutRunning,
	rollout.Stopped:  api.ReasonRolloutStopped,
	rollout.Complete: api.ReasonRolloutComplete,
}

// announce tells of a rollout's new state.
func (o *Operator) announce(ctx context.Context, r *kindController, now rollout.Record) {
	severity := corev1.EventTypeNormal
	if now.State == rollout.Stopped {
		severity = corev1.EventTypeWarning
	}
	text := now.Text(r.name)
	log.FromContext(ctx).Info("rollout", "kind", r.name, "digest", now.Digest, "state", string(now.State), "message", text)
	if crd := o.seenCRD(r.name); crd != nil {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, severity, rolloutReasons[now.State], "Rollout", "%s", cut(text))
	}
}

// cut keeps an event's note below the API's limit of 1,024 bytes.
func cut(s string) string {
	if len(s) > 1000 {
		return strings.ToValidUTF8(s[:1000], "") + "…"
	}
	return s
}
