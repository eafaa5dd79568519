package kind

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// findDocuments reads out of the literal lines of every file what it can make
// and patch.
func (k *Kind) findDocuments(f *folder.Folder) error {
	var errs []error
	k.made = map[string][]apischema.GroupVersionKind{}
	k.beside, k.open = map[string]string{}, map[string]bool{}
	for _, file := range f.Children {
		tree := k.Templates.Tree(fileStem(file))
		if tree == nil {
			continue
		}
		k.Files = append(k.Files, fileStem(file))
		found, open, err := literalDocuments(file, tree)
		errs = append(errs, err)
		k.open[fileStem(file)] = open || k.callsDocuments(fileStem(file))
		for _, d := range found {
			k.Documents = append(k.Documents, d.Document)
			errs = append(errs, k.checkDocument(d.Document))
			if !d.Patch() {
				k.made[d.File] = append(k.made[d.File], d.GroupVersionKind)
				k.beside[d.File] = cmp.Or(k.beside[d.File], d.kindBeside(found))
			}
		}
	}
	slices.Sort(k.Files)
	return errors.Join(errs...)
}

// kindBeside returns a kind that the file also makes, in a document of its own, or "" if there is
// none. Branches of one document are not beside each other.
func (l *literal) kindBeside(found []*literal) string {
	for _, other := range found {
		if !other.Patch() && other.part != l.part && other.GroupKind() != l.GroupKind() {
			return other.Kind
		}
	}
	return ""
}

// checkDocument refuses kinds that no document may be of.
func (k *Kind) checkDocument(d Document) error {
	wrong := schema.Misplaced(d.GroupVersionKind)
	switch {
	case d.GroupKind() == k.GVK.GroupKind() && d.Patch():
		wrong = fmt.Sprintf("a folder may not patch its own kind %s", d.Kind)
	case d.GroupKind() == k.GVK.GroupKind():
		wrong = fmt.Sprintf("a folder may not create its own kind %s", d.Kind)
	case isList(d.GroupVersionKind):
		wrong = "a List is not allowed: write its items as documents parted by ---"
	}
	if wrong == "" {
		return nil
	}
	return &template.Error{Place: d.Place, Err: errors.New(wrong)}
}

func isList(gvk apischema.GroupVersionKind) bool {
	of, list := strings.CutSuffix(gvk.Kind, "List")
	return list && (of == "" || schema.BuiltIn(gvk.GroupVersion().WithKind(of)))
}

// takeChildren lists the kinds that the folder can create: those of literal
// documents that are no patches, and those of kind.yaml that no literal
// document is of.
func (k *Kind) takeChildren() {
	literal := map[apischema.GroupVersionKind]bool{}
	for _, d := range k.Documents {
		literal[d.GroupVersionKind] = true
		if !d.Patch() {
			k.addChild(Child{d.GroupVersionKind, d.Start})
		}
	}
	for i, rule := range k.Settings.Children {
		if gvk := rule.GVK(); !literal[gvk] {
			k.addChild(Child{gvk, k.written[fmt.Sprintf("children[%d]", i)]})
		}
	}
	slices.SortFunc(k.Children, func(a, b Child) int { return strings.Compare(a.String(), b.String()) })
}

func (k *Kind) addChild(c Child) {
	if !k.Creates(c.GroupVersionKind) {
		k.Children = append(k.Children, c)
	}
}

// Creates reports whether the folder can create this kind.
func (k *Kind) Creates(gvk apischema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Children, func(c Child) bool { return c.GroupVersionKind == gvk })
}

// Makes returns the kinds of children that a file can create: those of its
// literal documents, and those of kind.yaml that no literal document is of.
func (k *Kind) Makes(file string) []apischema.GroupVersionKind {
	made := slices.Clone(k.made[file])
	for _, rule := range k.Settings.Children {
		if gvk := rule.GVK(); !slices.ContainsFunc(k.Documents, func(d Document) bool { return d.GroupVersionKind == gvk }) {
			made = append(made, gvk)
		}
	}
	return made
}

// Says reports whether a literal document of the file says of itself what decides what
// a rendered one is: that it is a patch, of which subresource, and that it
// takes over an existing object.
func (k *Kind) Says(file string, gvk apischema.GroupVersionKind, marks map[string]string) bool {
	plain := !slices.ContainsFunc(structural, func(key string) bool { return marks[key] != "" })
	if plain {
		return k.Creates(gvk)
	}
	return slices.ContainsFunc(k.Documents, func(d Document) bool {
		return d.File == file && d.GroupVersionKind == gvk &&
			!slices.ContainsFunc(structural, func(key string) bool { return d.Marks[key] != marks[key] })
	})
}

// Patched reports whether the folder can patch objects of this kind.
func (k *Kind) Patched(gvk apischema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Documents, func(d Document) bool { return d.GroupVersionKind == gvk && d.Patch() })
}

// A Patch is a kind of object that a folder can patch, or a subresource of it.
type Patch struct {
	apischema.GroupVersionKind
	// Subresource is "" for the object itself.
	Subresource string
}

// Patches returns the kinds of objects that the folder can patch, sorted.
func (k *Kind) Patches() []Patch {
	var all []Patch
	for _, d := range k.Documents {
		if p := (Patch{d.GroupVersionKind, d.Subresource()}); d.Patch() && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Patch) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.Subresource, b.Subresource))
	})
	return all
}
