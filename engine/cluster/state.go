package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// troubles are the last errors of one source, by verb. A success clears its own.
type troubles struct {
	list, watch error
	// since is when the API server refused for the first time what it has refused in
	// each try since then; zero: it does not.
	since time.Time
	// isLasting: it has refused for lastingAfter.
	isLasting bool
}

// lastingAfter is for how long an API server may refuse a list, as it does while it
// starts or takes up a changed CRD, before what is known can no longer be trusted.
const lastingAfter = 3 * time.Second

// recordFailure records why a try ended.
func (t *troubles) recordFailure(list, watch error, now time.Time) {
	t.list, t.watch = list, watch
	switch {
	case !isRefusal(list) && !isRefusal(watch):
		t.since, t.isLasting = time.Time{}, false
	case t.since.IsZero():
		t.since = now
	default:
		t.isLasting = t.isLasting || now.Sub(t.since) >= lastingAfter
	}
}

// listAllowed records that the API server lists again what it refused.
func (t *troubles) listAllowed() { t.list, t.since, t.isLasting = nil, time.Time{}, false }

// recordList records that a list came in. Where no watch delivered it, a right to watch may still
// be missing.
func (t *troubles) recordList(streamed bool) {
	t.listAllowed()
	if streamed || !apierrors.IsForbidden(t.watch) {
		t.watch = nil
	}
}

// isStuck reports whether there is lasting trouble.
func (t troubles) isStuck() bool { return t.isLasting || isLasting(t.list) || isLasting(t.watch) }

// isGivenUp reports whether nobody is to wait for a list any more: the API server has refused it for
// lastingAfter, no right allows it, or there is no answer.
func (t troubles) isGivenUp(now time.Time) bool {
	var silent *SilentError
	var late *transport.TimeoutError
	return apierrors.IsForbidden(t.list) || apierrors.IsForbidden(t.watch) || t.isLasting ||
		!t.since.IsZero() && now.Sub(t.since) >= lastingAfter || errors.As(t.list, &silent) || errors.As(t.list, &late)
}

// isRefusal reports whether an error is an answer of the API server, unlike a connection
// that breaks.
func isRefusal(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && !apierrors.IsResourceExpired(err)
}

// asError makes one error out of both, or nil if there is no trouble. The rule says what is asked
// for.
func (t troubles) asError(rule live.RuleError) error {
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
		return fmt.Errorf("listing %s: %w", of, steadyError(t.list))
	case t.watch != nil:
		return fmt.Errorf("watching %s: %w", of, steadyError(t.watch))
	}
	return nil
}

// steadyError strips what differs from one try to the next, such as ports and names of
// objects, so that the same trouble has the same text.
func steadyError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	if text, is := live.Unreadable(errorText(err)); is {
		return errors.New(text)
	}
	return err
}

// isLasting reports whether an error means that what is known can no longer be trusted, unlike a
// connection that comes back.
func isLasting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// joinErrors joins the distinct errors, in a steady order.
func joinErrors(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	errs = slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
