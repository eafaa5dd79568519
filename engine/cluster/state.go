package cluster

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// troubles are the last errors of one source, by verb. A success clears its own.
type troubles struct{ list, watch error }

// stuck reports whether there is lasting trouble.
func (t troubles) stuck() bool { return lasting(t.list) || lasting(t.watch) }

// err makes one error out of both; nil if there is no trouble. The rule says
// what is asked for.
func (t troubles) err(rule live.RuleError) error {
	of := rule.Resource
	for _, v := range []struct {
		verb string
		err  error
	}{{"list", t.list}, {"watch", t.watch}} {
		if apierrors.IsForbidden(v.err) {
			rule.Verbs, rule.Err = append(rule.Verbs, v.verb), v.err
		}
	}
	switch {
	case rule.Err != nil:
		return &rule
	case t.list != nil:
		return fmt.Errorf("listing %s: %w", of, steady(t.list))
	case t.watch != nil:
		return fmt.Errorf("watching %s: %w", of, steady(t.watch))
	}
	return nil
}

// steady strips what differs from one try to the next, such as ports, so that
// the same trouble has the same text.
func steady(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// lasting reports whether an error means that what is known can no longer be
// trusted, unlike a connection that comes back.
func lasting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// together joins the distinct errors, in a steady order.
func together(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	errs = slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
