package rollout

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Past is what is known of how a resource was served before.
type Past struct {
	// Record is that of the rollout before.
	Record Record
	// Fails says, by the reason of the condition Ready, whether the version that
	// serves the resource cannot render its children, or its status, either.
	Fails func(reason string) (children, ofStatus bool)
	// Unwanted are the children that the plan does not want, be they deleted or
	// held, and that the version before does want.
	Unwanted func(p *plan.Plan, reason string) []live.Object
}

// PastByStatus is a Past of which only the resource's own status is known.
func PastByStatus(record Record) Past {
	return Past{Record: record, Fails: failsByStatus, Unwanted: unwantedByStatus}
}

func failsByStatus(reason string) (children, ofStatus bool) {
	return reason == api.ReasonRenderFailed || reason == api.ReasonRefused, reason == api.ReasonStatusFailed
}

func unwantedByStatus(p *plan.Plan, reason string) []live.Object {
	if reason == api.ReasonPruneHeld {
		return slices.Concat(p.Prune, p.RetainedFor(plan.StillUsed))
	}
	return Unwanted(p)
}

// Unwanted are the children that a plan does not want: what is in those that are
// held is kept, but the resource would be served without them. Those that the old version
// still uses are deleted later.
func Unwanted(p *plan.Plan) []live.Object {
	return slices.Concat(p.Prune, p.RetainedFor(plan.HoldsData), p.RetainedFor(plan.StillUsed))
}

// PreviewOf is what a rollout must know of a resource that was tried with the
// version of that digest.
func PreviewOf(digest string, tried reconcile.Preview, o *unstructured.Unstructured, past Past) Preview {
	t := Preview{Name: reconcile.Key(o), UID: o.GetUID(), Generation: o.GetGeneration(), Labels: o.GetLabels(), Children: tried.Live}
	ready, seen := status.ReadyOf(o)
	t.Unserved = !seen && tried.Live == 0
	t.Ready = ready.Status == "True" || past.Record.Digest == digest && past.Record.since(ready.Since)
	t.Refused = reconcile.IsRefusal(ready.Reason)
	if tried.Err != nil {
		if t.Same, _ = past.Fails(ready.Reason); !t.Same {
			t.Error = tried.Err.Error()
		}
		return t
	}
	if t.Same = tried.Same; tried.StatusErr != nil {
		if _, anyway := past.Fails(ready.Reason); !anyway {
			t.Error = tried.StatusErr.Error()
			return t
		}
	}
	for _, l := range past.Unwanted(tried.Plan, ready.Reason) {
		if l.Meta.GetAnnotations()[api.AnnotationOnDelete] != "keep" {
			t.Lost = append(t.Lost, ChildOf(l.GVK.GroupKind(), l.Meta))
		}
	}
	for _, s := range tried.Plan.Steps {
		if s.Action == plan.Update && s.Live != nil && s.Child.Policy.RecreateOnImmutable {
			t.Replace = append(t.Replace, ChildOf(s.Live.GVK.GroupKind(), s.Live.Meta))
		}
	}
	return t
}

// ChildOf is an object as a child that a rollout counts.
func ChildOf(gk apischema.GroupKind, child metav1.Object) Child {
	return Child{GroupKind: gk, Namespace: child.GetNamespace(), Name: child.GetName(), UID: child.GetUID()}
}
