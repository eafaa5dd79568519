package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRefusedContent: what the API server will always refuse makes the
// resource Stalled, names the place in the template, is sent once and not
// again; the other children are applied, and a change heals it.
func TestRefusedContent(t *testing.T) {
	t.Parallel()
	all := map[string]struct{ document, place string }{
		"unknown field": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 80\n    prot: TCP\n",
			"8:11"},
		"mistyped field": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: {{ .spec.text }}\n",
			"7:14"},
		"mistyped map":    {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata: [1]\n", "5:7"},
		"number in a map": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  num: 1\n", "6:8"},
		"duplicate key": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 80\n  - port: 80\n",
			"8"},
		"duplicate env": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  containers:\n  - name: c\n    image: i\n    env:\n    - name: A\n    - name: A\n", "11"},
		"invalid value": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 70000\n", "7:11"},
		"unsupported word": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  type: Nonsense\n  ports:\n  - port: 80\n",
			"6:9"},
		"required field": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  containers:\n  - image: i\n", "7"},
		"invalid label":  {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  labels:\n    a: no label\n", "6:8"},
	}
	files, names := map[string]string{"map.yaml": configMap}, map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		names[fmt.Sprint("b", i)] = name
		files[fmt.Sprintf("child%d.yaml", i)] = strings.Replace(all[name].document, "  name: b\n", fmt.Sprintf("  name: b%d\n", i), 1)
	}
	s := build(t, files)
	mark := cluster.Mark(t)
	s.web("text: one")
	for i, name := range slices.Sorted(maps.Keys(all)) {
		s.is("Stalled", "True", fmt.Sprintf("child%d.yaml:%s", i, all[name].place))
	}
	t.Log(s.message())
	s.rests(rest{children: wantConfigMap, because: "child0.yaml"})
	for child, n := range refused(s.sent(mark)) {
		if n > 1 {
			t.Errorf("%s: sent %d times", names[child], n)
		}
	}
	healed := map[string]string{"kind.yaml": `apiVersion: jacquard.dev/v1alpha1
kind: KindSettings
retired: [{apiVersion: v1, kind: Service}, {apiVersion: v1, kind: Pod}]
`}
	for i := range len(all) {
		healed[fmt.Sprintf("child%d.yaml", i)] = "{{ if false }}{{ end }}\n"
	}
	s.write(healed)
	s.rests(rest{children: wantConfigMap})
}

// refused counts the refused requests, by the object's name.
func refused(requests []kit.Request) map[string]int {
	n := map[string]int{}
	for _, r := range requests {
		if r.Code >= 400 {
			n[r.Name]++
		}
	}
	return n
}

// message is what Ready says.
func (s *site) message() string {
	s.Helper()
	conditions, _ := s.owner().Object["status"].(map[string]any)["conditions"].([]any)
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == "Ready" {
			return m["message"].(string)
		}
	}
	return ""
}
