package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// twoParts are the ConfigMaps of a folder with settings of `jacquard pack --config`.
const twoParts = `apiVersion: v1
kind: ConfigMap
metadata:
  name: jacquard-webs.example.com
  labels: {jacquard.dev/kind: webs.example.com}
  annotations:
    jacquard.dev/part: 1/2 x
    jacquard.dev/config: '{"registry": "packed", "size": 10000000, "map": {"a": 1, "b": 2}}'
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: jacquard-webs.example.com-2
  labels: {jacquard.dev/kind: webs.example.com}
  annotations: {jacquard.dev/part: 2/2 x}
`

// settingsOf are the settings that the objects of a release hold, by the name of the
// ConfigMap.
func settingsOf(objects []*unstructured.Unstructured) map[string]string {
	all := map[string]string{}
	for _, o := range ofKind(objects, "ConfigMap") {
		if text, found := o.GetAnnotations()[api.AnnotationConfig]; found {
			all[o.GetName()] = text
		}
		if text, found, _ := unstructured.NestedString(o.Object, "data", "settings.yaml"); found {
			all[o.GetName()] = text
		}
	}
	return all
}

// parseAll parses texts as YAML.
func parseAll(t *testing.T, texts map[string]string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, text := range texts {
		var one any
		if err := yaml.UnmarshalStrict([]byte(text), &one); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		all[name] = one
	}
	return all
}

// TestSettingsOfPackedKinds: settings of a kind are beside its folder, on the first part of
// it, where the release has the folder. Those of folders in images are for --config.
func TestSettingsOfPackedKinds(t *testing.T) {
	t.Parallel()
	custom := func(packed, config string) map[string]any {
		kinds := values(t, "{webs.example.com: {config: "+config+"}}")
		kinds["custom"] = map[string]any{"webs.example.com": packed}
		return map[string]any{"kinds": kinds}
	}
	first := strings.Split(twoParts, "---\n")[0]
	for name, tt := range map[string]struct {
		values map[string]any
		want   map[string]string
	}{
		"enabled": {values(t, "kinds: {enabled: [apps.app.huolala.cn], apps.app.huolala.cn: {config: "+
			`{text: "0o14", large: 10000000, part: 1.5, none: false, zero: 0, empty: "", list: [1, a], "no": "yes"}}}`),
			map[string]string{"jacquard-apps.app.huolala.cn": `{text: "0o14", large: 10000000, part: 1.5, none: false, zero: 0, empty: "", ` +
				`list: [1, a], "no": "yes"}`}},
		"no settings": {values(t, "kinds: {enabled: [apps.app.huolala.cn], apps.app.huolala.cn: {config: {}}}"), map[string]string{}},
		"custom, without values": {custom(twoParts, "{}"),
			map[string]string{"jacquard-webs.example.com": `{registry: packed, size: 10000000, map: {a: 1, b: 2}}`}},
		"custom, value by value": {custom(twoParts, "{registry: \"\", map: {a: 3}, more: 3}"),
			map[string]string{"jacquard-webs.example.com": `{registry: "", size: 10000000, map: {a: 3}, more: 3}`}},
		"custom, only values": {custom(strings.NewReplacer("jacquard.dev/config", "other", "jacquard.dev/part", "more").Replace(first), "{a: 3}"),
			map[string]string{"jacquard-webs.example.com": `{a: 3}`}},
		"custom, without a folder": {custom("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"jacquard:webs.example.com\"}\n", "{a: 3}"),
			map[string]string{"jacquard-settings": `{webs.example.com: {a: 3}}`}},
		"of an image": {values(t, "kinds: {webs.example.com: {config: {a: 3}}}"), map[string]string{"jacquard-settings": `{webs.example.com: {a: 3}}`}},
	} {
		if diff := cmp.Diff(parseAll(t, tt.want), parseAll(t, settingsOf(rendered(t, tt.values)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, err := render(release{name: "jacquard", namespace: "jacquard", values: custom(strings.ReplaceAll(first, "'{", "'[{"), "{a: 3}")})
	if want := "kinds.custom.webs.example.com: the annotation jacquard.dev/config is no map: "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an annotation that is no map: %v; want %s", err, want)
	}
}
