package compat

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// sizeBound returns the bound of a size.
func sizeBound(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// leastBound returns the bound of a least size. Nothing is smaller than 0.
func leastBound(n *int64) *float64 {
	if n == nil || *n <= 0 {
		return nil
	}
	return sizeBound(n)
}

// compareBounds compares bounds of numbers and sizes.
func (c *comparison) compareBounds(p pair) {
	for _, b := range []struct {
		keyword  string
		sign     float64 // -1: a minimum
		was, is  *float64
		excluded bool // and was not before
	}{
		{"maximum", 1, p.was.Maximum, p.is.Maximum, p.is.ExclusiveMaximum && !p.was.ExclusiveMaximum},
		{"minimum", -1, p.was.Minimum, p.is.Minimum, p.is.ExclusiveMinimum && !p.was.ExclusiveMinimum},
		{"maxLength", 1, sizeBound(p.was.MaxLength), sizeBound(p.is.MaxLength), false},
		{"minLength", -1, leastBound(p.was.MinLength), leastBound(p.is.MinLength), false},
		{"maxItems", 1, sizeBound(p.was.MaxItems), sizeBound(p.is.MaxItems), false},
		{"minItems", -1, leastBound(p.was.MinItems), leastBound(p.is.MinItems), false},
		{"maxProperties", 1, sizeBound(p.was.MaxProperties), sizeBound(p.is.MaxProperties), false},
		{"minProperties", -1, leastBound(p.was.MinProperties), leastBound(p.is.MinProperties), false},
	} {
		if b.is == nil || b.was != nil && (b.sign**b.is > b.sign**b.was || *b.is == *b.was && !b.excluded) {
			continue
		}
		is := formatNumber(*b.is)
		if b.excluded {
			is += " (exclusive)"
		}
		text := fmt.Sprintf("a %s of %s is new", b.keyword, is)
		if b.was != nil {
			text = fmt.Sprintf("the %s was %s and is %s", b.keyword, formatNumber(*b.was), is)
		}
		beyond := "above"
		if b.sign < 0 {
			beyond = "below"
		}
		c.addBreak(p, b.keyword, text+", so resources "+beyond+" it become invalid: keep what was allowed, or add a version with this bound")
	}
	if p.is.UniqueItems && !p.was.UniqueItems {
		c.addBreak(p, "uniqueItems", "it is new, so lists with duplicates become invalid: leave it out")
	}
}

// formatNumber formats a number.
func formatNumber(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// compareTexts compares what a text or number must look like.
func (c *comparison) compareTexts(p pair) {
	const add = "become invalid: keep what was allowed, or add a version with it"
	switch was, is := p.was.Pattern, p.is.Pattern; {
	case is == was, is == "":
	case was == "":
		c.addBreak(p, "pattern", fmt.Sprintf("the pattern %s is new, so values that do not match it %s", is, add))
	default:
		c.addBreak(p, "pattern", fmt.Sprintf("the pattern was %s and is %s, so values that only matched the old one %s", was, is, add))
	}
	if was, is := p.was.MultipleOf, p.is.MultipleOf; is != nil && (was == nil || math.Mod(*was, *is) != 0) {
		c.addBreak(p, "multipleOf", fmt.Sprintf("values must be multiples of %s now, so others %s", formatNumber(*is), add))
	}
	was, is := checkedFormat(p.was), checkedFormat(p.is)
	if is == was || is == "" || is == "int64" || is == "double" {
		return
	}
	if was == "" {
		was = "none"
	}
	c.addBreak(p, "format", fmt.Sprintf("the format was %s and is %s, so values that do not have it %s", was, is, add))
}

// checkedFormat returns the format that the API server checks, or "" if it checks none.
func checkedFormat(p *props) string {
	as := &spec.Schema{SchemaProps: spec.SchemaProps{Format: p.Format}}
	if p.Type != "" {
		as.Type = spec.StringOrArray{p.Type}
	}
	if len(validation.GetUnrecognizedFormats(as, environment.DefaultCompatibilityVersion())) > 0 {
		return ""
	}
	return strings.ReplaceAll(p.Format, "-", "")
}
