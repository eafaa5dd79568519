package ownership_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// TestOneChangeIsOneGap: for any document, all of it is covered once it is applied, and when another
// manager changes one leaf, that leaf or its atomic ancestor is missing and
// nothing else.
func TestOneChangeIsOneGap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := document(rt)
		s := serve(t, doc)
		s.apply(doc, us)
		if got := s.ours().Missing(doc); got != nil {
			rt.Fatalf("Missing after the apply of %v: %q", doc, got)
		}
		live := runtime.DeepCopyJSON(doc)
		leaves := leavesOf(live, "")
		leaf := leaves[rapid.IntRange(0, len(leaves)-1).Draw(rt, "leaf")]
		s.update(them, func(m map[string]any) { change(m, leaf.path) })
		got := s.ours().Missing(doc)
		if len(got) == 0 {
			rt.Fatalf("%s was changed and nothing is missing in %v", leaf.shown, s.ManagedFields())
		}
		for _, path := range got {
			if !related(path, leaf) {
				rt.Fatalf("%s was changed and %q is missing", leaf.shown, got)
			}
		}
	})
}

// A leaf is a scalar of a document: where it is and how that is printed.
type leaf struct {
	path  []any
	shown string
}

// atomics are the atomic fields of the documents made here.
var atomics = []string{"spec.selector", ".args"}

func related(missing string, l leaf) bool {
	if missing == l.shown || strings.HasPrefix(l.shown, missing+"[") || strings.HasPrefix(l.shown, missing+".") {
		return true
	}
	return slices.ContainsFunc(atomics, func(a string) bool {
		return strings.Contains(missing, a) && strings.Contains(l.shown, a)
	})
}

// keys are the fields that name an item: changing one makes another item.
var keys = []string{"name", "containerPort", "protocol", "kind", "apiVersion", "namespace"}

func leavesOf(v any, shown string, path ...any) []leaf {
	var found []leaf
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if _, isText := v[k].(string); isText && slices.Contains(keys, k) || k == "containerPort" {
				continue
			}
			next := shown + fmt.Sprintf("[%q]", k)
			if !strings.ContainsAny(k, "./") {
				next = strings.TrimPrefix(shown+"."+k, ".")
			}
			found = append(found, leavesOf(v[k], next, append(slices.Clone(path), k)...)...)
		}
	case []any:
		for i, item := range v {
			found = append(found, leavesOf(item, shown+itemName(i, item), append(slices.Clone(path), i)...)...)
		}
	default:
		found = append(found, leaf{path, shown})
	}
	return found
}

func itemName(i int, item any) string {
	m, ok := item.(map[string]any)
	switch {
	case ok && m["containerPort"] != nil && m["protocol"] != nil:
		return fmt.Sprintf("[containerPort=%v,protocol=%v]", m["containerPort"], m["protocol"])
	case ok && m["containerPort"] != nil:
		return fmt.Sprintf("[containerPort=%v,protocol=TCP]", m["containerPort"])
	case ok:
		return fmt.Sprintf("[name=%v]", m["name"])
	}
	return fmt.Sprintf("[%d]", i)
}

// change gives the scalar at path another value of its type.
func change(m map[string]any, path []any) {
	var v any = m
	for _, p := range path[:len(path)-1] {
		v = step(v, p)
	}
	last := path[len(path)-1]
	old := step(v, last)
	var changed any = fmt.Sprint(old) + "x"
	switch old := old.(type) {
	case int64:
		changed = old + 1
	case bool:
		changed = !old
	}
	if i, ok := last.(int); ok {
		v.([]any)[i] = changed
		return
	}
	v.(map[string]any)[last.(string)] = changed
}

func step(v, p any) any {
	if i, ok := p.(int); ok {
		return v.([]any)[i]
	}
	return v.(map[string]any)[p.(string)]
}

func document(t *rapid.T) map[string]any {
	if rapid.Bool().Draw(t, "deployment") {
		return deployment(t)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": metadata(t), "data": texts(t, "data", 1),
	}
}

func metadata(t *rapid.T) map[string]any {
	return map[string]any{"name": "x", "labels": texts(t, "labels", 1), "annotations": texts(t, "annotations", 0)}
}

func texts(t *rapid.T, label string, least int) map[string]any {
	made := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}([./][a-z]{1,3})?`), rapid.StringN(0, 5, 20), least, 4).Draw(t, label)
	m := map[string]any{}
	for k, v := range made {
		m[k] = v
	}
	return m
}

func deployment(t *rapid.T) map[string]any {
	named := func(label string, fill func(map[string]any)) []any {
		var l []any
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,4}`), 1, 3, rapid.ID).Draw(t, label) {
			item := map[string]any{"name": name}
			fill(item)
			l = append(l, item)
		}
		return l
	}
	containers := named("containers", func(c map[string]any) {
		c["image"] = rapid.StringMatching(`[a-z]{0,4}`).Draw(t, "image")
		c["env"] = named("env", func(e map[string]any) { e["value"] = rapid.String().Draw(t, "value") })
		c["args"] = []any{"a", rapid.String().Draw(t, "arg")}
		c["ports"] = ports(t)
		if rapid.Bool().Draw(t, "limited") {
			c["resources"] = map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}}
		}
	})
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(t),
		"spec": map[string]any{
			"replicas": rapid.Int64Range(0, 5).Draw(t, "replicas"),
			"paused":   rapid.Bool().Draw(t, "paused"),
			"selector": map[string]any{"matchLabels": texts(t, "selector", 1)},
			"template": map[string]any{
				"metadata": map[string]any{"labels": texts(t, "podLabels", 0)},
				"spec": map[string]any{
					"containers": containers,
					"volumes":    []any{map[string]any{"name": "v", "emptyDir": map[string]any{}}},
				},
			},
		},
	}
}

func ports(t *rapid.T) []any {
	var l []any
	for _, n := range rapid.SliceOfNDistinct(rapid.Int64Range(1, 4), 0, 3, rapid.ID).Draw(t, "ports") {
		p := map[string]any{"containerPort": n, "hostPort": n}
		if rapid.Bool().Draw(t, "explicit") {
			p["protocol"] = "TCP"
		}
		l = append(l, p)
		if rapid.Bool().Draw(t, "twin") {
			l = append(l, map[string]any{"containerPort": n, "protocol": "UDP", "hostPort": n})
		}
	}
	return l
}
