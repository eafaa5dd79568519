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
	return reason == api.ReasonRenderFailed || reason == api.ReasonRejectedByTemplate, reason == api.ReasonStatusRenderFailed
}

func unwantedByStatus(p *plan.Plan, reason string) []live.Object {
	if reason == api.ReasonPruneBlocked {
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

// PreviewOf returns the preview of a resource that was tried with the revision of that digest.
func PreviewOf(digest string, tried reconcile.Preview, o *unstructured.Unstructured, past Past) Preview {
	p := Preview{UID: o.GetUID(), Generation: o.GetGeneration(), Children: tried.Live}
	ready, _ := status.ReadyOf(o)
	p.WasReady = ready.Status == "True" || past.Record.Target().Digest == digest && past.Record.beganBefore(ready.Since)
	p.WasRefused = reconcile.IsRefusal(ready.Reason)
	if tried.Err != nil {
		if failsAnyway, _ := past.Fails(ready.Reason); !failsAnyway {
			p.Failure = tried.Err.Error()
		}
		return p
	}
	if tried.StatusErr != nil {
		if _, failsAnyway := past.Fails(ready.Reason); !failsAnyway {
			p.Failure = tried.StatusErr.Error()
			return p
		}
	}
	p.Changes = !tried.Same
	for _, l := range past.Unwanted(tried.Plan, ready.Reason) {
		if l.Meta.GetAnnotations()[api.AnnotationOnDelete] != "keep" {
			p.Deletes = append(p.Deletes, ChildOf(l.GVK.GroupKind(), l.Meta))
		}
	}
	for _, s := range tried.Plan.Steps {
		if s.Action == plan.Update && s.Live != nil && s.Child.Policy.RecreateOnImmutable {
			p.Recreates = append(p.Recreates, ChildOf(s.Live.GVK.GroupKind(), s.Live.Meta))
		}
	}
	return p
}

// ResourceOf returns a custom resource as a rollout sees it.
func ResourceOf(o metav1.Object) Resource {
	return Resource{NamespacedName: reconcile.Key(o), UID: o.GetUID(), Generation: o.GetGeneration(), Labels: o.GetLabels(),
		Paused: o.GetAnnotations()[api.AnnotationPaused] == "true"}
}

// ChildOf returns an object as a child that a rollout counts.
func ChildOf(gk apischema.GroupKind, child metav1.Object) Child {
	return Child{GroupKind: gk, Namespace: child.GetNamespace(), Name: child.GetName(), UID: child.GetUID()}
}
