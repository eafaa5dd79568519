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
	Reaches []Reach `json:"reaches"`
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
	Part bool `json:"part,omitempty"`
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
				f.document(d, slices.Contains(k.Files, file))
			}
		}
	}
	for path := range followed.Reads {
		if path != "" && !f.reaches(path) {
			f.found[path] = nil
		}
	}
	return f.fields(), nil
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

// reaches reports whether a field, or one above or below it, reaches anything.
func (f *finder) reaches(path string) bool {
	for other, reached := range f.found {
		if len(reached) > 0 && (under(path, other) || under(other, path)) {
			return true
		}
	}
	return false
}

func under(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// document follows one document from its root: that of a child, or the status of
// the resource.
func (f *finder) document(d *typecheck.Document, child bool) {
	if !child {
		status, _ := field(f.root, "status")
		f.node(d.Root, []string{"status"}, status)
		return
	}
	f.gvk = apischema.FromAPIVersionAndKind(literal(d.Root, "apiVersion"), literal(d.Root, "kind"))
	var t *schema.Type
	if f.live != nil {
		t = f.live(f.gvk)
	}
	f.node(d.Root, nil, t)
}

// literal is a literal text at the top of a document, or "".
func literal(root *typecheck.Node, key string) string {
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

// node follows a node of the document, at a path, of a type.
func (f *finder) node(n *typecheck.Node, path []string, t *schema.Type) {
	if n == nil {
		return
	}
	if n.Value != nil {
		f.value(n.Value, n.Place, path, t)
	}
	for _, v := range n.Text {
		part := *v
		part.Exact = false
		f.value(&part, n.Place, path, nil)
	}
	for _, v := range n.Beside {
		f.value(v, n.Place, path, t)
	}
	for _, e := range n.Keys {
		step := e.Name
		if step == "" {
			step = "*"
			f.node(e.Key, append(path[:len(path):len(path)], step), nil)
		}
		child, _ := field(t, step)
		f.node(e.Node, append(path[:len(path):len(path)], step), child)
	}
	for _, item := range n.Items {
		f.node(item, listed(path), t.Elem())
	}
}

// listed is the path of the items of a list.
func listed(path []string) []string {
	if len(path) == 0 {
		return []string{"[]"}
	}
	return append(slices.Clone(path[:len(path)-1]), path[len(path)-1]+"[]")
}

// field is the type of a field; nil where it is not known.
func field(t *schema.Type, name string) (*schema.Type, bool) {
	if t == nil {
		return nil, false
	}
	return t.Field(name)
}

// value notes what a value reaches: the field that it is put into, or, if it is
// a map or a list itself, what of it is dangerous.
func (f *finder) value(v *typecheck.Value, place template.Place, path []string, t *schema.Type) {
	for i, source := range v.Sources {
		if source.Read != "" || source.Path == "" {
			continue
		}
		if i == 0 && v.Exact {
			f.whole(source.Path, at{place, path, v.Type, t})
			continue
		}
		f.note(source.Path, place, path, true)
	}
}

func (f *finder) note(from string, place template.Place, path []string, part bool) {
	if f.found[from] == nil {
		f.found[from] = map[Reach]bool{}
	}
	f.found[from][Reach{
		Risk: f.risk(from, path), APIVersion: f.gvk.GroupVersion().String(), Kind: f.gvk.Kind,
		Path: shown(path), Part: part, Place: line(place),
	}] = true
}

// risk is what a field of the child decides, for a field of the resource: what is
// no text cannot say another image or command.
func (f *finder) risk(from string, path []string) Risk {
	risk := riskOf(f.gvk.Kind, path)
	if risk.ofText() && plain(f.root, from) {
		return Other
	}
	return risk
}

// plain reports whether a field of a type, such as "spec.ports[].port", is a number
// or a boolean.
func plain(t *schema.Type, path string) bool {
	for step := range strings.SplitSeq(path, ".") {
		t, _ = field(t, name(step))
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

// shown is a path as people write it; a key that holds dots is in brackets.
func shown(path []string) string {
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

// fields are the found fields, those that reach the most dangerous first.
func (f *finder) fields() []Field {
	var all []Field
	for path, reached := range f.found {
		maps.DeleteFunc(reached, func(r Reach, _ bool) bool { // on another way it goes there whole
			whole := r
			whole.Part = false
			return r.Part && reached[whole]
		})
		all = append(all, Field{Path: path, Reaches: slices.SortedFunc(maps.Keys(reached), byRisk)})
	}
	slices.SortFunc(all, func(a, b Field) int { return cmp.Or(a.rank()-b.rank(), strings.Compare(a.Path, b.Path)) })
	return all
}

func byRisk(a, b Reach) int {
	return cmp.Or(slices.Index(risks, a.Risk)-slices.Index(risks, b.Risk), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Path, b.Path), strings.Compare(a.Place, b.Place))
}

// rank is the place of a field's greatest risk.
func (f Field) rank() int {
	if len(f.Reaches) == 0 {
		return len(risks)
	}
	return slices.Index(risks, f.Reaches[0].Risk)
}
