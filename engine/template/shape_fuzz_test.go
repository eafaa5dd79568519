package template

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzShape: what structure a skeleton has is decided before any value is in
// it. The holes are where the text has @.
func FuzzShape(f *testing.F) {
	for _, text := range []string{
		"a: @\nb: [@, x@y]\n@: {c: '@', d: \"@\"}\n", "a: |\n  x @\n  @\nb: >-\n  @\n", "- @\n- a: @ # @\n", "a: @@\n\"k@\": @",
		"{a: @, @b: [@]}", "a: &b @", "a:\n- - @\n  - @", "@", "a: ! @",
	} {
		for _, value := range []string{"x", "x\n  hostNetwork: true", "'\"", "{{", "- a", "a: b", "#", "|", "\u2028", "~"} {
			f.Add(text, value)
		}
	}
	parsed := fuzzed.Passed(f)
	set := &Set{limits: Limits{Output: 1 << 20}.withDefaults(), shapes: newShapeCache()}
	f.Fuzz(func(t *testing.T, text, value string) {
		if !utf8.ValidString(text) || !utf8.ValidString(value) || strings.ContainsFunc(text, privateUse) || value == "" {
			return
		}
		fill := func(value string) (any, error) {
			out := &output{buf: []byte(strings.ReplaceAll(text, "@", holeValue))}
			for range strings.Count(text, "@") {
				out.holes = append(out.holes, hole{value: value})
			}
			return set.fillValue(pos{newSource(Source{Text: text}), 0}, out)
		}
		plain, err := fill("plain")
		given, err2 := fill(value)
		if err != nil || err2 != nil {
			return // a key twice, or one that is reserved
		}
		parsed()
		if a, b := outline(plain), outline(given); a != b {
			t.Fatalf("with %q instead of a word\n%s\nis %s, not %s", value, text, b, a)
		}
		again, err := fill(value)
		one, errOne := json.Marshal(given)
		other, errOther := json.Marshal(again)
		if err != nil || errOne != nil || errOther != nil || string(one) != string(other) {
			t.Fatalf("%q is filled in two ways: %s and %s (%v)", text, one, other, err)
		}
	})
}

// outline is the structure of a value without its texts.
func outline(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, item := range v {
			parts = append(parts, outline(item))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, outline(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return describeType(v)
}
