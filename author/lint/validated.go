package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var (
	// container matches the path of a container of a built-in kind.
	container = regexp.MustCompile(`\b(containers|initContainers)\[\]$`)
	// filled matches the paths of texts that must not be empty.
	filled = regexp.MustCompile(`\b(containers|initContainers)\[\]\.(image|name)$`)
)

// validations are the commonest checks that the API server makes and that no schema
// tells, by the kind and the path. The server's own code for them is in
// k8s.io/kubernetes alone, for its internal types (kubernetes/kubernetes#44995,
// #123265); of it, apimachinery has the checks of names and quantities.
var validations = []struct {
	at *regexp.Regexp
	// check returns what is wrong with a text that is not empty.
	check func(text string) []string
}{
	{regexp.MustCompile(`^Service v1 metadata\.name$`), ifShort(serviceName)},
	{regexp.MustCompile(`^Namespace v1 metadata\.name$`), ifShort(validation.IsDNS1123Label)},
	{regexp.MustCompile(`^Service v1 spec\.ports\[\]\.name$`), ifShort(validation.IsDNS1123Label)},
	{regexp.MustCompile(`\b(containers|initContainers)\[\]\.name$`), ifShort(validation.IsDNS1123Label)},
	{regexp.MustCompile(`\b(containers|initContainers)\[\]\.ports\[\]\.name$`), validation.IsValidPortName},
	{regexp.MustCompile(`\bresources\.requests\.storage$`), requireAbove(0, "must be greater than 0")},
	{regexp.MustCompile(`\bresources\.(requests|limits)\b`), requireAbove(-1, "must not be negative")},
}

// ifShort returns a check that skips texts longer than a label may be. The check of names finds
// those.
func ifShort(check func(string) []string) func(string) []string {
	return func(text string) []string {
		if len(text) > validation.DNS1123LabelMaxLength {
			return nil
		}
		return check(text)
	}
}

// serviceName checks the name of a Service. Kubernetes wanted DNS-1035 labels before 1.36
// (KEP-5311), and the operator runs on those, too.
func serviceName(text string) []string {
	if faults := validation.IsDNS1123Label(text); len(faults) > 0 {
		return faults
	}
	if len(validation.IsDNS1035Label(text)) > 0 {
		return []string{"must begin with a letter, for Kubernetes before 1.36"}
	}
	return nil
}

// requireAbove returns a check for quantities whose sign must be greater. A text that is no
// quantity is left to the check of its type.
func requireAbove(sign int, fault string) func(string) []string {
	return func(text string) []string {
		if quantity, err := resource.ParseQuantity(text); err == nil && quantity.Sign() <= sign {
			return []string{fault}
		}
		return nil
	}
}

// validationError returns why the API server refuses a value in spite of its type, or "" if it does
// not, as far as that is known.
func validationError(subject, path string, value any) string {
	if value == nil {
		return ""
	}
	text := fmt.Sprint(value)
	if text == "" {
		if filled.MatchString(path) {
			return fmt.Sprintf("%s of %s must not be empty", path, subject)
		}
		return ""
	}
	for _, v := range validations {
		if !v.at.MatchString(subject + " " + path) {
			continue
		}
		faults := strings.Join(v.check(text), "; ")
		switch {
		case faults == "":
			return ""
		case !strings.HasPrefix(faults, "must"):
			faults = "is refused: " + faults
		}
		return fmt.Sprintf("%s of %s %s", path, subject, faults)
	}
	return ""
}

// requiredOf returns the fields that a map at this path of a built-in kind must have.
func requiredOf(t *schema.Type, path string) []string {
	if container.MatchString(path) {
		return append(slices.Clone(t.Required()), "image")
	}
	return t.Required()
}

// excessiveRequests returns the requests of a container that are greater than their limits.
func excessiveRequests(path string, requests, limits map[string]any) []string {
	if owner, of := strings.CutSuffix(path, ".resources"); !of || !container.MatchString(owner) {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(requests)), func(name string) bool {
		request, err := resource.ParseQuantity(fmt.Sprint(requests[name]))
		limit, unbounded := resource.ParseQuantity(fmt.Sprint(limits[name]))
		return err != nil || unbounded != nil || request.Cmp(limit) <= 0
	})
}

// sampleText returns a text that a node can be, with a letter for each value that is not known.
func sampleText(n *typecheck.Node) string {
	text := ""
	for _, v := range n.Text {
		if piece, known := v.Const.(string); known && v.Known {
			text += piece
		} else {
			text += "a"
		}
	}
	return text
}

// knownEntries returns the entries of a map whose values are known.
func knownEntries(n *typecheck.Node) map[string]any {
	all := map[string]any{}
	if n == nil {
		return all
	}
	for _, e := range n.Keys {
		if v := e.Node.Value; v != nil && v.Known {
			all[e.Name] = v.Const
		}
	}
	return all
}
