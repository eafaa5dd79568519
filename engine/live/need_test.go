package live_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// needOf is the need of paths with dots.
func needOf(paths ...string) live.Need {
	var all [][]string
	for _, path := range paths {
		all = append(all, strings.Split(path, "."))
	}
	return live.NeedOf(all...)
}

func TestMergeNeeds(t *testing.T) {
	for _, test := range []struct{ a, b, want live.Need }{
		{live.Metadata, live.Metadata, live.Metadata},
		{live.Metadata, needOf("status.a"), needOf("status.a")},
		{needOf("status.a"), needOf("status.a"), needOf("status.a")},
		{needOf("status.b", "spec.a"), needOf("status.a"), needOf("status.a", "spec.a", "status.b")},
		{needOf("status.a", "status.b"), needOf("status"), needOf("status")},
		{needOf("status.a"), needOf("status.ab"), needOf("status.ab", "status.a")},
		{needOf("spec", "status"), live.Metadata, live.Readiness},
		{live.Readiness, live.Body, live.Body},
		{needOf("metadata.name", "metadata.generation", "apiVersion"), live.Metadata, live.Metadata},
		{needOf("metadata"), live.Metadata, live.Body},
		{live.NeedOf([]string{"data", "a\nb"}), live.Metadata, needOf("data")},
	} {
		ab, ba := test.a.Merge(test.b), test.b.Merge(test.a)
		if ab != test.want || ba != test.want {
			t.Errorf("%s with %s: %s and %s, want %s", test.a, test.b, ab, ba, test.want)
		}
		if !ab.Covers(test.a) || !ab.Covers(test.b) || test.a != test.want && test.a.Covers(ab) {
			t.Errorf("%s with %s: what covers what is wrong", test.a, test.b)
		}
	}
}

// TestCutKeepsFields checks that exactly the needed fields are kept, of an object as a watch
// delivers it and of the answer to a write.
func TestCutKeepsFields(t *testing.T) {
	const object = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","generation":3,"annotations":{"a":"b","c":"d"}},
		"spec":{"a":1,"b":{"c":[{"d":1}],"e":null},"text":"<t>"},"data":{"k.l":"v"},"empty":{},"status":{"conditions":[{"type":"Ready"}],"resources":[1,2],"health":{"status":"x","more":1}}}`
	identity := `"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","generation":3`
	for _, test := range []struct {
		need live.Need
		want string
	}{
		{needOf("status.health.status", "status.conditions"), `{` + identity + `},"status":{"conditions":[{"type":"Ready"}],"health":{"status":"x"}}}`},
		{needOf("spec.b.c", "spec.b.e", "spec.none"), `{` + identity + `},"spec":{"b":{"c":[{"d":1}],"e":null}}}`},
		{needOf("spec.a.b", "spec.b.e.f", "spec.text"), `{` + identity + `},"spec":{"a":1,"b":{"e":null},"text":"<t>"}}`},
		{live.NeedOf([]string{"data", "k.l"}), `{` + identity + `},"data":{"k.l":"v"}}`},
		{needOf("metadata.annotations.a"), `{` + identity + `,"annotations":{"a":"b"}}}`},
		{needOf("none"), `{` + identity + `}}`},
		{needOf("status.none", "spec.b.none", "empty.none"), `{` + identity + `},"spec":{"b":{"c":null}},"status":{"conditions":null},"empty":{}}`},
	} {
		p, err := live.Pack([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		want, err := live.Pack([]byte(test.want))
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := want.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		for what, delivered := range map[string]any{"packed": p, "whole": u} {
			l, err := live.Of(widgetKind(), delivered)
			if err == nil {
				l, err = l.Cut(test.need).Cut(test.need).Unpacked()
			}
			if err != nil {
				t.Fatal(err)
			}
			if what == "whole" { // whose metadata is kept for its labels and managers
				l.Body["metadata"] = wanted.Object["metadata"]
			}
			if diff := cmp.Diff(wanted.Object, l.Body); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", what, test.need, diff)
			}
		}
		if len(u.Object["status"].(map[string]any)) != 3 {
			t.Fatal("the object itself was changed")
		}
	}
}
