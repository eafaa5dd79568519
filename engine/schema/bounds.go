package schema

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// bounds are what a schema says of the values in a place, besides their kind.
type bounds struct {
	least, most       *float64
	shortest          int64
	longest           *int64
	pattern, format   string
	leastOut, mostOut bool
	fewest            int64
}

// boundsOf reads the bounds of one place of a structural schema.
func boundsOf(v *schema.ValueValidation) bounds {
	b := bounds{
		least: v.Minimum, most: v.Maximum, leastOut: v.ExclusiveMinimum, mostOut: v.ExclusiveMaximum,
		longest: v.MaxLength, pattern: v.Pattern, format: v.Format,
	}
	if v.MinLength != nil {
		b.shortest = *v.MinLength
	}
	for _, fewest := range []*int64{v.MinItems, v.MinProperties} {
		if fewest != nil {
			b.fewest = max(b.fewest, *fewest)
		}
	}
	return b
}

// Minimum returns the least number that may stand here; false if there is none.
func (t *Type) Minimum() (least float64, bounded bool) {
	if t == nil || t.bounds.least == nil {
		return 0, false
	}
	return t.insideBound(*t.bounds.least, t.bounds.leastOut, 1), true
}

// Maximum returns the greatest number that may stand here; false if there is
// none.
func (t *Type) Maximum() (most float64, bounded bool) {
	if t == nil || t.bounds.most == nil {
		return 0, false
	}
	return t.insideBound(*t.bounds.most, t.bounds.mostOut, -1), true
}

// insideBound returns the number next to a bound, in that direction, where the bound itself is
// excluded.
func (t *Type) insideBound(bound float64, excluded bool, direction int) float64 {
	switch {
	case !excluded:
		return bound
	case t.kind == KindInteger && direction > 0:
		return math.Floor(bound) + 1
	case t.kind == KindInteger:
		return math.Ceil(bound) - 1
	}
	return math.Nextafter(bound, math.Inf(direction))
}

// MinLength returns how many characters a text has here at least.
func (t *Type) MinLength() int {
	if t == nil {
		return 0
	}
	return int(t.bounds.shortest)
}

// Fewest returns how many items a list, or entries a map, has here at least.
func (t *Type) Fewest() int {
	if t == nil {
		return 0
	}
	return int(t.bounds.fewest)
}

// MaxLength returns how many characters a value has here at most when it is
// printed, -1 if there is no bound.
func (t *Type) MaxLength() int {
	if t == nil {
		return -1
	}
	if len(t.enum) > 0 {
		return longestOf(t.enum)
	}
	switch t.kind {
	case KindString:
		if t.bounds.longest != nil {
			return int(*t.bounds.longest)
		}
		return longestBy(t.bounds.format)
	case KindInteger:
		return t.maxDigits()
	case KindBoolean:
		return len("false")
	}
	return -1
}

// maxDigits returns the length of the longest whole number within the bounds.
func (t *Type) maxDigits() int {
	least, low := t.Minimum()
	most, high := t.Maximum()
	if !low {
		least = math.MinInt64
	}
	if !high {
		most = math.MaxInt64
	}
	return max(len(strconv.FormatFloat(least, 'f', 0, 64)), len(strconv.FormatFloat(most, 'f', 0, 64)))
}

// longestOf is the length of the longest of some texts; -1 if one is no text.
func longestOf(values []any) int {
	longest := 0
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			return -1
		}
		longest = max(longest, utf8.RuneCountInString(text))
	}
	return longest
}

// longestBy is how long the texts of a format are at most; -1 if that is not
// known.
func longestBy(format string) int {
	switch format {
	case "uuid", "uuid3", "uuid4", "uuid5":
		return 36
	case "ipv4":
		return len("255.255.255.255")
	case "ipv6":
		return 45
	case "date":
		return len("2006-01-02")
	}
	return -1
}

// Pattern returns the regular expression that a text must match, or "".
func (t *Type) Pattern() string {
	if t == nil {
		return ""
	}
	return t.bounds.pattern
}

// Format returns the schema's word for the form of a text or number, such as
// "date-time" or "byte" (base64), or "". FormatQuantity is ours.
func (t *Type) Format() string {
	if t == nil {
		return ""
	}
	return t.bounds.format
}

// FormatQuantity marks the amounts of built-in kinds, such as 500m: read as
// texts, and written as texts or numbers.
const FormatQuantity = "quantity"

var nameRule = regexp.MustCompile(`^(?:size\(self\.metadata\.name\)|self\.metadata\.name\.size\(\)) *(<=?) *(\d+)$`)

// longestName is how long the name of a resource may be: what a validation rule
// at the root of the schema says, or what Kubernetes allows.
func longestName(s *schema.Structural) int64 {
	longest := int64(validation.DNS1123SubdomainMaxLength)
	if s == nil {
		return longest
	}
	for _, rule := range s.XValidations {
		for part := range strings.SplitSeq(rule.Rule, "&&") {
			m := nameRule.FindStringSubmatch(strings.TrimSpace(part))
			if m == nil || strings.Contains(rule.Rule, "||") {
				continue
			}
			n, err := strconv.ParseInt(m[2], 10, 32)
			if err != nil {
				continue
			}
			if m[1] == "<" {
				n--
			}
			longest = min(longest, n)
		}
	}
	return longest
}
