package reconcile

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// announcePlanned ends the reconciliation of an operator that is read-only: what it would do
// is counted and told once, by event and log, and nothing is written.
func (t *reconciliation) announcePlanned(ctx context.Context, p *plan.Plan) reconcile.Result {
	if t.view.Pending {
		return t.awaitNext(0)
	}
	t.found.requeueAfter(p.Requeue)
	t.r.cluster.Reads.Record(t.subject.Owner().Owner, t.view.Asked)
	text := t.describePlanned(p)
	t.r.setPending(Key(t.subject.Resource), text != "")
	if text != t.memory.announced && text != "" {
		t.r.cluster.Events.Eventf(t.subject.Resource, nil, corev1.EventTypeNormal, api.ReasonReadOnly, "Reconcile",
			"the operator is read-only and would %s", text)
		log.FromContext(ctx).Info("read-only: not done", "would", text)
	}
	t.memory.announced = text
	return reconcile.Result{RequeueAfter: t.found.requeue}
}

// describePlanned describes what an operator that is not read-only would do, in this
// reconciliation and by the rollout of a changed folder; it is empty if that is nothing, or
// only a status.
func (t *reconciliation) describePlanned(p *plan.Plan) string {
	texts := t.describeSteps(p)
	if t.choice.RollsOut && !t.subject.IsDeleting() {
		texts = append(texts, "roll out the changed folder")
	}
	return strings.Join(texts, ", ")
}

// describeSteps describes what a reconciliation that may write would do.
func (t *reconciliation) describeSteps(p *plan.Plan) []string {
	counts := map[string]int{}
	for i := range p.Steps {
		if a := p.Steps[i].Action; a != plan.Keep && a != plan.Done && a != plan.Block && a != plan.Refuse {
			counts[a.String()]++
		}
	}
	counts["delete"], counts["give back"] = len(p.Prune), len(p.Release)
	var texts []string
	for _, what := range []string{"create", "update", "recreate", "patch", "delete", "give back"} {
		if n := counts[what]; n > 0 {
			texts = append(texts, fmt.Sprintf("%s %d", what, n))
		}
	}
	if t.subject.IsDeleting() && t.subject.HasFinalizer() {
		texts = append(texts, "let the resource go")
	}
	return texts
}

// The pendingResources are those that a read-only operator would change.
type pendingResources struct {
	kind       string
	isReadOnly bool
	mu         sync.Mutex
	names      map[types.NamespacedName]bool
}

// setPending records whether a resource would be changed, and the metric of how many would.
func (p *pendingResources) setPending(name types.NamespacedName, isPending bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names = map[types.NamespacedName]bool{}
	}
	if p.names[name] = true; !isPending {
		delete(p.names, name)
	}
	if p.isReadOnly {
		metrics.Kind(p.kind).Pending(len(p.names))
	}
}

// Pending returns how many resources a read-only operator would change.
func (p *pendingResources) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.names)
}

// forgetPending forgets all resources.
func (p *pendingResources) forgetPending() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.names)
}
