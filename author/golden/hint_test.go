package golden

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestHint: the sentence above a diff.
func TestHint(t *testing.T) {
	for name, c := range map[string]struct{ want, got, says string }{
		"one value":      {"{a: {b: [{c: 1}]}}", "{a: {b: [{c: 2}]}}", "X: a.b[0].c is 2, wanted is 1 (rendered)"},
		"a type":         {`{a: "1"}`, "{a: 1}", `X: a is 1, wanted is "1" (rendered)`},
		"absent":         {"{a: 1, b: 2}", "{a: 1}", "X: b is absent, wanted is 2 (rendered)"},
		"new":            {"{a: 1}", "{a: 1, b: {c: true}}", `X: b is {"c":true}, wanted is absent (rendered)`},
		"another length": {"{a: [1]}", "{a: [1, 2]}", "X: a is [1,2], wanted is [1] (rendered)"},
		"a dotted key":   {"{a: {b.c/d: 1}}", "{a: {b.c/d: 2}}", `X: a["b.c/d"] is 2, wanted is 1 (rendered)`},
		"many":           {"{a: 1, b: 2}", "{a: 2, b: 1}", "X: 2 fields differ (rendered)"},
		"long":           {"{a: 1}", "{a: " + strings.Repeat("x", 80) + "}", `X: a is "` + strings.Repeat("x", 58) + "…, wanted is 1 (rendered)"},
		"a Secret's": {"{apiVersion: v1, kind: Secret, data: {a: eA==}}", "{apiVersion: v1, kind: Secret, data: {a: eQ==}}",
			"X: data.a differs; it is not shown (rendered)"},
		"its other field": {"{apiVersion: v1, kind: Secret, type: a}", "{apiVersion: v1, kind: Secret, type: b}",
			`X: type is "b", wanted is "a" (rendered)`},
		"not yet one": {"{apiVersion: v1, kind: ConfigMap, data: {a: x}}", "{apiVersion: v1, kind: ConfigMap, data: {a: z}}",
			`X: data.a is "z", wanted is "x" (rendered)`},
	} {
		p := pair{object(t, c.want), &rendered{object: object(t, c.got)}}
		if got := p.formatHint("X"); got != c.says {
			t.Errorf("%s: got %s\nwant %s", name, got, c.says)
		}
	}
}

// TestMasked: nothing of a Secret's values is left, whatever stands there.
func TestMasked(t *testing.T) {
	for name, c := range map[string]struct{ one, other, want string }{
		"same and other": {"{apiVersion: v1, kind: Secret, data: {a: x, b: y}}", "{apiVersion: v1, kind: Secret, data: {a: x, b: z}}",
			`{apiVersion: v1, kind: Secret, data: {a: "***", b: "*** (wanted)"}}`},
		"alone":        {"{apiVersion: v1, kind: Secret, stringData: {a: x}}", "", `{apiVersion: v1, kind: Secret, stringData: {a: "***"}}`},
		"no map":       {"{apiVersion: v1, kind: Secret, data: x}", "{}", `{apiVersion: v1, kind: Secret, data: "***"}`},
		"no Secret":    {"{apiVersion: v1, kind: ConfigMap, data: {a: x}}", "{}", "{apiVersion: v1, kind: ConfigMap, data: {a: x}}"},
		"another kind": {"{apiVersion: x.io/v1, kind: Secret, data: {a: x}}", "{}", "{apiVersion: x.io/v1, kind: Secret, data: {a: x}}"},
	} {
		var other map[string]any
		if c.other != "" {
			other = object(t, c.other)
		}
		if diff := cmp.Diff(object(t, c.want), maskWanted(object(t, c.one), other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPairs: by identity first; by kind only where that is clear.
func TestPairs(t *testing.T) {
	objects := func(names ...string) []map[string]any {
		var all []map[string]any
		for _, name := range names {
			kind, name, _ := strings.Cut(name, "/")
			all = append(all, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}})
		}
		return all
	}
	for name, c := range map[string]struct{ wants, got, pairs string }{
		"by identity":      {"A/x A/y", "A/y A/x", "A/x=A/x A/y=A/y"},
		"the only one":     {"A/x B/y", "B/y A/z", "A/x=A/z B/y=B/y"},
		"not clear":        {"A/x A/y", "A/z", "A/x= A/y= =A/z"},
		"not clear either": {"A/x", "A/y A/z", "A/x= =A/y =A/z"},
		"of another kind":  {"A/x", "B/x", "A/x= =B/x"},
	} {
		var got []*rendered
		for _, o := range objects(strings.Fields(c.got)...) {
			got = append(got, &rendered{object: o})
		}
		var all []string
		for _, p := range pairObjects(objects(strings.Fields(c.wants)...), got) {
			text := key(p.want) + "="
			if p.got != nil {
				text += key(p.got.object)
			}
			all = append(all, text)
		}
		if strings.Join(all, " ") != c.pairs {
			t.Errorf("%s: got %v, want %s", name, all, c.pairs)
		}
	}
}

// key is kind/name of an object; "" if there is none.
func key(o map[string]any) string {
	if o == nil {
		return ""
	}
	return strings.ReplaceAll(titleOf(o), " ", "/")
}
