package cli

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/explain"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/survey"
)

// live explains the arguments that name live resources and returns the others.
func (o *explainOptions) live(ctx context.Context, args []string) (rest []string, err error) {
	var s *sight
	var errs []error
	for _, arg := range args {
		t, ok := targetOf(arg, "")
		if !ok {
			rest = append(rest, arg)
			continue
		}
		if s == nil {
			if s, err = o.open(ctx, o.catalog); err != nil {
				return nil, err
			}
		}
		if t.namespace == "" {
			t.namespace = o.place()
		}
		if err := o.target(ctx, s, t); err != nil {
			errs = append(errs, fmt.Errorf("explaining %s: %w", arg, err))
		}
	}
	return rest, errors.Join(errs...)
}

// target explains one live resource.
func (o *explainOptions) target(ctx context.Context, s *sight, t target) error {
	with, err := s.folder(ctx, t.kind)
	if err != nil {
		return err
	}
	folder := with.Folder
	resource, err := s.Get(ctx, with.Kind, t.namespace, t.name)
	if err == nil && resource == nil {
		err = survey.ErrNoResource
	}
	if err != nil {
		return err
	}
	view := s.View(ctx, with.Kind, folder, resource)
	world := view.Reconciler().World(view.Version(), resource)
	traced := render.Trace(ctx, folder, resource, world)
	report := explain.Of(explain.Input{Kind: folder, Resource: resource, Traced: traced, Live: observed(view, folder, resource)})
	report.Notes = append(view.Notes(), view.Troubles()...)
	o.reports = append(o.reports, report)
	return nil
}

// observed are the live children of a resource, and what it patches. What could
// not be read is among the view's troubles.
func observed(view *survey.View, folder *kind.Kind, resource *unstructured.Unstructured) []explain.Observed {
	var all []explain.Observed
	cluster := view.Cluster()
	for gvk := range view.Version().Children {
		live, _ := cluster.Children.Of(gvk, resource.GetUID())
		all = append(all, bodiesOf(cluster, live)...)
	}
	for _, p := range folder.Patches() {
		live, _ := cluster.Reads.Patched(p.GroupVersionKind, resource.GetUID())
		all = append(all, bodiesOf(cluster, live)...)
	}
	return all
}

func bodiesOf(cluster reconcile.Cluster, live []observe.Live) []explain.Observed {
	var all []explain.Observed
	for _, l := range live {
		u, whole := l.Meta.(*unstructured.Unstructured)
		if !whole {
			continue
		}
		all = append(all, explain.Observed{Object: u, Conditioned: cluster.DeclaresConditions(l.GVK.GroupKind())})
	}
	return all
}
