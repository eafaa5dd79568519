package diff

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Verb says what would become of an object.
type Verb string

const (
	// Created: there is no such object.
	Created Verb = "created"
	// Changed: it would be applied again, and says something else afterwards or
	// belongs to somebody else.
	Changed Verb = "changed"
	// Recreated: it would be deleted and recreated.
	Recreated Verb = "recreated"
	// Patched: fields of somebody else's object would be set.
	Patched Verb = "patched"
	// Pruned: it would be deleted, since it is not rendered any more.
	Pruned Verb = "pruned"
	// GivenBack: the fields of a patch would be released.
	Released Verb = "released"
	// Kept: nothing is sent.
	Kept Verb = "kept"
	// Held: nothing can be done now.
	Blocked Verb = "blocked"
	// Refused: the operator leaves it alone, or the API refuses it.
	Refused Verb = "refused"
	// Unknown: the caller may not find out.
	Unknown Verb = "unknown"
)

// order is the order of verbs in counts.
var order = []Verb{Created, Changed, Recreated, Patched, Pruned, Released, Blocked, Refused, Unknown, Kept}

// Wrong are verbs of what needs a person.
func (v Verb) Wrong() bool { return v == Refused || v == Unknown }

// isWrite reports whether the operator would write.
func (v Verb) isWrite() bool { return v != Kept && v != Blocked && !v.Wrong() }

// A Change is what would become of one object.
type Change struct {
	Verb        Verb   `json:"verb"`
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	Subresource string `json:"subresource,omitempty"`
	// Place is where its template stands, as file:line:column; "" for what no
	// file renders any more.
	Place string `json:"place,omitempty"`
	// Why says why, in a few words, for people.
	Why string `json:"message,omitempty"`
	// Diff is a unified diff of the object as YAML, Secret values masked, without
	// what the server and the operator note on it.
	Diff string `json:"diff,omitempty"`
}

// Named is "Deployment default/web".
func (c *Change) Named() string {
	name := c.Name
	if c.Namespace != "" {
		name = c.Namespace + "/" + name
	}
	if c.Subresource != "" {
		name += " (" + c.Subresource + ")"
	}
	return c.Kind + " " + name
}

// newChange returns a change with a verb and the names of its object.
func newChange(gvk schema.GroupVersionKind, o metav1.Object, verb Verb) Change {
	return Change{Verb: verb, APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Counts are how many objects would become what.
type Counts map[Verb]int

// String returns "1 created, 2 changed", without what is kept unless nothing
// else is there.
func (c Counts) String() string {
	var parts []string
	for _, v := range order {
		if n := c[v]; n > 0 && (v != Kept || len(parts) == 0) {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func (c Counts) add(o Counts) {
	for v, n := range o {
		c[v] += n
	}
}

// countVerbs returns how many changes have each verb.
func countVerbs(changes []Change) Counts {
	c := Counts{}
	for i := range changes {
		c[changes[i].Verb]++
	}
	return c
}

// An Outcome is what a diff comes to; a greater one outweighs the smaller.
type Outcome int

const (
	// Nothing would change.
	Nothing Outcome = iota
	// Changes: something would.
	Changes
	// Wrong: something is refused, cannot be rendered, or may not be found out.
	Wrong
)

// outcomeOf returns the Outcome of some changes.
func outcomeOf(changes []Change) Outcome {
	switch {
	case slices.ContainsFunc(changes, func(c Change) bool { return c.Verb.Wrong() }):
		return Wrong
	case slices.ContainsFunc(changes, func(c Change) bool { return c.Verb.isWrite() }):
		return Changes
	}
	return Nothing
}
