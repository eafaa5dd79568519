package kind

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// places are those of the values of a file, by path, such as children[0].kind.
type places map[string]template.Place

// A decoder puts YAML into Go values strictly: every field must be known, be
// there once and be of its type. What is wrong is collected with its place.
type decoder struct {
	file   *folder.File
	places places
	errs   []error
}

// parseDocument parses a file of one document. It returns nil if nothing is in it.
func parseDocument(f *folder.File) (*yaml.Node, error) {
	var doc, next yaml.Node
	d := yaml.NewDecoder(strings.NewReader(string(f.Data)))
	if err := d.Decode(&doc); err != nil || len(doc.Content) == 0 {
		if strings.TrimSpace(string(f.Data)) == "" || err != nil && err.Error() == "EOF" {
			return nil, nil
		}
		return nil, notYAML(f, err)
	}
	if d.Decode(&next) == nil {
		return nil, &template.Error{Place: placeOf(f, &next), Err: errors.New("it must be one document")}
	}
	return doc.Content[0], nil
}

func placeOf(f *folder.File, n *yaml.Node) template.Place {
	return template.Place{File: f.Shown, Line: n.Line, Column: n.Column}
}

// addError records an error at a node.
func (d *decoder) addError(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, &template.Error{Place: placeOf(d.file, n), Err: fmt.Errorf(format, args...)})
}

var (
	durationType   = reflect.TypeFor[metav1.Duration]()
	namespacesType = reflect.TypeFor[Namespaces]()
	waveType       = reflect.TypeFor[Wave]()
)

// decodeValue puts the value of a node into v. path is that of the field, or "" for the whole.
func (d *decoder) decodeValue(n *yaml.Node, v reflect.Value, path string) {
	d.places[path] = placeOf(d.file, n)
	switch {
	case v.Type() == durationType:
		d.decodeDuration(n, v, path)
	case v.Type() == namespacesType:
		d.decodeNamespaces(n, v, path)
	case v.Type() == waveType && n.Kind == yaml.ScalarNode:
		d.decodeValue(n, v.FieldByName("Size"), path)
	case v.Kind() == reflect.Struct:
		d.decodeFields(n, v, path)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decodeValue(n, v.Elem(), path)
	case v.Kind() == reflect.Map:
		d.decodeTexts(n, v, path)
	case v.Kind() == reflect.Int:
		if n.Tag != "!!int" || n.Decode(v.Addr().Interface()) != nil || v.Int() < 0 || v.Int() > math.MaxInt32 {
			d.addError(n, "%s must be a whole number from 0 to %d", path, math.MaxInt32)
		}
	case v.Kind() == reflect.Slice:
		d.decodeList(n, v, path)
	case v.Kind() == reflect.Bool:
		if n.Tag != "!!bool" || n.Decode(v.Addr().Interface()) != nil {
			d.addError(n, "%s must be true or false", path)
		}
	default: // string
		if n.Tag != "!!str" || n.Kind != yaml.ScalarNode {
			d.addError(n, "%s must be a text%s", path, quoteHint(n))
			return
		}
		v.SetString(n.Value)
	}
}

// decodeFields reads a map into a struct. The tag "was" of a field is its name before the first
// release, which errors name.
func (d *decoder) decodeFields(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.addError(n, "%s must be a map of fields", subjectOf(path))
		return
	}
	known, renamed := map[string]reflect.Value{}, map[string]string{}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		known[name] = v.Field(i)
		if old := tag.Get("was"); old != "" {
			renamed[old] = name
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.addError(key, "a key must be a text, not a map or list: this file is no template, so {{ … }} means nothing in it")
			continue
		}
		name := key.Value
		if now, old := renamed[name]; old {
			d.addError(key, "%s is called %s now", joinPath(path, name), joinPath(path, now))
			continue
		}
		field := joinPath(path, name)
		if first, twice := d.places[field]; twice {
			d.addError(key, "%s occurs twice: it stands at %s already", field, first)
			continue
		}
		if into, found := known[name]; found {
			d.decodeValue(value, into, field)
			continue
		}
		d.places[field] = placeOf(d.file, value)
		if ignoredFields[field] != "" {
			continue
		}
		d.addError(key, "unknown field %s; %s", field, suggestName(name, slices.Sorted(maps.Keys(known))))
	}
}

// subjectOf returns what an error calls the field at a path.
func subjectOf(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// suggestName says which name a misspelt one means, or which there are.
func suggestName(name string, known []string) string {
	if near := schema.Suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(known, ", ")
}

// quoteHint is how to make a text of a scalar that YAML takes for something else.
func quoteHint(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return ""
	}
	return ": write it in quotes"
}

// decodeList reads a list. One that is written is never nil.
func (d *decoder) decodeList(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.addError(n, "%s must be a list", path)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.decodeValue(item, list.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(list)
}

// decodeTexts reads a map of texts.
func (d *decoder) decodeTexts(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.addError(n, "%s must be a map", path)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, text := n.Content[i], reflect.New(v.Type().Elem()).Elem()
		if v.MapIndex(reflect.ValueOf(key.Value)).IsValid() {
			d.addError(key, "%s occurs twice", joinPath(path, key.Value))
			continue
		}
		d.decodeValue(n.Content[i+1], text, joinPath(path, key.Value))
		v.SetMapIndex(reflect.ValueOf(key.Value), text)
	}
}

// decodeDuration reads a duration.
func (d *decoder) decodeDuration(n *yaml.Node, v reflect.Value, path string) {
	t, err := time.ParseDuration(n.Value)
	switch {
	case err != nil || n.Kind != yaml.ScalarNode:
		d.addError(n, "%s must be a duration, such as 10m or 90s", path)
	case t < shortestDuration:
		d.addError(n, "%s must be at least %s", path, shortestDuration)
	default:
		v.Set(reflect.ValueOf(metav1.Duration{Duration: t}))
	}
}

// decodeNamespaces reads own, rendered, or a list of names.
func (d *decoder) decodeNamespaces(n *yaml.Node, v reflect.Value, path string) {
	ns := v.Addr().Interface().(*Namespaces)
	switch {
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		d.decodeList(n, reflect.ValueOf(&ns.Listed).Elem(), path)
	case n.Kind == yaml.ScalarNode && n.Value == "rendered":
		ns.Rendered = true
	case n.Kind == yaml.ScalarNode && n.Value == "own":
	default:
		d.addError(n, "%s must be own, rendered or a list of names", path)
	}
}

// joinPath returns the path of a field.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
