package diff

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// Explain says why a resource has its children.
func (s Sight) Explain(ctx context.Context, resource *unstructured.Unstructured) *explain.Report {
	view := s.View(ctx, s.Kind, s.Folder, resource)
	r := view.Reconciler()
	traced := explain.TraceRender(ctx, s.Folder, resource, r.World(view.Version(), resource))
	planned := r.Preview(ctx, view.Version(), resource).Plan
	report := explain.Of(explain.Input{Kind: s.Folder, Resource: resource, Traced: traced, Live: observeObjects(view, planned, resource),
		Unlisted: func(gvk schema.GroupVersionKind) error {
			if state := view.Cluster().Children.State(gvk); state.Phase == live.Unsynced {
				return state.Err
			}
			return nil
		}})
	report.Notes = append(view.Notes(), view.Troubles()...)
	if by := view.Revision(); by != "" && by != view.Version().Digest {
		report.Notes = append(report.Notes, fmt.Sprintf("revision %s of the folder serves it, and this is about the folder with the digest %s",
			by, view.Version().Digest))
	}
	if server := health.ServerOf(ctx, s.Survey, s.Kind, resource); server != nil {
		report.Notes = append(report.Notes, server.Text)
	}
	if resource.GetDeletionTimestamp() != nil {
		report.Notes = append(report.Notes, "it is being deleted: nothing of it is made or changed any more, whatever the files say")
	}
	return report
}

// observeObjects returns the live children of a resource and the objects that it patches, with what
// the plan does with each. planned may be nil. Errors of reading are among the troubles of the
// view.
func observeObjects(view *liveview.View, planned *plan.Plan, resource *unstructured.Unstructured) []explain.Observed {
	c, uid := view.Cluster(), resource.GetUID()
	var all []live.Object
	for gvk := range view.Version().Children {
		found, _ := c.Children.Of(gvk, uid)
		all = append(all, found...)
	}
	for _, gvk := range view.Version().Patched {
		found, _ := c.Reads.Patched(gvk, uid)
		all = append(all, found...)
	}
	owner := liveview.NewOwner(view.Version().Name, resource)
	var out []explain.Observed
	for _, l := range all {
		u, whole := l.Meta.(*unstructured.Unstructured)
		if !whole {
			continue
		}
		one := explain.Observed{Object: u, Rule: readiness.RuleFor(view.Version().Health(), l.GVK.GroupKind()),
			Conditioned: c.DeclaresConditions(l.GVK.GroupKind())}
		if readiness.ReadsClasses(view.Version().Health(), l.GVK.GroupKind()) {
			one.Class = c.StorageClass(u.Object)
		}
		switch {
		case resource.GetDeletionTimestamp() != nil:
			one.Fate = "its resource is being deleted"
		case planned == nil:
			one.Fate = "it stays: nothing is changed until all files render"
		default:
			one.Fate = planned.Describe(owner, l)
			if step := planned.About(l); step != nil {
				one.Taken = step.Taken
			}
		}
		out = append(out, one)
	}
	return out
}
