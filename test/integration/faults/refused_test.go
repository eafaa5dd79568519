package faults

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRefusedContent: what the API server will always refuse makes the
// resource Stalled, names the place in the template, is sent once and not
// again; the other children are applied, and a change heals it.
func TestRefusedContent(t *testing.T) {
	for name, c := range map[string]struct{ document, because string }{
		"unknown field": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 80\n    prot: TCP\n",
			"child.yaml:8:11"},
		"mistyped field": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: {{ .spec.text }}\n",
			"child.yaml:7:14"},
		"mistyped map":    {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata: [1]\n", "child.yaml:5:7"},
		"number in a map": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  num: 1\n", "child.yaml:6:8"},
		"duplicate key": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 80\n  - port: 80\n",
			"child.yaml:7"},
		"duplicate env": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  containers:\n  - name: c\n    image: i\n    env:\n    - name: A\n    - name: A\n", "child.yaml:10"},
		"invalid value": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  ports:\n  - port: 70000\n", "child.yaml:7:11"},
		"unsupported word": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec:\n  type: Nonsense\n  ports:\n  - port: 80\n",
			"child.yaml:6:9"},
		"required field": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  containers:\n  - image: i\n", "child.yaml:7"},
		"invalid label":  {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  labels:\n    a: no label\n", "child.yaml:6:5"},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, map[string]string{"child.yaml": c.document, "map.yaml": configMap})
			mark := cluster.Mark(t)
			s.web("text: one")
			s.is("Stalled", "True", c.because)
			t.Log(s.message())
			s.rests(rest{children: wantConfigMap, because: c.because})
			if n := refused(s.sent(mark)); n > 1 {
				t.Errorf("sent %d times: %v", n, s.sent(mark))
			}
			s.write(map[string]string{"child.yaml": "{{ if false }}{{ end }}\n", "kind.yaml": retiring(c.document)})
			s.rests(rest{children: wantConfigMap})
		})
	}
}

// retiring is the kind.yaml of a folder that drops a document; of ConfigMaps it has
// more.
func retiring(document string) string {
	settings := "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n"
	if child := strings.Fields(document)[3]; child != "ConfigMap" {
		settings += "retired: [{apiVersion: v1, kind: " + child + "}]\n"
	}
	return settings
}

func refused(requests []kit.Request) int {
	n := 0
	for _, r := range requests {
		if r.Code >= 400 {
			n++
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
