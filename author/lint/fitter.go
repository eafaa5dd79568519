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

// checkNode compares one node with the type of its place.
func (f *fitter) checkNode(n *typecheck.Node, t *schema.Type, path string) {
	switch {
	case n == nil || t.Kind() == schema.KindAny:
	case n.Value != nil:
		f.checkValue(n, n.Value, t, path)
	case n.Text != nil:
		f.checkText(n, t, path)
	case n.Keys != nil:
		f.checkEntries(n, t, path)
	case n.Items != nil:
		f.checkItems(n, t, path)
	}
	if n != nil {
		f.checkBeside(n, t, path)
	}
}

// checkEntries compares a map that the author wrote.
func (f *fitter) checkEntries(n *typecheck.Node, t *schema.Type, path string) {
	if t.Kind() != schema.KindObject && t.Kind() != schema.KindFreeMap {
		f.add(FieldType, n, "%s of %s must be %s, not a map", path, f.subject, kindWithArticle(t.Kind()))
		return
	}
	for _, e := range n.Keys {
		if e.Name == "" {
			f.checkNode(e.Node, t.Elem(), path+".*")
			continue
		}
		field, found := t.Field(e.Name)
		if !found {
			f.add(f.unknown, e.Key, "%s", describeUndeclared(f.subject, path, e.Name, t))
			continue
		}
		required := slices.Contains(f.requiredFields(t, path), e.Name)
		if v := e.Node.Value; f.absent != nil && required && v != nil && v.Nil {
			f.add(typecheck.Nil, e.Node, "%s of %s is required, and %s may be absent: give it a value with default, or ask with required",
				joinPath(path, e.Name), f.subject, nameOfValue(v))
		}
		f.checkNode(e.Node, field, joinPath(path, e.Name))
	}
	f.recordRequired(n, t, path)
	f.checkExclusive(n, t, path)
	if f.builtIn {
		f.checkRequests(n, path)
	}
}

// requiredFields returns the fields that a map at a path must have.
func (f *fitter) requiredFields(t *schema.Type, path string) []string {
	if f.builtIn {
		return requiredOf(t, path)
	}
	return t.Required()
}

// checkRequests finds constant requests that are greater than their limits.
func (f *fitter) checkRequests(n *typecheck.Node, path string) {
	requests := entryOf(n, "requests")
	for _, name := range excessiveRequests(path, knownEntries(requests), knownEntries(entryOf(n, "limits"))) {
		f.add(InvalidChild, entryOf(requests, name), "%s of %s must not be greater than its limit",
			joinPath(joinPath(path, "requests"), name), f.subject)
	}
}

// recordRequired records which required fields a map has.
func (f *fitter) recordRequired(n *typecheck.Node, t *schema.Type, path string) {
	if f.absent == nil {
		return
	}
	for _, name := range f.requiredFields(t, path) {
		field, _ := t.Field(name)
		if field.Default() != nil || path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		there := len(n.Beside) > 0 || slices.ContainsFunc(n.Keys, func(e typecheck.Entry) bool {
			return e.Name == "" || e.Name == name && !isNil(e.Node)
		})
		there = there || isMisspelt(name, t, literalKeys(n))
		f.absent.recordMap(n.Place, fmt.Sprintf("%s requires %s", f.subject, joinPath(path, name)), !there)
	}
}

// isNil reports whether the value is written as nil: the key is left out.
func isNil(n *typecheck.Node) bool { return n.Value != nil && n.Value.Known && n.Value.Const == nil }

// literalKeys yields the literal keys of a map.
func literalKeys(n *typecheck.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range n.Keys {
			if e.Name != "" && !yield(e.Name) {
				return
			}
		}
	}
}

// checkItems compares a list that the author wrote.
func (f *fitter) checkItems(n *typecheck.Node, t *schema.Type, path string) {
	if t.Kind() != schema.KindList {
		f.add(FieldType, n, "%s of %s must be %s, not a list", path, f.subject, kindWithArticle(t.Kind()))
		return
	}
	for _, item := range n.Items {
		f.checkNode(item, t.Elem(), path+"[]")
	}
}

// checkBeside compares what is printed as further entries or items.
func (f *fitter) checkBeside(n *typecheck.Node, t *schema.Type, path string) {
	for _, v := range n.Beside {
		if misfit := findMisfit(v.Type, t, path); misfit != nil {
			f.add(FieldType, n, "%s", misfit.describeMisfit(f.subject, nameOfValue(v)))
		}
	}
}

// checkValue compares a scalar, or a printed value of any type.
func (f *fitter) checkValue(n *typecheck.Node, v *typecheck.Value, t *schema.Type, path string) {
	if v.Known {
		if text := describeRefusal(v.Const, t); text != "" {
			f.add(FieldType, n, "%s of %s %s", path, f.subject, text)
		} else {
			f.checkValidity(n, path, v.Const)
		}
		return
	}
	if misfit := findMisfit(v.Type, t, path); misfit != nil {
		f.add(FieldType, n, "%s", misfit.describeMisfit(f.subject, nameOfValue(v)))
	}
}

// checkText compares a text that holds values.
func (f *fitter) checkText(n *typecheck.Node, t *schema.Type, path string) {
	switch t.Kind() {
	case schema.KindString, schema.KindIntOrString:
		f.checkValidity(n, path, sampleText(n))
		return
	}
	advice := ""
	if t.Kind() == schema.KindInteger || t.Kind() == schema.KindNumber || t.Kind() == schema.KindBoolean {
		advice = ": print the value alone, without quotes"
	}
	f.add(FieldType, n, "%s of %s must be %s, not a text%s", path, f.subject, kindWithArticle(t.Kind()), advice)
}

// checkValidity finds what the API server refuses in a value that its type allows.
func (f *fitter) checkValidity(n *typecheck.Node, path string, value any) {
	if text := validationError(f.subject, path, value); f.builtIn && text != "" {
		f.add(InvalidChild, n, "%s", text)
	}
}

// nameOfValue returns what messages call a value.
func nameOfValue(v *typecheck.Value) string {
	if !v.Exact || len(v.Sources) == 0 || v.Sources[0].Path == "" {
		return "this"
	}
	if read := v.Sources[0].Read; read != "" {
		return v.Sources[0].Path + " of " + read
	}
	return "." + v.Sources[0].Path
}
