package kind

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/status/health"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A HealthEntry is an entry of healthCheckExprs that an author wrote.
type HealthEntry struct {
	*health.Rule
	// Place is where the entry begins.
	Place template.Place
	// InRoot reports whether the entry is one of the root.
	InRoot bool
	file   *folder.File
	fields map[string]template.Place
}

// PlaceOf returns where a rune of the text of a field stands in the file.
func (e HealthEntry) PlaceOf(field string, offset int) template.Place {
	at, written := e.fields[field]
	if !written {
		return e.Place
	}
	return placeInScalar(e.file, at, fieldOf(e.Entry, field), offset)
}

// fieldOf is the value of a field of an entry, by its name in YAML.
func fieldOf(e health.Entry, name string) string {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			return v.Field(i).String()
		}
	}
	return ""
}

// HealthFile is templates/_lib/health.yaml.
type HealthFile struct {
	// HealthCheckExprs are what they are in kind.yaml, for all kinds of the root.
	HealthCheckExprs []health.Entry `json:"healthCheckExprs"`
}

// compileHealth compiles the entries of kind.yaml and those of the root. Of the root's
// it keeps the ones for kinds that the folder renders or reads.
func (k *Kind) compileHealth(f *folder.Folder) error {
	own, ownErr := compileEntries(f.Settings, k.Settings.HealthCheckExprs, k.written)
	file := HealthFile{}
	var written places
	var rootErr error
	if f.Health != nil {
		written, rootErr = decodeFile(f.Health, &file)
	}
	shared, sharedErr := compileEntries(f.Health, file.HealthCheckExprs, written)
	used := rulesOf(shared).Select(k.JudgedKinds())
	shared = slices.DeleteFunc(shared, func(e HealthEntry) bool { return !slices.Contains(used, e.Rule) })
	for i := range shared {
		shared[i].InRoot = true
	}
	k.Health = health.NewSet(rulesOf(own), used)
	k.HealthEntries = append(own, shared...)
	return errors.Join(ownErr, rootErr, sharedErr)
}

// decodeFile reads a file of one document into a struct; it also returns where
// everything stands.
func decodeFile(f *folder.File, into any) (places, error) {
	root, err := parseDocument(f)
	if err != nil || root == nil {
		return places{}, err
	}
	d := &decoder{file: f, places: places{}}
	d.decodeValue(root, reflect.ValueOf(into).Elem(), "")
	return d.places, errors.Join(d.errs...)
}

// rulesOf returns the compiled entries, without their places.
func rulesOf(entries []HealthEntry) health.List {
	list := make(health.List, len(entries))
	for i, e := range entries {
		list[i] = e.Rule
	}
	return list
}

// compileEntries compiles the entries of a file. Its error joins what is wrong with
// them, with places.
func compileEntries(f *folder.File, entries []health.Entry, written places) ([]HealthEntry, error) {
	compiled, wrong := health.CompileList(entries)
	var errs []error
	bad := map[int]bool{}
	for _, err := range wrong {
		path := fmt.Sprintf("healthCheckExprs[%d]", err.Index)
		place, found := written[path+"."+err.Field]
		if found {
			place = placeInScalar(f, place, fieldOf(entries[err.Index], err.Field), err.Offset)
		} else {
			place = written[path]
		}
		errs = append(errs, &template.Error{Place: place, Err: err})
		bad[err.Index] = true
	}
	var all []HealthEntry
	for i := range entries {
		if bad[i] {
			continue
		}
		path := fmt.Sprintf("healthCheckExprs[%d]", i)
		e := HealthEntry{Rule: compiled[len(all)], Place: written[path], file: f, fields: map[string]template.Place{}}
		for _, field := range []string{"apiVersion", "kind", "current", "inProgress", "failed", "message"} {
			if at, found := written[path+"."+field]; found {
				e.fields[field] = at
			}
		}
		all = append(all, e)
	}
	return all, errors.Join(errs...)
}

// JudgedKinds are the kinds that the folder renders, patches or reads.
func (k *Kind) JudgedKinds() []apischema.GroupKind {
	var all []apischema.GroupKind
	for _, c := range k.Children {
		all = append(all, c.GroupKind())
	}
	for _, d := range k.Documents {
		all = append(all, d.GroupKind())
	}
	for _, r := range k.ReadKinds() {
		all = append(all, r.GroupKind())
	}
	return all
}

// RootHealth returns the entries of the root that the folder uses, as a file that
// means the same; nil if it uses none. The order of the entries in the root and its
// comments are no part of it.
func (k *Kind) RootHealth() []byte { return WriteRootHealth(k.RootEntries()) }

// RootEntries are the entries of the root that the folder uses.
func (k *Kind) RootEntries() []health.Entry {
	var entries []health.Entry
	for _, e := range k.HealthEntries {
		if e.InRoot {
			entries = append(entries, e.Entry)
		}
	}
	return entries
}

// WriteRootHealth returns a templates/_lib/health.yaml with these entries; nil if there
// are none.
func WriteRootHealth(entries []health.Entry) []byte {
	if len(entries) == 0 {
		return nil
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b health.Entry) int { return cmp.Compare(a.String(), b.String()) })
	text, err := sigsyaml.Marshal(HealthFile{sorted})
	if err != nil {
		panic(err) // texts can be written
	}
	return text
}

// placeInScalar returns where a rune of a scalar's value stands in a file, if the scalar
// begins at a place. It follows both texts and skips what YAML adds: indentation, line
// breaks and quotes.
func placeInScalar(f *folder.File, at template.Place, value string, offset int) template.Place {
	source := textFrom(f, at)
	if strings.HasPrefix(source, "|") || strings.HasPrefix(source, ">") {
		_, body, _ := strings.Cut(source, "\n")
		at.Line, at.Column, source = at.Line+1, 1, body
	}
	want := []rune(value)
	next := 0
	skipBlank := func() {
		for next < offset && next < len(want) && unicode.IsSpace(want[next]) {
			next++
		}
	}
	skipBlank()
	for source != "" {
		c, size := utf8.DecodeRuneInString(source)
		if next < len(want) && c == want[next] && !unicode.IsSpace(c) {
			if next >= offset {
				return at
			}
			next++
			skipBlank()
		} else if next >= len(want) {
			return at
		}
		source = source[size:]
		if at.Column++; c == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
	}
	return at
}

// textFrom is the text of a file from a place on.
func textFrom(f *folder.File, at template.Place) string {
	text := string(f.Data)
	for range at.Line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	for range at.Column - 1 {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}
