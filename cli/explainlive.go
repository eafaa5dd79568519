//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
)

// explainLive explains the arguments that name live resources and returns the others.
func (o *explainOptions) explainLive(ctx context.Context, args []string) (rest []string, err error) {
	var s *sight
	var errs []error
	for _, arg := range args {
		t, ok := targetOf(arg, "")
		if !ok {
			rest = append(rest, arg)
			continue
		}
		if s == nil {
			if s, err = o.openSight(ctx, o.catalog); err != nil {
				return nil, err
			}
		}
		if t.namespace == "" {
			t.namespace = o.chooseNamespace()
		}
		if err := o.explainTarget(ctx, s, t); err != nil {
			errs = append(errs, fmt.Errorf("explaining %s: %w", arg, err))
		}
	}
	return rest, errors.Join(errs...)
}

// explainTarget explains one live resource.
func (o *explainOptions) explainTarget(ctx context.Context, s *sight, t target) error {
	with, err := s.compileFolder(ctx, t.kind)
	if err != nil {
		return err
	}
	resource, err := s.read(ctx, with.Kind, t)
	if err != nil {
		return err
	}
	o.reports = append(o.reports, with.Explain(ctx, resource))
	return nil
}
