package exposure

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Field is a field of the resource, and all that it reaches.
type Field struct {
	// Path is such as "spec.ports[].name".
	Path string `json:"path"`
	// Reaches are the fields of children and of the resource's own status, the
	// most dangerous first. A field that reaches none decides what is rendered or
	// read.
	Reaches []Reach `json:"targets"`
}

// A Reach is a field of a child into which a field of the resource goes.
type Reach struct {
	Risk       Risk   `json:"risk"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Path is such as "spec.template.spec.containers[].image"; a key that comes
	// out of a value is "*".
	Path string `json:"path"`
	// Part says that it is a part of the value, or what a function made of it.
	Part bool `json:"partial,omitempty"`
	// Place is the line of the template that writes it.
	Place string `json:"place"`
}

// Of follows the templates of a kind. live gives the type of a kind of objects;
// nil where it is unknown. Its error is about templates that make no YAML on one
// of the ways through them, so that nobody can tell.
func Of(k *kind.Kind, live func(apischema.GroupVersionKind) *schema.Type) ([]Field, error) {
	in := typecheck.InputOf(k)
	in.Live = live
	followed := typecheck.Follow(in)
	var errs []error
	for _, found := range followed.Findings {
		if found.Class == typecheck.Syntax {
			errs = append(errs, found)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f := &finder{live: live, root: in.Root, found: map[string]map[Reach]bool{}}
	for _, file := range in.Files {
		f.gvk = k.GVK
		for _, way := range followed.Paths[file] {
			for _, d := range way.Documents {
				f.followDocument(d, slices.Contains(k.Files, file))
			}
		}
	}
	for path := range followed.Reads {
		if path != "" && !f.hasReach(path) {
			f.found[path] = nil
		}
	}
	return f.sortFields(), nil
}

// A finder collects what each field reaches.
type finder struct {
	live func(apischema.GroupVersionKind) *schema.Type
	// root is the type of the resource.
	root  *schema.Type
	found map[string]map[Reach]bool
	// gvk is the kind of the document at hand.
	gvk apischema.GroupVersionKind
}

// hasReach reports whether a field, or one above or below it, reaches anything.
func (f *finder) hasReach(path string) bool {
	for other, reached := range f.found {
		if len(reached) > 0 && (isUnder(path, other) || isUnder(other, path)) {
			return true
		}
	}
	return false
}

// isUnder reports whether a path is that of a field, or lies below it.
func isUnder(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// followDocument follows one document from its root: that of a child, or the status of the
// resource.
func (f *finder) followDocument(d *typecheck.Document, child bool) {
	if !child {
		status, _ := fieldType(f.root, "status")
		f.followNode(d.Root, []string{"status"}, status)
		return
	}
	f.gvk = apischema.FromAPIVersionAndKind(literalText(d.Root, "apiVersion"), literalText(d.Root, "kind"))
	var t *schema.Type
	if f.live != nil {
		t = f.live(f.gvk)
	}
	f.followNode(d.Root, nil, t)
}

// literalText returns a literal text at the top of a document, or "".
func literalText(root *typecheck.Node, key string) string {
	if root == nil {
		return ""
	}
	for _, e := range root.Keys {
		if e.Name == key && e.Node != nil && e.Node.Value != nil {
			text, _ := e.Node.Value.Const.(string)
			return text
		}
	}
	return ""
}

// followNode follows a node of the document, at a path, of a type.
func (f *finder) followNode(n *typecheck.Node, path []string, t *schema.Type) {
	if n == nil {
		return
	}
	if n.Value != nil {
		f.followValue(n.Value, n.Place, path, t)
	}
	for _, v := range n.Text {
		part := *v
		part.Exact = false
		f.followValue(&part, n.Place, path, nil)
	}
	for _, v := range n.Beside {
		f.followValue(v, n.Place, path, t)
	}
	for _, e := range n.Keys {
		step := e.Name
		if step == "" {
			step = "*"
			f.followNode(e.Key, append(path[:len(path):len(path)], step), nil)
		}
		child, _ := fieldType(t, step)
		f.followNode(e.Node, append(path[:len(path):len(path)], step), child)
	}
	for _, item := range n.Items {
		f.followNode(item, itemPath(path), t.Elem())
	}
}

// itemPath returns the path of the items of a list.
func itemPath(path []string) []string {
	if len(path) == 0 {
		return []string{"[]"}
	}
	return append(slices.Clone(path[:len(path)-1]), path[len(path)-1]+"[]")
}

// fieldType returns the type of a field, and whether there may be such a field. The type is nil
// where it is not known.
func fieldType(t *schema.Type, name string) (*schema.Type, bool) {
	if t == nil {
		return nil, false
	}
	return t.Field(name)
}

// followValue records what a value reaches: the field that it is put into. If the value is a map or
// a list itself, the dangerous fields in it count too.
func (f *finder) followValue(v *typecheck.Value, place template.Place, path []string, t *schema.Type) {
	for i, source := range v.Sources {
		if source.Read != "" || source.Path == "" {
			continue
		}
		if i == 0 && v.Exact {
			f.followWhole(source.Path, at{place, path, v.Type, t})
			continue
		}
		f.recordReach(source.Path, place, path, true)
	}
}

// recordReach records that a field of the resource reaches a path of the document.
func (f *finder) recordReach(from string, place template.Place, path []string, part bool) {
	if f.found[from] == nil {
		f.found[from] = map[Reach]bool{}
	}
	f.found[from][Reach{
		Risk: f.riskFor(from, path), APIVersion: f.gvk.GroupVersion().String(), Kind: f.gvk.Kind,
		Path: formatPath(path), Part: part, Place: formatPlace(place),
	}] = true
}

// riskFor returns what a field of the child decides for a field of the resource. A number or a
// boolean cannot choose another image or command.
func (f *finder) riskFor(from string, path []string) Risk {
	risk := riskOf(f.gvk.Kind, path)
	if risk.ofText() && isNumberOrBool(f.root, from) {
		return Other
	}
	return risk
}

// isNumberOrBool reports whether a field of a type, such as "spec.ports[].port", is a number or a
// boolean.
func isNumberOrBool(t *schema.Type, path string) bool {
	for step := range strings.SplitSeq(path, ".") {
		t, _ = fieldType(t, trimBrackets(step))
		for range strings.Count(step, "[]") {
			t = t.Elem()
		}
	}
	switch t.Kind() {
	case schema.KindInteger, schema.KindNumber, schema.KindBoolean:
		return true
	}
	return false
}

// formatPath returns a path as people write it. A key that holds dots is in brackets.
func formatPath(path []string) string {
	var b strings.Builder
	for _, step := range path {
		switch {
		case strings.ContainsAny(step, "./"):
			b.WriteString("[" + step + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// sortFields returns the found fields. Those that reach the most dangerous come first.
func (f *finder) sortFields() []Field {
	var all []Field
	for path, reached := range f.found {
		maps.DeleteFunc(reached, func(r Reach, _ bool) bool { // on another way it goes there whole
			whole := r
			whole.Part = false
			return r.Part && reached[whole]
		})
		all = append(all, Field{Path: path, Reaches: slices.SortedFunc(maps.Keys(reached), byRisk)})
	}
	slices.SortFunc(all, func(a, b Field) int { return cmp.Or(a.riskRank()-b.riskRank(), strings.Compare(a.Path, b.Path)) })
	return all
}

func byRisk(a, b Reach) int {
	return cmp.Or(slices.Index(risks, a.Risk)-slices.Index(risks, b.Risk), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Path, b.Path), strings.Compare(a.Place, b.Place))
}

// riskRank returns the rank of the field's greatest risk, where 0 is the most dangerous.
func (f Field) riskRank() int {
	if len(f.Reaches) == 0 {
		return len(risks)
	}
	return slices.Index(risks, f.Reaches[0].Risk)
}
