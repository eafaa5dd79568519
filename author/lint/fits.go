package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A misfit is how a type does not fit the place that a value of it is put into.
type misfit struct {
	// path is the field of the object, inside the path of the value's own.
	path, inside string
	wants, has   string
	advice       string
}

// describeMisfit returns the message about the misfit for a value of this name in an object.
func (m *misfit) describeMisfit(subject, name string) string {
	if m.inside != "" {
		name += m.inside
	}
	if m.wants == "" {
		return fmt.Sprintf("%s has no field %s, which %s may have%s", subject, m.path, name, m.advice)
	}
	return fmt.Sprintf("%s of %s must be %s, and %s is %s%s", m.path, subject, m.wants, name, m.has, m.advice)
}

// deepest bounds how deep types are compared: they may hold themselves.
const deepest = 20

// findMisfit compares the type of a value with the type of the place at path. It returns nil if
// every value fits, as far as that is known.
func findMisfit(value, place *schema.Type, path string) *misfit {
	return fitsIn(value, place, misfit{path: path}, deepest)
}

func fitsIn(value, place *schema.Type, at misfit, left int) *misfit {
	if left == 0 || value.Kind() == schema.KindAny || place.Kind() == schema.KindAny {
		return nil
	}
	switch place.Kind() {
	case schema.KindList:
		if value.Kind() != schema.KindList {
			break
		}
		at.path, at.inside = at.path+"[]", at.inside+"[]"
		return fitsIn(value.Elem(), place.Elem(), at, left-1)
	case schema.KindFreeMap, schema.KindObject:
		if value.Kind() == schema.KindFreeMap || value.Kind() == schema.KindObject {
			return fitsMap(value, place, at, left-1)
		}
	default:
		if fitsScalar(value, place) {
			return findOutsideEnum(value, place, at)
		}
	}
	at.wants, at.has, at.advice = describePlace(place), kindWithArticle(value.Kind()), fitAdvice(value.Kind(), place)
	return &at
}

// fitsMap compares a map with the type of a map.
func fitsMap(value, place *schema.Type, at misfit, left int) *misfit {
	if place.Kind() == schema.KindFreeMap && value.Kind() == schema.KindFreeMap {
		at.path, at.inside = at.path+".*", at.inside+".*"
		return fitsIn(value.Elem(), place.Elem(), at, left)
	}
	for _, name := range value.Fields() {
		field, _ := value.Field(name)
		in := misfit{path: joinPath(at.path, name), inside: at.inside + "." + name}
		target, found := place.Field(name)
		if !found {
			in.path, in.inside = joinPath(at.path, name), at.inside
			if near := schema.Suggest(name, place.Fields()); near != "" {
				in.advice = "; did you mean " + joinPath(at.path, near) + "?"
			}
			return &in
		}
		if wrong := fitsIn(field, target, in, left); wrong != nil {
			return wrong
		}
	}
	return nil
}

// fitsScalar reports whether the values of a type are of the kind of a place that
// holds scalars.
func fitsScalar(value, place *schema.Type) bool {
	switch place.Kind() {
	case schema.KindString:
		numbers := []schema.Kind{schema.KindInteger, schema.KindNumber, schema.KindIntOrString}
		return value.Kind() == schema.KindString || place.Format() == schema.FormatQuantity && slices.Contains(numbers, value.Kind())
	case schema.KindNumber:
		return value.Kind() == schema.KindNumber || value.Kind() == schema.KindInteger
	case schema.KindIntOrString:
		return slices.Contains([]schema.Kind{schema.KindInteger, schema.KindString, schema.KindIntOrString}, value.Kind())
	}
	return value.Kind() == place.Kind()
}

// findOutsideEnum finds a value of an enum that the enum of its place does not have.
func findOutsideEnum(value, place *schema.Type, at misfit) *misfit {
	if len(place.Enum()) == 0 {
		return nil
	}
	for _, may := range value.Enum() {
		if !slices.Contains(place.Enum(), may) {
			at.wants, at.has = describePlace(place), fmt.Sprintf("%v in some resources", may)
			return &at
		}
	}
	return nil
}

// describePlace describes for people what a place takes.
func describePlace(place *schema.Type) string {
	if enum := place.Enum(); len(enum) > 0 && len(enum) <= 12 {
		words := make([]string, len(enum))
		for i, value := range enum {
			words[i] = fmt.Sprint(value)
		}
		return "one of " + strings.Join(words, ", ")
	}
	return kindWithArticle(place.Kind())
}

// fitAdvice returns how to make a value of a kind fit, or "".
func fitAdvice(value schema.Kind, place *schema.Type) string {
	texts := value == schema.KindString || value == schema.KindIntOrString
	switch place.Kind() {
	case schema.KindInteger:
		if texts || value == schema.KindNumber {
			return ": use int"
		}
	case schema.KindNumber:
		if texts {
			return ": use float64"
		}
	case schema.KindString:
		switch value {
		case schema.KindInteger, schema.KindNumber, schema.KindBoolean, schema.KindIntOrString:
			return ": use quote or toString"
		case schema.KindList, schema.KindObject, schema.KindFreeMap:
			return ": write \"{{ toJson … }}\" with the quotes, or print a field of it"
		}
	case schema.KindBoolean:
		if texts {
			return `: compare it, as in eq … "true"`
		}
	}
	return ""
}

// describeRefusal returns why a literal does not fit a place, or "" if it does. Where that helps,
// it shows the literal.
func describeRefusal(value any, place *schema.Type) string {
	text := refusalReason(value, place)
	if text == "" || findMisfit(schema.Of(value), place, "") != nil {
		return text
	}
	text += fmt.Sprintf(", not %v", value)
	if near := suggestValue(value, place.Enum()); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// refusalReason returns why a literal does not fit a place, or "" if it does. It does not show the
// value. A nil is no value: the key is left out.
func refusalReason(value any, place *schema.Type) string {
	if value == nil || place.Kind() == schema.KindAny {
		return ""
	}
	is := schema.Of(value)
	if text, ok := value.(string); ok {
		if place.Format() == schema.FormatQuantity && !isQuantity(text) {
			return "must be a quantity such as 500m or 1Gi"
		}
	}
	if n, ok := value.(float64); ok && place.Kind() == schema.KindInteger && n == math.Trunc(n) {
		return ""
	}
	if findMisfit(is, place, "") != nil {
		return fmt.Sprintf("must be %s, not %s%s", describePlace(place), kindWithArticle(is.Kind()), literalAdvice(is.Kind(), place.Kind()))
	}
	if enum := place.Enum(); len(enum) > 0 && !slices.Contains(enum, value) {
		return "must be " + describePlace(place)
	}
	return ""
}

func literalAdvice(value, place schema.Kind) string {
	switch {
	case place == schema.KindString && (value == schema.KindInteger || value == schema.KindNumber || value == schema.KindBoolean):
		return ": quote it"
	case value == schema.KindString && (place == schema.KindInteger || place == schema.KindNumber || place == schema.KindBoolean):
		return ": write it without quotes"
	}
	return ""
}

// suggestValue returns the text of an enum that is most like a value, or "".
func suggestValue(value any, enum []any) string {
	text, ok := value.(string)
	var words []string
	for _, one := range enum {
		if word, isText := one.(string); ok && isText {
			words = append(words, word)
		}
	}
	return schema.Suggest(text, words)
}

func isQuantity(text string) bool {
	_, err := resource.ParseQuantity(text)
	return err == nil
}

// kindWithArticle returns a kind with its article, such as "an integer".
func kindWithArticle(kind schema.Kind) string {
	name := kind.String()
	if kind == schema.KindObject {
		name = "map"
	}
	if strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}
