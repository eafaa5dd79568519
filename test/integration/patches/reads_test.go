package patches

import (
	"fmt"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestReadOwn: lookup and select see the resource's own namespace, and tell
// when it changes there and only there.
func TestReadOwn(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": `{{- $one := lookup "v1" "ConfigMap" "" .spec.one }}
{{- $names := list }}
{{- range select "v1" "ConfigMap" (dict "matchLabels" (dict "app" "x")) }}
{{- $names = append $names .metadata.name }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  one: {{ $one.data.k | default "none" | quote }}
  all: {{ join "," $names | quote }}
`})
	elsewhere := cluster.Namespace(t)
	cluster.Apply(t, elsewhere, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {app: x}}, data: {k: elsewhere}}")
	s.web("r", "one: one")
	s.has("v1", "ConfigMap", "r", "data.one", "none", "data.all", "")
	s.apply("person", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {app: x}}, data: {k: first}}")
	s.has("v1", "ConfigMap", "r", "data.one", "first", "data.all", "one")
	s.apply("person", "{apiVersion: v1, kind: ConfigMap, metadata: {name: two, labels: {app: x}}}")
	s.has("v1", "ConfigMap", "r", "data.all", "one,two")
	s.merge("v1", "ConfigMap", "two", "person", `{"metadata":{"labels":{"app":"other"}}}`)
	s.has("v1", "ConfigMap", "r", "data.all", "one")
	s.rests()
	cluster.Apply(t, elsewhere, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {app: x}}, data: {k: changed}}")
	s.rests()
	s.delete("v1", "ConfigMap", "one")
	s.has("v1", "ConfigMap", "r", "data.one", "none", "data.all", "")
	s.ready("r")
	s.rests()
}

// TestReadElsewhere: another namespace is read only where kind.yaml says so,
// and there only the names that it lists.
func TestReadElsewhere(t *testing.T) {
	t.Parallel()
	platform := cluster.Namespace(t)
	s := build(t, map[string]string{
		"kind.yaml": "reads:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [" + platform +
			"], names: [shared]}\n- {apiVersion: v1, kind: Namespace}\n",
		"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  k: {{ (lookup "v1" "ConfigMap" .spec.namespace .spec.name).data.k | default "none" | quote }}
  home: {{ (lookup "v1" "Namespace" "" .metadata.namespace).metadata.name | default "none" | quote }}
`})
	cluster.Apply(t, platform, theirs("shared", "k: one")+theirs("private", "k: secret"))
	cluster.Apply(t, "default", theirs(s.namespace, "k: secret"))
	s.web("r", "namespace: "+platform+", name: shared")
	s.has("v1", "ConfigMap", "r", "data.k", "one", "data.home", s.namespace)
	s.ready("r")
	cluster.Apply(t, platform, theirs("shared", "k: two"))
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	s.web("r", "namespace: "+platform+", name: private")
	s.is("r", "Stalled", "True", "must be declared")
	s.web("r", "namespace: default, name: "+s.namespace)
	s.is("r", "Stalled", "True", "must be declared")
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	s.rests()
}

// TestReadUnserved: a read of a kind that the cluster does not have waits, and
// is answered when its CRD comes; when the CRD goes, what was made stays.
func TestReadUnserved(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{
		"kind.yaml":  "children:\n- {apiVersion: v1, kind: ConfigMap}\n",
		"plain.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-plain\n",
		"map.yaml": `{{- $thing := lookup "GROUP/v1" "Thing" "" "t" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  k: {{ $thing.spec.k | default "none" | quote }}
`})
	s.web("r", "")
	s.is("r", "Reconciling", "True", "Thing")
	s.has("v1", "ConfigMap", "r-plain", "metadata.name", "r-plain") // the other file goes on
	cluster.Apply(t, "", kindOf("Thing", s.group, "Namespaced"))
	cluster.Served(t, s.apiVersion(), "Thing")
	s.ready("r")
	s.has("v1", "ConfigMap", "r", "data.k", "none")
	s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, spec: {k: one}}")
	s.has("v1", "ConfigMap", "r", "data.k", "one")
	cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things."+s.group)
	s.is("r", "Reconciling", "True", "Thing")
	s.rests()
	s.get("v1", "ConfigMap", "r") // it stays; the Thing itself went with its CRD
}

// TestTexts: config, file, rendered and await in the running operator.
func TestTexts(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{
		"config.yaml":    "registry: example.com\n",
		"files/init.sql": "select '{{ 1 }}';\n",
		"config-map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  registry: {{ config "registry" }}
  init: {{ file "init.sql" | quote }}
  text: {{ .spec.text }}
`,
		"deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  selector:
    matchLabels: {app: {{ .metadata.name }}}
  template:
    metadata:
      labels: {app: {{ .metadata.name }}}
      annotations:
        checksum: {{ rendered "config-map" | sha256sum }}
    spec:
      {{- if .spec.nowhere }}
      nodeSelector: {is: nowhere}
      {{- end }}
      containers: [{name: web, image: nginx}]
`,
		"after.yaml": `{{- $d := await "deployment" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}-after
data:
  generation: {{ $d.metadata.generation | quote }}
`,
	})
	s.web("r", "text: one, nowhere: true")
	s.is("r", "Reconciling", "True", "after: ")
	s.has("v1", "ConfigMap", "r", "data", map[string]any{"registry": "example.com", "init": "select '{{ 1 }}';\n", "text": "one"})
	sum := func() string {
		annotations := s.get("apps/v1", "Deployment",
			"r").Object["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["annotations"]
		return annotations.(map[string]any)["checksum"].(string)
	}
	s.has("apps/v1", "Deployment", "r", "metadata.name", "r")
	first := sum()
	if err := cluster.Gone("v1", "ConfigMap", s.namespace, "r-after"); err != nil {
		t.Fatal(err)
	}
	s.web("r", "text: one")
	s.ready("r")
	s.has("v1", "ConfigMap", "r-after", "metadata.name", "r-after")
	if sum() != first {
		t.Error("the checksum changed although the file did not")
	}
	s.web("r", "text: two")
	kit.Eventually(t, "the checksum follows the file", func() error {
		if sum() == first {
			return fmt.Errorf("it is %s still", first)
		}
		return nil
	})
	s.ready("r")
	s.write(map[string]string{"files/init.sql": "select 2;\n"}) // as a new image of the operator has it
	s.has("v1", "ConfigMap", "r", "data.init", "select 2;\n")
	s.rests("apps/v1 Deployment")
}

// TestSettingsOfAnInstallation: --config says more than the folder.
func TestSettingsOfAnInstallation(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{
		"config.yaml": "registry: example.com\nother: stays\n",
		"map.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  k: {{ config \"registry\" }}\n  other: {{ config \"other\" }}\n",
	})
	s.web("r", "")
	s.has("v1", "ConfigMap", "r", "data.k", "example.com", "data.other", "stays")
	s.operator.Stop(t)
	settings, err := kind.ReadConfig("config", []byte("webs."+s.group+": {registry: mirror.example.com}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.operator = cluster.Run(t, func(o *controller.Options) { o.Settings = settings }, s.root)
	s.has("v1", "ConfigMap", "r", "data.k", "mirror.example.com", "data.other", "stays")
	s.ready("r")
	s.rests()
}
