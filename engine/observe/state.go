package observe

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrNotServed is the error for a kind that the cluster does not serve.
var ErrNotServed = errors.New("the cluster does not serve this kind")

// ErrNotYet is the error for what is on its way: nothing is in its way, and a
// callback tells when it is there.
var ErrNotYet = errors.New("it is not known yet")

// A Phase is how far a kind is observed.
type Phase int

const (
	// Unsynced means that it is not known, or no longer known, which objects
	// of the kind there are.
	Unsynced Phase = iota
	// Synced means that they are known.
	Synced
	// NotServed means that the cluster does not have this kind.
	NotServed
)

// String returns the name of the phase.
func (p Phase) String() string { return [...]string{"unsynced", "synced", "not served"}[p] }

// A State is what is known about a kind of child, or a scope, as a whole.
type State struct {
	Phase Phase
	// Holds is how much the entries carry while Synced. It may be less than
	// what was asked for last, until a list with bodies has come in.
	Holds Need
	// Err is why the kind is not synced; with ErrNotYet, or without an Err, it is
	// on its way. With Synced it is a passing trouble,
	// such as a connection that broke: what is known may be a little old.
	Err error
}

// Coming says whether the kind is not synced and nothing is in the way: a callback
// tells when it is.
func (s State) Coming() bool {
	return s.Phase == Unsynced && (s.Err == nil || errors.Is(s.Err, ErrNotYet))
}

// A RuleError is a request that RBAC refused, and the rule that would allow it.
type RuleError struct {
	Resource  schema.GroupResource
	Namespace string // empty: in every namespace
	Name      string // empty: whatever its name
	Verbs     []string
	Err       error
}

// Error names the request, the server's words and the rule that is missing.
func (e *RuleError) Error() string {
	scope := "a ClusterRole"
	if e.Namespace != "" {
		scope = fmt.Sprintf("a Role in namespace %q", e.Namespace)
	}
	names := ""
	if e.Name != "" {
		names = fmt.Sprintf("resourceNames: [%q], ", e.Name)
	}
	return fmt.Sprintf("watching %s: %v; the missing rule, in %s: {apiGroups: [%q], resources: [%q], %sverbs: [\"%s\"]}",
		e.Resource, e.Err, scope, e.Resource.Group, e.Resource.Resource, names, strings.Join(e.Verbs, `", "`))
}

// Unwrap returns the server's answer.
func (e *RuleError) Unwrap() error { return e.Err }

// troubles are the last errors of one source, by verb. A success clears its own.
type troubles struct{ list, watch error }

// err makes one error out of both; nil if there is no trouble. The rule says
// what is asked for.
func (t troubles) err(rule RuleError) error {
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

// lasting says whether an error means that what is known can no longer be
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
