package render_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// harmless is a valid name, label and anything else.
const harmless = "harmless"

// hostile are strings that mean something to YAML, to templates, to the engine
// or to people. Each holds the canary, by which it is known in an error.
var hostile = []string{
	"c4n4ry\n  hostNetwork: true", "c4n4ry\n---\nkind: Secret", "---\nc4n4ry", "c4n4ry: x", "c4n4ry #x", "# c4n4ry", `c4n4ry"x`, "c4n4ry'x",
	"`c4n4ry`",
	"{{ c4n4ry }}", "}} c4n4ry {{", "{{ .metadata.name }}c4n4ry", "c4n4ry\u2028x: y", "c4n4ry\u0085x: y", "\uE000c4n4ry",
	"\uE0010\uE003: 0 c4n4ry", "- \uE0020\uE003c4n4ry", "\uE0000\uE003c4n4ry",
	"c4n4ry\x00x", "\uFEFFc4n4ry", "c4n4ry\tx", "\tc4n4ry", "<<c4n4ry", "*c4n4ry", "&c4n4ry x", "!!binary c4n4ry", "|\n  c4n4ry", "> c4n4ry",
	"[c4n4ry", "{c4n4ry: x}",
	"? c4n4ry", "- c4n4ry", "%c4n4ry", "@c4n4ry", "jacquard.dev/c4n4ry", "jacquard.dev/adopt: c4n4ry", "x.jacquard.dev/c4n4ry", "../c4n4ry",
	"c4n4ry\r\nx: y", " c4n4ry ",
	"c4n4ry" + strings.Repeat("x", 1<<20),
}

// A place is a path through a schema where a string stands; its last step may
// be aKey.
type place []string

const (
	anItem = "[]"
	anyKey = "{}"
	aKey   = "{key}"
)

// places finds every string of a type: fields, items, and the keys and values
// of free maps.
func places(t *schema.Type, at place) []place {
	under := func(step string, t *schema.Type) []place { return places(t, append(slices.Clone(at), step)) }
	var found []place
	switch t.Kind() {
	case schema.KindString, schema.KindIntOrString, schema.KindAny:
		return []place{at}
	case schema.KindList:
		return under(anItem, t.Elem())
	case schema.KindFreeMap:
		return append(under(anyKey, t.Elem()), append(slices.Clone(at), aKey))
	case schema.KindObject:
		for _, name := range t.Fields() {
			field, _ := t.Field(name)
			found = append(found, under(name, field)...)
		}
		if t.FreeForm() {
			found = append(found, append(slices.Clone(at), anyKey), append(slices.Clone(at), aKey))
		}
	}
	return found
}

// sample is a value of a type with everything filled in: harmless, but for the
// string at the place.
func sample(t *schema.Type, at place, text string) any {
	below := func(step string) (place, string) {
		if len(at) > 0 && at[0] == step {
			return at[1:], text
		}
		return nil, harmless
	}
	switch t.Kind() {
	case schema.KindObject, schema.KindFreeMap:
		out := map[string]any{}
		for _, name := range t.Fields() {
			field, _ := t.Field(name)
			rest, s := below(name)
			out[name] = sample(field, rest, s)
		}
		if t.FreeForm() {
			rest, s := below(anyKey)
			key := harmless
			if len(at) > 0 && at[0] == aKey {
				key = text
			}
			out[key] = sample(t.Elem(), rest, s)
		}
		return out
	case schema.KindList:
		rest, s := below(anItem)
		return []any{sample(t.Elem(), rest, s)}
	case schema.KindInteger:
		return int64(1)
	case schema.KindNumber:
		return 1.5
	case schema.KindBoolean:
		return true
	}
	if text == harmless && len(t.Enum()) > 0 {
		return t.Enum()[0]
	}
	return text
}

// A house is the shipped kinds and a cluster that serves what they know.
type house struct {
	catalog *catalog.Catalog
	cluster *catalog.Cluster
}

func shipped(t testing.TB) *house {
	t.Helper()
	loaded, err := catalog.Load([]string{"../.."})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range loaded.Broken {
		t.Errorf("%s: %v", name, err)
	}
	cluster, err := loaded.Cluster(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &house{loaded, cluster}
}

// resource is a custom resource with a string at a place of its spec, labels
// or annotations.
func resource(k *kind.Kind, at place, text string) *unstructured.Unstructured {
	spec, _ := schema.Root(k.Version).Field("spec")
	var inside place
	if len(at) > 0 && at[0] == "spec" {
		inside = at[1:]
	}
	meta := map[string]any{"name": "web", "namespace": "default", "uid": "u"}
	if len(at) == 2 && at[0] == "metadata" {
		meta["labels"], meta["annotations"] = map[string]any{text: text}, map[string]any{text: text}
	}
	o := map[string]any{"apiVersion": k.GVK.GroupVersion().String(), "kind": k.GVK.Kind, "metadata": meta}
	s := harmless
	if inside != nil {
		s = text
	}
	o["spec"] = sample(spec, inside, s)
	return &unstructured.Unstructured{Object: o}
}

// structure is all of what was rendered but values: every key at its path. The
// keys that the hostile string itself became are shown as harmless.
func structure(children []render.Child, text string) []string {
	var lines []string
	for i, c := range children {
		lines = append(lines, fmt.Sprintf("%d %s %s", i, c.File, c.Object.GroupVersionKind()))
		walk(c.Object.Object, "", func(path, key string, inSelector bool) {
			if key == text && !inSelector {
				key = harmless
			}
			lines = append(lines, fmt.Sprintf("%d %s.%s", i, path, key))
		})
	}
	slices.Sort(lines)
	return lines
}

func walk(v any, path string, see func(path, key string, inSelector bool)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			see(path, key, strings.Contains(strings.ToLower(path), "selector") || strings.Contains(path, "matchLabels"))
			walk(v[key], path+"."+key, see)
		}
	case []any:
		for i, item := range v {
			walk(item, fmt.Sprintf("%s[%d]", path, i), see)
		}
	}
}

// compare renders a resource with a string and with a harmless one instead.
func (h *house) compare(t *testing.T, k *kind.Kind, at place, text string) (refused bool) {
	t.Helper()
	evil, good := resource(k, at, text), resource(k, at, harmless)
	want, err := render.Children(context.Background(), k, good, h.cluster.For(k, good))
	if err != nil {
		t.Fatalf("%s at %v: the harmless string: %v", k.Name, at, err)
	}
	got, err := render.Children(context.Background(), k, evil, h.cluster.For(k, evil))
	if err != nil {
		if strings.Contains(err.Error(), "c4n4ry") || text != "" && len(text) > 12 && strings.Contains(err.Error(), text) {
			t.Errorf("%s at %v: the error holds the value: %.300s", k.Name, at, err)
		}
		return true
	}
	if len(got.Waiting) != len(want.Waiting) {
		t.Errorf("%s at %v: %d files wait, not %d", k.Name, at, len(got.Waiting), len(want.Waiting))
	}
	if diff := cmp.Diff(structure(want.Children, harmless), structure(got.Children, text)); diff != "" {
		t.Errorf("%s at %v with %.40q: -harmless +hostile\n%.2000s", k.Name, at, text, diff)
	}
	for _, c := range got.Children {
		walk(c.Object.Object, "", func(path, key string, _ bool) {
			if api.Reserved(key) {
				t.Errorf("%s at %v: %s.%s", k.Name, at, path, key)
			}
		})
	}
	return false
}

func (h *house) kinds() []*kind.Kind {
	var all []*kind.Kind
	for _, name := range slices.Sorted(maps.Keys(h.catalog.Kinds)) {
		all = append(all, h.catalog.Kinds[name])
	}
	return all
}

func targets(k *kind.Kind) []place {
	spec, _ := schema.Root(k.Version).Field("spec")
	return append(places(spec, place{"spec"}), place{"metadata", "labels"})
}

func TestHostileStrings(t *testing.T) {
	h := shipped(t)
	for _, k := range h.kinds() {
		t.Run(k.Name, func(t *testing.T) {
			refused, all := 0, targets(k)
			for i, at := range all {
				for j, text := range hostile {
					if len(text) > 1<<20 && len(all) > 20 && (i+j)%10 != 0 {
						continue // a megabyte in every tenth place will do
					}
					if h.compare(t, k, at, text) {
						refused++
					}
				}
			}
			t.Logf("%d places, %d strings, %d refused", len(all), len(hostile), refused)
			if refused == len(all)*len(hostile) {
				t.Error("all were refused: nothing was compared")
			}
		})
	}
}

var letters = regexp.MustCompile(`^[A-Za-z]+$`)

func FuzzHostileStrings(f *testing.F) {
	h := shipped(f)
	for i, text := range hostile {
		if len(text) < 1000 {
			f.Add(uint(i*7), text)
		}
	}
	type target struct {
		kind *kind.Kind
		at   place
	}
	var all []target
	for _, k := range h.kinds() {
		for _, at := range targets(k) {
			all = append(all, target{k, at})
		}
	}
	rendered := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, i uint, text string) {
		one := all[i%uint(len(all))]
		text = strings.ToValidUTF8(text, "")
		if text == "" || slices.Contains([]string{"pod-route", harmless}, text) {
			return // what the author's own conditions ask for
		}
		if letters.MatchString(text) {
			return // it may be the name of a field, which structure takes for a key that the string became
		}
		if refused := h.compare(t, one.kind, one.at, text); !refused {
			rendered()
		}
	})
}
