package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// recordRollout records how far the rollout is when that changed, and announces it by event,
// log and metric. It returns when to try again; 0 if it is recorded.
func (o *Operator) recordRollout(ctx context.Context, r *kindController) time.Duration {
	switch err := o.announceRollout(ctx, r); {
	case err == nil:
		return 0
	case apierrors.IsConflict(err): // the CRD changed; the cache tells how
		return soonTick
	default:
		log.FromContext(ctx).Error(err, "rollout not recorded", "kind", r.name)
		return waveTick
	}
}

func (o *Operator) announceRollout(ctx context.Context, r *kindController) error {
	crd, c := o.crd(r.name), r.versions
	if crd == nil {
		return nil
	}
	c.mu.Lock()
	approved := crd.GetAnnotations()[r.shard.Key(api.AnnotationApproved)]
	now, changed := c.announced()
	runs, used := c.rollout != nil, approved != "" && approved == c.used
	c.mu.Unlock()
	if o.options.ReadOnly || !changed && !used {
		return nil
	}
	write := map[string]any{}
	if changed {
		write = recordAnnotations(r.shard, now)
	}
	// An approval is taken off once it is used, or if it is of another stop.
	if approved != "" && (used || now.State != rollout.Stopped || rollout.ParseApproval(approved).Stop != now.Stop) {
		write[r.shard.Key(api.AnnotationApproved)] = nil
	}
	if err := o.annotate(ctx, crd, write); err != nil {
		return fmt.Errorf("recording the rollout on CRD %s: %w", r.name, err)
	}
	if c.acceptRecord(now) {
		r.enqueueAll()
	}
	switch {
	case changed && runs:
		o.announce(ctx, r, now)
	case changed:
		logRollout(ctx, r, now)
	}
	c.trigger() // an approval may wait for the record
	return nil
}

// acceptRecord takes in that the CRD has a record, and reports whether a rollout may move resources
// from now on. One that is complete is over.
func (c *versionTracker) acceptRecord(now rollout.Record) (begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	begins = c.rollout != nil && c.written.Target() != now.Target()
	if c.used = ""; now.State != "" {
		c.written = now
	}
	target := c.targetRevision()
	if now.State == rollout.Complete && c.rollout != nil && target.Revision == now.Target() {
		c.serveAll(target.Revision, target.version)
		c.recordPassed(now, now.PassedNames())
	}
	return begins
}

// recordPassed takes in which resources a complete rollout has passed.
func (c *versionTracker) recordPassed(written rollout.Record, names []types.NamespacedName) {
	c.written, c.passed = written, map[types.NamespacedName]bool{}
	for _, name := range names {
		c.passed[name] = true
	}
}

// takeRecord takes in what the leader before this one recorded of a rollout that is complete.
func (c *versionTracker) takeRecord(of rollout.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil && of.State == rollout.Complete {
		c.recordPassed(of, of.PassedNames())
	}
}

// announced returns what the record is to say, and whether the CRD says something else. It
// needs the mutex.
func (c *versionTracker) announced() (now rollout.Record, changed bool) {
	target := c.targetRevision()
	switch {
	case c.rollout != nil && c.rollout.State() == rollout.Previewing:
		return c.written, false
	case c.rollout != nil:
		now = c.rollout.Record()
	case target.Digest != "" && c.written.State == rollout.Complete:
		now = c.written.WithPassed(slices.SortedFunc(maps.Keys(c.passed), compareNames))
	case target.Digest != "" && c.written.State == "" && c.rollback.Request != "": // there was no rollout yet
		now = rollout.Record{Revisions: []rollout.Revision{target.Revision}, State: rollout.Complete, Began: time.Now().UTC()}
	default:
		return now, false
	}
	now.Rollback = c.rollback.Request
	return now, !now.EqualIgnoringProgress(c.written)
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// rolloutReasons are the reasons of the events about a rollout, by its new state.
var rolloutReasons = map[rollout.State]string{
	rollout.Running:  api.ReasonRolloutRunning,
	rollout.Stopped:  api.ReasonRolloutStopped,
	rollout.Complete: api.ReasonRolloutComplete,
}

// announce announces a rollout's new state by an event.
func (o *Operator) announce(ctx context.Context, r *kindController, now rollout.Record) {
	logRollout(ctx, r, now)
	severity := corev1.EventTypeNormal
	if now.State == rollout.Stopped {
		severity = corev1.EventTypeWarning
	}
	if crd := o.seenCRD(r.name); crd != nil {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, severity, rolloutReasons[now.State], "Rollout", "%s", cut(now.Text(r.name)))
	}
}

func logRollout(ctx context.Context, r *kindController, now rollout.Record) {
	log.FromContext(ctx).Info("rollout", "kind", r.name, "digest", now.Target().Digest, "state", string(now.State),
		"message", now.Text(r.name))
}

// cut keeps an event's note below the API's limit of 1,024 bytes.
func cut(s string) string {
	if len(s) > 1000 {
		return strings.ToValidUTF8(s[:1000], "") + "…"
	}
	return s
}
