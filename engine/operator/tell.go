package operator

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/rollout"
)

// tellRollout puts on record how far the rollout is when that changed, and
// tells of it by event, log and metric.
func (o *Operator) tellRollout(ctx context.Context, r *run) error {
	crd, c := o.crd(r.name), r.course
	if crd == nil {
		return nil
	}
	c.mu.Lock()
	done, approved := c.done, crd.GetAnnotations()[r.share.Key(api.AnnotationApproved)]
	var now rollout.Record
	if c.rollout != nil {
		now = c.rollout.Record()
	}
	changed := c.rollout != nil && !now.Same(c.written)
	c.mu.Unlock()
	metrics.Kind(r.name).Rollout(now.State == rollout.Running, now.State == rollout.Stopped)
	if o.options.ReadOnly || !changed && done == "" {
		return nil
	}
	write := map[string]any{r.share.Key(api.AnnotationRollout): nil}
	if changed {
		write[r.share.Key(api.AnnotationRollout)] = now.String()
		if now.State == rollout.Complete {
			done = now.Digest
		}
	}
	if done != "" {
		write[r.share.Key(api.AnnotationRolledOut)] = done
	}
	if approved != "" && (now.State != rollout.Stopped || approved != now.Approval()) { // used, or of another stop
		write[r.share.Key(api.AnnotationApproved)] = nil
	}
	if err := o.annotate(ctx, crd, write); err != nil {
		return fmt.Errorf("recording the rollout on CRD %s: %w", r.name, err)
	}
	c.recorded(now, done)
	if changed {
		o.announce(ctx, r, now)
	} else {
		log.FromContext(ctx).Info("rollout given up for the folder before it", "kind", r.name, "digest", done)
	}
	c.poke() // an approval may wait for the record
	return nil
}

// recorded takes up that the CRD says how far the rollout is. One that is
// complete is over.
func (c *course) recorded(now rollout.Record, done string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = now
	if c.done == done {
		c.done = ""
	}
	if now.State == rollout.Complete && c.next != nil && c.next.Digest == now.Digest {
		c.use(c.next)
	}
}

// announce tells of a rollout's new state.
func (o *Operator) announce(ctx context.Context, r *run, now rollout.Record) {
	severity := corev1.EventTypeNormal
	if now.State == rollout.Stopped {
		severity = corev1.EventTypeWarning
	}
	text := now.Text(r.name)
	log.FromContext(ctx).Info("rollout", "kind", r.name, "digest", now.Digest, "state", string(now.State), "message", text)
	if crd := o.seenCRD(r.name); crd != nil {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, severity, "Rollout"+string(now.State), "Rollout", "%s", cut(text))
	}
}

// cut keeps an event's note below the API's limit of 1,024 bytes.
func cut(s string) string {
	if len(s) > 1000 {
		return strings.ToValidUTF8(s[:1000], "") + "…"
	}
	return s
}
