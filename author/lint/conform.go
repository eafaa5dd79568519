package lint

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A wrong is what a type refuses in an object: the steps of its path, names
// and indexes, and what is wrong.
type wrong struct {
	path []any
	text string
	// key: it is the key that is wrong.
	key bool
}

// placeIn returns where the template writes the faulty key or value.
func (w *wrong) placeIn(d *template.Document) template.Place {
	if w.key {
		return d.KeyPlace(w.path...)
	}
	return d.Place(w.path...)
}

// violationsOf returns what is wrong with a rendered child.
func (l *linter) violationsOf(c render.Child) []wrong {
	gvk := c.Object.GroupVersionKind()
	if t := schema.BuiltInType(gvk); t != nil {
		v := conformer{subject: gvk.Kind + " " + gvk.GroupVersion().String(), partial: c.Policy.Patch}
		v.checkValue(c.Object.Object, t, nil)
		return v.wrongs
	}
	version := l.catalog.Version(gvk)
	if version == nil {
		return nil
	}
	return violationsOfCRD(version, c, gvk)
}

// violationsOfCRD returns what the CRD of a child refuses.
func violationsOfCRD(version *schema.Version, c render.Child, gvk apischema.GroupVersionKind) []wrong {
	subject := gvk.Kind + " " + gvk.GroupVersion().String()
	object := runtime.DeepCopyJSON(c.Object.Object)
	var all []wrong
	for _, path := range apiserver.FindUnknown(version, object) {
		all = append(all, wrong{crdfile.SplitPath(path), undeclaredAt(subject, version.Live(), crdfile.SplitPath(path)), true})
	}
	if c.Policy.Patch {
		return all
	}
	apiserver.Default(version, object)
	for _, err := range apiserver.Validate(version, object) {
		all = append(all, wrong{path: crdfile.SplitPath(err.Field), text: subject + ": " + crdfile.Describe(err)})
	}
	return all
}

// undeclaredAt says which field of a path there is not.
func undeclaredAt(subject string, t *schema.Type, path []any) string {
	for i, step := range path {
		name, ok := step.(string)
		if !ok {
			t = t.Elem()
			continue
		}
		field, found := t.Field(name)
		if !found {
			return describeUndeclared(subject, formatPath(path[:i]), name, t)
		}
		t = field
	}
	return fmt.Sprintf("%s has no field %s", subject, formatPath(path))
}

// A conformer compares an object with the type of a built-in kind.
type conformer struct {
	subject string
	// partial: nothing is required.
	partial bool
	wrongs  []wrong
}

func (c *conformer) add(path []any, format string, args ...any) {
	c.wrongs = append(c.wrongs, wrong{path: slices.Clone(path), text: fmt.Sprintf(format, args...)})
}

// checkValue compares a value with the type of its place, and then its fields or items.
func (c *conformer) checkValue(value any, t *schema.Type, path []any) {
	switch value := value.(type) {
	case map[string]any:
		if t.Kind() == schema.KindObject || t.Kind() == schema.KindFreeMap || t.Kind() == schema.KindAny {
			c.checkFields(value, t, path)
			return
		}
	case []any:
		if t.Kind() == schema.KindList || t.Kind() == schema.KindAny {
			for i, item := range value {
				c.checkValue(item, t.Elem(), append(path, i))
			}
			return
		}
	}
	if text := refusalReason(value, t); text != "" {
		c.add(path, "%s of %s %s", formatPath(path), c.subject, text)
	} else if text := validationError(c.subject, formatPath(path), value); text != "" {
		c.add(path, "%s", text)
	}
}

// checkFields compares the fields of a map with those that its type declares.
func (c *conformer) checkFields(value map[string]any, t *schema.Type, path []any) {
	for _, name := range slices.Sorted(maps.Keys(value)) {
		at := append(path[:len(path):len(path)], name)
		field, found := t.Field(name)
		if !found {
			c.wrongs = append(c.wrongs, wrong{slices.Clone(at), describeUndeclared(c.subject, formatPath(path), name, t), true})
			continue
		}
		c.checkValue(value[name], field, at)
	}
	requests, _ := value["requests"].(map[string]any)
	limits, _ := value["limits"].(map[string]any)
	for _, name := range excessiveRequests(formatPath(path), requests, limits) {
		c.add(append(path[:len(path):len(path)], "requests", name), "%s of %s must not be greater than its limit",
			joinPath(joinPath(formatPath(path), "requests"), name), c.subject)
	}
	for name, text := range excludedBy(c.subject, formatPath(path), t, value) {
		c.wrongs = append(c.wrongs, wrong{append(path[:len(path):len(path)], name), text, true})
	}
	for _, name := range requiredOf(t, formatPath(path)) {
		if _, there := value[name]; !there && !c.partial && !isMisspelt(name, t, maps.Keys(value)) {
			c.add(path, "%s requires %s", c.subject, joinPath(formatPath(path), name))
		}
	}
}

// isMisspelt reports whether one of these keys, which the type does not declare, most likely means
// this field. The field is then not reported as missing too.
func isMisspelt(name string, t *schema.Type, keys iter.Seq[string]) bool {
	for key := range keys {
		if _, found := t.Field(key); !found && schema.Suggest(key, t.Fields()) == name {
			return true
		}
	}
	return false
}

// formatPath returns a path for people. It does not number the items of lists.
func formatPath(path []any) string {
	text := ""
	for _, step := range path {
		if name, ok := step.(string); ok {
			text = joinPath(text, name)
		} else {
			text += "[]"
		}
	}
	return text
}
