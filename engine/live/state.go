package live

import (
	"errors"
	"fmt"
	"strings"

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

// A State is what is known about a kind of child, or a scope, as a whole or in
// some namespaces.
type State struct {
	Phase Phase
	// Holds is what the entries have while Synced. It may not cover what was asked for
	// last, until another list has come in.
	Holds Need
	// Err is why the kind is not synced; with ErrNotYet, or without an Err, it is
	// on its way. With Synced it is a passing trouble,
	// such as a connection that broke: what is known may be a little old.
	Err error
}

// Coming reports whether the kind is not synced and nothing is in the way: a callback
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
	return fmt.Sprintf("watching %s: %v; %s", e.Resource, e.Err, e.Missing())
}

// Missing names the rule that is missing.
func (e *RuleError) Missing() string {
	scope := "a ClusterRole"
	if e.Namespace != "" {
		scope = fmt.Sprintf("a Role in namespace %q", e.Namespace)
	}
	names := ""
	if e.Name != "" {
		names = fmt.Sprintf("resourceNames: [%q], ", e.Name)
	}
	return fmt.Sprintf("the missing rule, in %s: {apiGroups: [%q], resources: [%q], %sverbs: [\"%s\"]}",
		scope, e.Resource.Group, e.Resource.Resource, names, strings.Join(e.Verbs, `", "`))
}

// Unwrap returns the server's answer.
func (e *RuleError) Unwrap() error { return e.Err }
