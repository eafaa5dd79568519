//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// kindsOf are the names of all kinds, the broken ones too.
func kindsOf(kinds *catalog.Catalog) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(kinds.Kinds)), maps.Keys(kinds.Broken))
	slices.Sort(names)
	return slices.Compact(names)
}

// kindsNamed are the kinds that words name, all if there are none: see named.
func kindsNamed(kinds *catalog.Catalog, words []string) ([]string, error) {
	return named(words, kindsOf(kinds), kinds.CRDs)
}

// named are those of the known CRDs that words name, all if there are none: by
// the CRD's name, or by kind, plural, singular or short name, as commands that
// ask a cluster take them. The path of a folder or file is as good as its name,
// since shells complete it. The error is about all words that name none, or
// several.
func named(words, known []string, crds map[string]*schema.CRD) ([]string, error) {
	if len(words) == 0 {
		return known, nil
	}
	var names []string
	var errs []error
	for _, word := range words {
		found := called(word, known, crds)
		switch len(found) {
		case 1:
		case 0:
			errs = append(errs, fmt.Errorf("there is no kind %s; %s", word, near(word, known, crds)))
		default:
			errs = append(errs, fmt.Errorf("the kind %s may be %s; give one of these names", word, strings.Join(found, ", ")))
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), errors.Join(errs...)
}

// called are the known CRDs that a word names.
func called(word string, known []string, crds map[string]*schema.CRD) []string {
	word = strings.TrimSuffix(filepath.Base(word), ".yaml")
	if slices.Contains(known, word) {
		return []string{word}
	}
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		return !slices.ContainsFunc(calls(crds[name]), func(call string) bool { return strings.EqualFold(call, word) })
	})
}

// calls are the words that a CRD is called by, besides its name; nil is none.
func calls(crd *schema.CRD) []string {
	if crd == nil {
		return nil
	}
	return append([]string{crd.Kind, crd.Plural, crd.Singular}, crd.Object.Spec.Names.ShortNames...)
}

// near tells which CRD a word that names none most likely means.
func near(word string, known []string, crds map[string]*schema.CRD) string {
	of := map[string]string{}
	all := slices.Clone(known)
	for _, name := range known {
		for _, call := range calls(crds[name]) {
			of[call] = name
			all = append(all, call)
		}
	}
	if name := of[schema.Suggest(word, all)]; name != "" {
		return "did you mean " + name + "?"
	}
	return meant(word, known)
}

// meant tells which of the known names a misspelt one most likely means.
func meant(name string, known []string) string {
	if near := schema.Suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are: " + strings.Join(known, ", ")
}
