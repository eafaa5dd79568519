package crdfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jacquard-operator/jacquard/author/apiserver"
)

// Describe says a field error in one line, such as
// "spec.replicas: must be ≤ 10 (is 11)". Numbers and booleans are shown; a
// string, list or map that was refused is not, since it may be secret. Only what
// the author of a definition writes into a messageExpression is theirs to keep clean.
func Describe(err *field.Error) string {
	reason := describeReason(err)
	switch err.BadValue.(type) {
	case int64, int32, int, float64, float32, bool:
		if err.Type == field.ErrorTypeInvalid || err.Type == field.ErrorTypeNotSupported {
			reason += fmt.Sprintf(" (is %v)", err.BadValue)
		}
	}
	// Errors about the object as a whole carry a nil path, which prints so.
	if err.Field == "" || err.Field == "<nil>" {
		return reason
	}
	return err.Field + ": " + reason
}

// describeReason says what is wrong, without the place and without the value.
func describeReason(err *field.Error) string {
	detail := rewordDetail(err.Detail)
	if err.Type == field.ErrorTypeNotSupported {
		if values, found := strings.CutPrefix(detail, "supported values: "); found {
			return "must be one of " + values // the schema's words, not the object's
		}
	}
	detail = withoutValue(detail, err.BadValue)
	switch err.Type {
	case field.ErrorTypeRequired:
		return joinDetail("is required", detail)
	case field.ErrorTypeDuplicate:
		return joinDetail("occurs twice", detail)
	case field.ErrorTypeForbidden:
		return joinDetail("is forbidden", detail)
	case field.ErrorTypeNotFound:
		return joinDetail("was not found", detail)
	case field.ErrorTypeNotSupported:
		return joinDetail("is not one of the allowed values", detail)
	case field.ErrorTypeInternal:
		return joinDetail("could not be checked", detail)
	}
	if detail == "" {
		return "is invalid"
	}
	return detail
}

// joinDetail appends a detail, if there is one.
func joinDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + detail
}

// inBody is what the OpenAPI validator starts its texts with.
var inBody = regexp.MustCompile(`^\S*\s*in body `)

// plainer turns the wording of the OpenAPI validator into ours, in order.
var plainer = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^should be less than or equal to `), "must be ≤ "},
	{regexp.MustCompile(`^should be less than `), "must be < "},
	{regexp.MustCompile(`^should be greater than or equal to `), "must be ≥ "},
	{regexp.MustCompile(`^should be greater than `), "must be > "},
	{regexp.MustCompile(`^should be (at least|at most) (\d+) chars long$`), "must be $1 $2 characters long"},
	{regexp.MustCompile(`(?s)^should match '(.*)'$`), "must match $1"},
	{regexp.MustCompile(`^should (be|have) `), "must $1 "},
	{regexp.MustCompile(`^shouldn't contain `), "must not contain "},
	{regexp.MustCompile(`^can't have `), "must not have "},
}

// selfType is how a rule's compiler calls the type of self: by a number that differs each time.
var selfType = regexp.MustCompile(`\bselfType\d+`)

// mistyped are the two forms of the validator's type errors: the second quotes
// the name of the type that was found, or, for a format, the very value.
var mistyped = regexp.MustCompile(`(?s)^must be of type ([\w,-]+)(?:: "(.*)"|, because: .*)?$`)

var typeNames = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// rewordDetail rewords a detail of the OpenAPI validator or of a decoder, and takes out
// the value that it may quote. The words of a definition's author stay.
func rewordDetail(detail string) string {
	if strings.HasPrefix(detail, "json: ") || strings.HasPrefix(detail, "parsing time ") {
		return apiserver.MetadataDetail(detail)
	}
	text := inBody.ReplaceAllString(detail, "")
	if text == detail {
		return selfType.ReplaceAllString(detail, "self")
	}
	for _, p := range plainer {
		text = p.from.ReplaceAllString(text, p.to)
	}
	m := mistyped.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	wanted := strings.Split(m[1], ",")
	text = "must be of type " + strings.Join(wanted, " or ")
	if slices.Contains(typeNames, m[2]) && slices.Contains(typeNames, wanted[0]) {
		text += ", not " + m[2]
	}
	return text
}

// withoutValue takes the refused string, quoted or as it is, out of a detail. A
// short one is taken out only where it is quoted: it may be part of any word.
func withoutValue(detail string, value any) string {
	text, ok := value.(string)
	if !ok || text == "" {
		return detail
	}
	detail = strings.ReplaceAll(detail, strconv.Quote(text), `"…"`)
	if len(text) >= 4 && !slices.Contains(typeNames, text) {
		detail = strings.ReplaceAll(detail, text, "…")
	}
	return detail
}
