package health

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Entry decides the health of the objects of a kind, or of the kinds of one or
// several groups. Except for Message and groups with a wildcard it is Flux's format.
type Entry struct {
	// APIVersion is GROUP/VERSION, of which the version is ignored, or *.SUFFIX/* for
	// every group that ends in .SUFFIX.
	APIVersion string `json:"apiVersion"`
	// Kind is the kind; without one, the entry is for all kinds of its groups.
	Kind string `json:"kind,omitempty"`
	// Current is the expression that is true once the object is ready. The literal
	// true means that the object is ready once it exists.
	Current string `json:"current"`
	// InProgress is the expression that is true while the object is not ready yet. It
	// is evaluated before Failed.
	InProgress string `json:"inProgress,omitempty"`
	// Failed is the expression that is true if the object failed. It is evaluated
	// before Current.
	Failed string `json:"failed,omitempty"`
	// Message is an expression for the text that says why the object is not ready.
	Message string `json:"message,omitempty"`
}

// String names what the entry is for, such as argoproj.io/Application or
// *.services.k8s.aws/*.
func (e Entry) String() string {
	if group := e.groupPattern(); group != "" {
		return group + "/" + cmp.Or(e.Kind, "*")
	}
	return cmp.Or(e.Kind, "*")
}

// groupPattern returns the group or *.SUFFIX of the entry.
func (e Entry) groupPattern() string {
	group, _, found := strings.Cut(e.APIVersion, "/")
	if !found {
		return "" // the core group has no name
	}
	return group
}

// matchesKind reports whether the entry is for a kind.
func (e Entry) matchesKind(gk schema.GroupKind) bool {
	groups := e.groupPattern()
	if suffix, wildcard := strings.CutPrefix(groups, "*"); wildcard {
		return strings.HasSuffix(gk.Group, suffix) && (e.Kind == "" || e.Kind == gk.Kind)
	}
	return groups == gk.Group && (e.Kind == "" || e.Kind == gk.Kind)
}

// precedenceOf orders the entries that match one kind: an exact group is greater than a wildcard, a
// longer suffix than a shorter one, and an entry with a kind than one without.
func (e Entry) precedenceOf() int {
	rank := 2 * len(e.groupPattern())
	if !strings.HasPrefix(e.groupPattern(), "*") {
		rank = 1 << 16
	}
	if e.Kind != "" {
		rank++
	}
	return rank
}

// An EntryError is what is wrong with one field of an entry of a list.
type EntryError struct {
	// Index is that of the entry, and Field the name of its field in YAML.
	Index int
	Field string
	// Offset is where in the text of the field it is, in runes.
	Offset int
	Err    error
}

// Error returns the error with the path of the field.
func (e *EntryError) Error() string {
	return fmt.Sprintf("healthCheckExprs[%d].%s: %s", e.Index, e.Field, e.Err)
}

// Unwrap returns what is wrong.
func (e *EntryError) Unwrap() error { return e.Err }

const versionForms = "it must be GROUP/VERSION, such as example.com/v1, or v1 for the core group, or *.SUFFIX/* for every group with that suffix; " +
	"an entry without a kind is for all kinds of the group"

// coreVersion matches the version of a kind of the core group, which has no name.
var coreVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// checkAPIVersion refuses what no object can have.
func checkAPIVersion(apiVersion string) error {
	group, version, found := strings.Cut(apiVersion, "/")
	suffix, wildcard := strings.CutPrefix(group, "*.")
	switch {
	case apiVersion == "":
		return errors.New("it is missing: " + versionForms)
	case !found && !coreVersion.MatchString(apiVersion):
		return errors.New(versionForms)
	case wildcard && (version != "*" || suffix == ""), strings.Contains(suffix, "*"), !wildcard && strings.Contains(version, "*"),
		strings.Contains(version, "/"), found && (group == "" || version == ""), strings.ContainsAny(apiVersion, " \t\n"):
		return errors.New(versionForms)
	}
	return nil
}

// checkKind refuses Secrets: their values are kept out of memory and of messages.
func checkKind(e Entry) error {
	switch {
	case e.groupPattern() == "" && e.Kind == "Secret":
		return errors.New("the values of a Secret are not read, so that it cannot have an entry: it is ready once it exists")
	case strings.ContainsAny(e.Kind, "*/ \t\n"):
		return errors.New("it must be a kind, such as Deployment; without a kind the entry is for all kinds of the group")
	}
	return nil
}
