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

// kindsNamed returns the kinds that words name, as resolveWords does.
func kindsNamed(kinds *catalog.Catalog, words []string) ([]string, error) {
	return resolveWords(words, kindsOf(kinds), kinds.CRDs)
}

// resolveWords returns the names of the known CRDs that words name, or all if there are no words. A
// word is the name of the CRD, or its kind, plural, singular or short name, as commands that ask a
// cluster take them. The path of a folder or file is as good as its name, since shells complete it.
// The error is about all words that name none, or several.
func resolveWords(words, known []string, crds map[string]*schema.CRD) ([]string, error) {
	if len(words) == 0 {
		return known, nil
	}
	var names []string
	var errs []error
	for _, word := range words {
		found := findCRDs(word, known, crds)
		switch len(found) {
		case 1:
		case 0:
			errs = append(errs, fmt.Errorf("there is no kind %s; %s", word, suggestCRD(word, known, crds)))
		default:
			errs = append(errs, fmt.Errorf("the kind %s may be %s; give one of these names", word, strings.Join(found, ", ")))
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), errors.Join(errs...)
}

// findCRDs returns the names of the known CRDs that a word names.
func findCRDs(word string, known []string, crds map[string]*schema.CRD) []string {
	word = strings.TrimSuffix(filepath.Base(word), ".yaml")
	if slices.Contains(known, word) {
		return []string{word}
	}
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		return !slices.ContainsFunc(listWords(crds[name]), func(call string) bool { return strings.EqualFold(call, word) })
	})
}

// listWords returns the words that a CRD is called by, besides its name. A CRD that is nil has
// none.
func listWords(crd *schema.CRD) []string {
	if crd == nil {
		return nil
	}
	return append([]string{crd.Kind, crd.Plural, crd.Singular}, crd.Object.Spec.Names.ShortNames...)
}

// suggestCRD returns which CRD a word that names none most likely means, or which there are.
func suggestCRD(word string, known []string, crds map[string]*schema.CRD) string {
	of := map[string]string{}
	all := slices.Clone(known)
	for _, name := range known {
		for _, call := range listWords(crds[name]) {
			of[call] = name
			all = append(all, call)
		}
	}
	if name := of[schema.Suggest(word, all)]; name != "" {
		return "did you mean " + name + "?"
	}
	return suggestName(word, known)
}

// suggestName returns which of the known names a misspelt one most likely means, or which there
// are.
func suggestName(name string, known []string) string {
	if near := schema.Suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are: " + strings.Join(known, ", ")
}
