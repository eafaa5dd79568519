package lint

import (
	"fmt"
	"iter"
	"slices"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A fitter compares the nodes of a document with the type of the object that
// it becomes.
type fitter struct {
	// subject is how messages call the object.
	subject string
	// unknown is the class of fields that the type does not declare.
	unknown typecheck.Class
	// builtIn: the API server validates the object by more than its type.
	builtIn bool
	// absent takes required fields that are missing; nil if none is required.
	absent absences
	// excluded takes fields that others exclude; nil if none does.
	excluded exclusions
	findings []typecheck.Finding
}

func (f *fitter) add(class typecheck.Class, n *typecheck.Node, format string, args ...any) {
	f.findings = append(f.findings, typecheck.Finding{Class: class, Place: n.Place, Text: fmt.Sprintf(format, args...)})
}

// node compares one node with the type of its place.
func (f *fitter) node(n *typecheck.Node, t *schema.Type, path string) {
	switch {
	case n == nil || t.Kind() == schema.KindAny:
	case n.Value != nil:
		f.value(n, n.Value, t, path)
	case n.Text != nil:
		f.text(n, t, path)
	case n.Keys != nil:
		f.entries(n, t, path)
	case n.Items != nil:
		f.items(n, t, path)
	}
	if n != nil {
		f.beside(n, t, path)
	}
}

// entries compares a map that the author wrote.
func (f *fitter) entries(n *typecheck.Node, t *schema.Type, path string) {
	if t.Kind() != schema.KindObject && t.Kind() != schema.KindFreeMap {
		f.add(DoesNotFit, n, "%s of %s must be %s, not a map", path, f.subject, article(t.Kind()))
		return
	}
	for _, e := range n.Keys {
		if e.Name == "" {
			f.node(e.Node, t.Elem(), path+".*")
			continue
		}
		field, found := t.Field(e.Name)
		if !found {
			f.add(f.unknown, e.Key, "%s", undeclared(f.subject, path, e.Name, t))
			continue
		}
		required := slices.Contains(f.requires(t, path), e.Name)
		if v := e.Node.Value; f.absent != nil && required && v != nil && v.Nil {
			f.add(typecheck.Nil, e.Node, "%s of %s is required, and %s may be absent: give it a value with default, or ask with required",
				below(path, e.Name), f.subject, named(v))
		}
		f.node(e.Node, field, below(path, e.Name))
	}
	f.required(n, t, path)
	f.exclusive(n, t, path)
	if f.builtIn {
		f.excessive(n, path)
	}
}

// requires are the fields that a map at a path must have.
func (f *fitter) requires(t *schema.Type, path string) []string {
	if f.builtIn {
		return required(t, path)
	}
	return t.Required()
}

// excessive finds constant requests that are greater than their limits.
func (f *fitter) excessive(n *typecheck.Node, path string) {
	requests := entry(n, "requests")
	for _, name := range excessive(path, constants(requests), constants(entry(n, "limits"))) {
		f.add(InvalidChild, entry(requests, name), "%s of %s must not be greater than its limit", below(below(path, "requests"), name), f.subject)
	}
}

// required notes which required fields a map has.
func (f *fitter) required(n *typecheck.Node, t *schema.Type, path string) {
	if f.absent == nil {
		return
	}
	for _, name := range f.requires(t, path) {
		field, _ := t.Field(name)
		if field.Default() != nil || path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		there := len(n.Beside) > 0 || slices.ContainsFunc(n.Keys, func(e typecheck.Entry) bool {
			return e.Name == "" || e.Name == name && !nothing(e.Node)
		})
		there = there || mistaken(name, t, names(n))
		f.absent.note(n.Place, fmt.Sprintf("%s requires %s", f.subject, below(path, name)), !there)
	}
}

// nothing reports whether nothing is written as a value: the key is left out.
func nothing(n *typecheck.Node) bool { return n.Value != nil && n.Value.Known && n.Value.Const == nil }

// names are the literal keys of a map.
func names(n *typecheck.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range n.Keys {
			if e.Name != "" && !yield(e.Name) {
				return
			}
		}
	}
}

// items compares a list that the author wrote.
func (f *fitter) items(n *typecheck.Node, t *schema.Type, path string) {
	if t.Kind() != schema.KindList {
		f.add(DoesNotFit, n, "%s of %s must be %s, not a list", path, f.subject, article(t.Kind()))
		return
	}
	for _, item := range n.Items {
		f.node(item, t.Elem(), path+"[]")
	}
}

// beside compares what is printed as further entries or items.
func (f *fitter) beside(n *typecheck.Node, t *schema.Type, path string) {
	for _, v := range n.Beside {
		if misfit := fits(v.Type, t, path); misfit != nil {
			f.add(DoesNotFit, n, "%s", misfit.say(f.subject, named(v)))
		}
	}
}

// value compares a scalar, or a printed value of any type.
func (f *fitter) value(n *typecheck.Node, v *typecheck.Value, t *schema.Type, path string) {
	if v.Known {
		if text := refused(v.Const, t); text != "" {
			f.add(DoesNotFit, n, "%s of %s %s", path, f.subject, text)
		} else {
			f.invalid(n, path, v.Const)
		}
		return
	}
	if misfit := fits(v.Type, t, path); misfit != nil {
		f.add(DoesNotFit, n, "%s", misfit.say(f.subject, named(v)))
	}
}

// text compares a text that holds values.
func (f *fitter) text(n *typecheck.Node, t *schema.Type, path string) {
	switch t.Kind() {
	case schema.KindString, schema.KindIntOrString:
		f.invalid(n, path, sample(n))
		return
	}
	advice := ""
	if t.Kind() == schema.KindInteger || t.Kind() == schema.KindNumber || t.Kind() == schema.KindBoolean {
		advice = ": print the value alone, without quotes"
	}
	f.add(DoesNotFit, n, "%s of %s must be %s, not a text%s", path, f.subject, article(t.Kind()), advice)
}

// invalid finds what the API server refuses in a value that its type allows.
func (f *fitter) invalid(n *typecheck.Node, path string, value any) {
	if text := invalid(f.subject, path, value); f.builtIn && text != "" {
		f.add(InvalidChild, n, "%s", text)
	}
}

// named is how messages call a value.
func named(v *typecheck.Value) string {
	if !v.Exact || len(v.Sources) == 0 || v.Sources[0].Path == "" {
		return "this"
	}
	if read := v.Sources[0].Read; read != "" {
		return v.Sources[0].Path + " of " + read
	}
	return "." + v.Sources[0].Path
}
