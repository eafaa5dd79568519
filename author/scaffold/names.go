package scaffold

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Names are what a new kind is called.
type Names struct {
	Group, Version, Kind string
	Plural, Singular     string
}

// Name is the CRD's name: <plural>.<group>.
func (n Names) Name() string { return n.Plural + "." + n.Group }

// APIVersion is that of the resources.
func (n Names) APIVersion() string { return n.Group + "/" + n.Version }

// ParseNames completes the names of a kind: what is a kind (Website), a plural
// (websites), or either with its group (Website.example.com, the name of a
// CRD). Names that are given already stay. The error joins what is missing or
// no such name.
func ParseNames(what string, given Names) (Names, error) {
	n := given
	word, group, dotted := strings.Cut(what, ".")
	if dotted && n.Group != "" && n.Group != group {
		return n, fmt.Errorf("%s says the group %s, and --group says %s: say it once", what, group, n.Group)
	}
	if dotted {
		n.Group = group
	}
	switch {
	case word == "":
	case strings.ToLower(word) != word && n.Kind == "":
		n.Kind = word
	case strings.ToLower(word) != word && n.Kind != word:
		return n, fmt.Errorf("%s says the kind %s, and --kind says %s: say it once", what, word, n.Kind)
	case strings.ToLower(word) == word && n.Plural == "":
		n.Plural = word
	}
	if n.Kind == "" {
		n.Kind = kindOf(n.Plural)
	}
	if n.Singular == "" {
		n.Singular = strings.ToLower(n.Kind)
	}
	if n.Plural == "" {
		n.Plural = pluralOf(n.Singular)
	}
	if n.Version == "" {
		n.Version = "v1alpha1"
	}
	return n, n.checkNames()
}

var (
	kindPattern    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	versionPattern = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	// keptGroups are for the projects of Kubernetes itself: an API server wants
	// a proof of approval for them.
	keptGroups = regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)
)

// checkNames returns an error if a name is missing or malformed.
func (n Names) checkNames() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !kindPattern.MatchString(n.Kind) {
		fault("%q is no name of a kind: begin with a capital letter, then letters and digits, such as Website", n.Kind)
	}
	switch {
	case n.Group == "":
		fault("the group is missing: give a domain of yours, such as --group example.com")
	case !strings.Contains(n.Group, ".") || len(validation.IsDNS1123Subdomain(n.Group)) > 0:
		fault("%q is no group: it is a domain of small letters with a dot, such as example.com", n.Group)
	case keptGroups.MatchString(n.Group):
		fault("the group %s is kept for Kubernetes itself: give a domain of yours, such as --group example.com", n.Group)
	}
	if !versionPattern.MatchString(n.Version) {
		fault("%q is no version of an API: write v1, v1beta1 or v1alpha1", n.Version)
	}
	if len(validation.IsDNS1035Label(n.Plural)) > 0 {
		fault("%q is no plural: it has small letters and digits, such as websites", n.Plural)
	}
	return errors.Join(errs...)
}

// pluralOf returns the plural of a word, as English mostly forms it.
func pluralOf(word string) string {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(word, end) {
			return word + "es"
		}
	}
	if stem, ends := strings.CutSuffix(word, "y"); ends && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return word + "s"
}

// kindOf is the kind that a plural is most likely of.
func kindOf(many string) string {
	word := many
	if stem, ends := strings.CutSuffix(word, "ies"); ends {
		word = stem + "y"
	} else if stem, ends := strings.CutSuffix(word, "es"); ends && pluralOf(stem) == word {
		word = stem
	} else {
		word = strings.TrimSuffix(word, "s")
	}
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
