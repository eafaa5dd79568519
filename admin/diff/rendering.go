package diff

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// A Rendering is a resource rendered anew in its cluster, and what the operator would
// do about it.
type Rendering struct {
	*Resource
	// Children are what was rendered, and Waits the files that wait; both are empty with
	// an Error.
	Children []render.Child
	Waits    []render.Waiting
	// NotReady are the rendered children that are not ready, and why.
	NotReady []string
}

// Render renders a resource anew in its cluster: with its uid and namespace, with the
// Secrets that are there, and with what its files read.
func (s Sight) Render(ctx context.Context, resource *unstructured.Unstructured) *Rendering {
	view := s.View(ctx, s.Kind, s.Folder, resource)
	d := differ{view, view.Reconciler().DryRun(ctx, view.Version(), resource), resource.GetDeletionTimestamp() != nil}
	out := &Rendering{Resource: d.describeResource(resource)}
	if out.Error == "" {
		out.Children, out.Waits = d.Rendered.Children, d.Rendered.Waiting
	}
	for _, c := range out.Children {
		if why := readinessOf(view, c); why != "" {
			out.NotReady = append(out.NotReady, fmt.Sprintf("%s %s: %s", c.Object.GetKind(), c.Object.GetName(), why))
		}
	}
	out.Troubles = view.Troubles()
	out.Notes = append(out.Notes, view.Notes()...)
	if served, digest := view.Revision(), view.Version().Digest; served != "" && served != digest {
		out.Notes = append(out.Notes, fmt.Sprintf("the operator serves revision %s of the folder, and this is about the one with the digest %s", served, digest))
	}
	return out
}

// readinessOf returns why a rendered child is not ready; "" if it is. Patches are
// ready.
func readinessOf(view *liveview.View, c render.Child) string {
	if c.Policy.Patch {
		return ""
	}
	there, err := view.Whole(c.Object.GroupVersionKind(), c.Object.GetNamespace(), c.Object.GetName())
	switch {
	case err != nil:
		return err.Error()
	case there == nil && c.Policy.Once: // it was made, and may be gone
		return ""
	case there == nil:
		return render.NotThere
	}
	gk, cluster, health := there.GVK.GroupKind(), view.Cluster(), view.Version().Health()
	verdict, err := readiness.Of(there.Body, readiness.RuleFor(health, gk), cluster.DeclaresConditions(gk))
	if err != nil {
		return err.Error()
	}
	if readiness.ReadsClasses(health, gk) {
		verdict = verdict.WithClass(cluster.StorageClass(there.Body))
	}
	if verdict.IsReady() {
		return ""
	}
	return verdict.Message
}
