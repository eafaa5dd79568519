//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
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
	resource, err := s.read(ctx, with.Kind, t)
	if err != nil {
		return err
	}
	o.reports = append(o.reports, with.Explain(ctx, resource))
	return nil
}
