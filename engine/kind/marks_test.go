package kind

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// marked is a ConfigMap with these annotation lines.
func marked(lines string) string { return head + "  annotations:\n" + lines }

func TestMarks(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: a\n"
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n  annotations:\n"
	for text, want := range map[string]string{
		marked("    jacquard.dev/on-delete: keep\n    jacquard.dev/initial-fields: data.a, data.b\n"): "",
		marked("    jacquard.dev/on-delete: Keep\n"):                                                  "x.yaml:6:29: jacquard.dev/on-delete can only be keep or delete",
		marked("    jacquard.dev/on-delete: {{ .spec.image }}\n"):                                     "x.yaml:6:29: jacquard.dev/on-delete must be literal: write the values that there are in branches of `if`",
		marked("    jacquard.dev/on-delete: >\n      keep\n"):                                         "x.yaml:6:29: jacquard.dev/on-delete must be a text on one line",
		marked("    jacquard.dev/on-delete:\n      keep\n"):                                           "x.yaml:6:28: jacquard.dev/on-delete must be a text on one line",
		marked("    jacquard.dev/adopt: true\n"):                                                      "x.yaml:6:25: jacquard.dev/adopt must be a text: quote it",
		marked("    jacquard.dev/adopt: \"true\" # why\n"):                                            "",
		marked("    jacquard.dev/run-once: \"true\"\n"):                                               "x.yaml:6:28: run-once is for Jobs: take it off",
		marked("    jacquard.dev/once: \"true\"\n"):                                                   "x.yaml:6:5: there is no annotation jacquard.dev/once: it is called jacquard.dev/run-once now",
		marked("    jacquard.dev/on-failed: recreate\n"):                                              "x.yaml:6:29: on-failed: recreate is for Pods and Jobs",
		marked("    jacquard.dev/on-immutable: replace\n"):                                            "x.yaml:6:32: jacquard.dev/on-immutable can only be recreate or recreate-keeping-dependents",
		marked("    jacquard.dev/initial-fields: metadata.labels\n"):                                  "x.yaml:6:34: jacquard.dev/initial-fields cannot name metadata: only the object's own content can be initial",
		marked("    jacquard.dev/initial-fields: spec.a[0]\n"):                                        "x.yaml:6:34: jacquard.dev/initial-fields holds paths of fields parted by commas, such as spec.replicas; it cannot name items of lists",
		marked("    jacquard.dev/subresource: status\n"):                                              "x.yaml:6:5: jacquard.dev/subresource is for patches: add jacquard.dev/ownership: patch",
		marked("    jacquard.dev/ownership: patch\n    jacquard.dev/subresource: a/b\n"):              "x.yaml:7:31: jacquard.dev/subresource must be the name of a subresource, such as status",
		marked("    jacquard.dev/ownership: patch\n    jacquard.dev/adopt: 'true'\n"):                 "x.yaml:7:5: jacquard.dev/adopt is for objects that are the resource's own, and this is a patch of somebody else's: take it off",
		marked("    jacquard.dev/ownership: mine\n"):                                                  "x.yaml:6:29: jacquard.dev/ownership can only be patch",
		marked("    {{- if .spec.image }}\n    jacquard.dev/ownership: patch\n    {{- end }}\n"):      "x.yaml:7:5: jacquard.dev/ownership must not depend on anything: write it in the same branch as apiVersion and kind",
		marked("    {{- if .spec.image }}\n    jacquard.dev/on-delete: keep\n    {{- else }}\n    jacquard.dev/on-delete: delete\n    {{- end }}\n"): "",
		claim: "x.yaml:2:1: a PersistentVolumeClaim must say what becomes of it when the resource goes: add the annotation jacquard.dev/on-delete: keep or jacquard.dev/on-delete: delete",
		claim +
			"  annotations: {a: b, jacquard.dev/on-delete: keep, c: d}\n": "",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x, labels: {a: b}, annotations: {jacquard.dev/on-delete: keep}}\n":                                             "",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {annotations: {jacquard.dev/on-delete: keep}, \"labels\": {a: {{ .metadata.name }}, jacquard.dev/on-delete: keep}}\n": "x.yaml:3:93: there is no label jacquard.dev/on-delete",
		claim +
			"  labels: {a: b}\n  annotations: {jacquard.dev/on-delete: keep}\n": "",
		claim +
			"  annotations: {jacquard.dev/on-delete: keep, jacquard.dev/on-immutable: recreate}\n": "x.yaml:5:74: PersistentVolumeClaim is never recreated: what is in it would be lost",
		claim + "  annotations: {\n    jacquard.dev/on-delete: keep,\n    a: b\n  }\n":      "",
		claim + "  annotations: {jacquard.dev/ownership: patch}\n":                          "",
		job + "    jacquard.dev/run-once: \"true\"\n    jacquard.dev/on-failed: recreate\n": "",
		job +
			"    a: b\nspec:\n  template:\n    metadata:\n      annotations:\n        jacquard.dev/on-failed: recreate\n": "x.yaml:11:9: jacquard.dev/on-failed does nothing here: it belongs to metadata.annotations of the document",
		"a: b\nmetadata:\n  annotations: {jacquard.dev/ownership: patch}\n": "x.yaml:3:17: jacquard.dev/ownership is about a document whose apiVersion and kind are literal lines at column 0, in the same branch; there are none",
	} {
		t.Run(text, func(t *testing.T) {
			if want == "" {
				refuses(t, map[string]string{"x.yaml": text})
				return
			}
			refuses(t, map[string]string{"x.yaml": text}, want)
		})
	}
	refuses(t, map[string]string{"_p.tpl": "{{ define \"a\" }}\njacquard.dev/on-delete: keep\n  jacquard.dev/adopt: \"true\"\n{{ end }}"},
		"_p.tpl:3:3: jacquard.dev/adopt may not stand in a partial: write it in the document itself")
}

// TestAdopt: a name from a value can adopt nothing.
func TestAdopt(t *testing.T) {
	const unsafe = ": jacquard.dev/adopt is only for names that are literal or made of .metadata.name: a name out of the resource's spec could take over anything"
	for name, safe := range map[string]bool{
		"web":                                    true,
		"{{ .metadata.name }}":                   true,
		"a-{{ $.metadata.name }}-b # why":        true,
		`{{ childName .metadata.name "web" }}`:   true,
		"{{- .metadata.name -}}":                 true,
		"{{ .spec.image }}":                      false,
		"{{ .metadata.name }}-{{ .spec.image }}": false,
		`{{ childName .spec.image "web" }}`:      false,
		"{{ .metadata.namespace }}":              false,
	} {
		for form, place := range map[string]string{
			"metadata:\n  name: " + name + "\n  annotations: {jacquard.dev/adopt: \"true\"}\n":    "x.yaml:5:17",
			"metadata:\n  annotations:\n    jacquard.dev/adopt: \"true\"\n  name: " + name + "\n": "x.yaml:5:5",
		} {
			text := "apiVersion: v1\nkind: ConfigMap\n" + form
			if safe {
				refuses(t, map[string]string{"x.yaml": text})
			} else {
				refuses(t, map[string]string{"x.yaml": text}, place+unsafe)
			}
		}
	}
	refuses(t,
		map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {jacquard.dev/adopt: \"true\"}, name: {{ .metadata.name }}}\n"})
	refuses(t,
		map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {jacquard.dev/adopt: \"true\"}, name: {{ .spec.image }}}\n"}, "x.yaml:3:26"+unsafe)
	refuses(t,
		map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations: {jacquard.dev/adopt: \"true\"}\n  {{- include \"n\" . | nindent 2 }}\n",
			"_n.tpl": "{{ define \"n\" }}name: {{ .spec.image }}{{ end }}"}, "x.yaml:4:17"+unsafe)
	ranged := func(name string) map[string]string {
		return map[string]string{"x.yaml": "{{ range .spec.env }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
			"\n  annotations: {jacquard.dev/adopt: \"true\"}\n{{ end }}\n"}
	}
	refuses(t,
		map[string]string{"x.yaml": "{{ $ = .spec }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $.metadata.name }}\n  annotations: {jacquard.dev/adopt: \"true\"}\n"}, "x.yaml:6:17"+unsafe)
	const rooted = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $.metadata.name }}\n  annotations: {jacquard.dev/adopt: \"true\"}\n"
	refuses(t, map[string]string{"x.yaml": "{{ $ := dict \"metadata\" (dict \"name\" .spec.image) }}\n" + rooted}, "x.yaml:6:17"+unsafe)
	refuses(t, map[string]string{"x.yaml": "{{ range $i, $ := .spec.env }}\n---\n" + rooted + "{{ end }}\n"}, "x.yaml:7:17"+unsafe,
		"x.yaml:6:12: App v1 has no field spec.env[].metadata")
	refuses(t,
		map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  {{- if .spec.image }}\n  \"name\": {{ .spec.image }}\n  {{- else }}\n  name: a\n  {{- end }}\n  annotations: {jacquard.dev/adopt: \"true\"}\n"}, "x.yaml:9:17"+unsafe)
	refuses(t,
		map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    {{- template \"m\" }}\n{{- /*\njacquard.dev/adopt: \"true\" */ -}}\n{{ define \"m\" }}\n    jacquard.dev/adopt: \"true\"\n{{ end }}\n"},
		"x.yaml:10:5: jacquard.dev/adopt may not stand in a partial: write it in the document itself")
	refuses(t, ranged("{{ $.metadata.name }}"))
	refuses(t, ranged("{{ .name }}"), "x.yaml:7:17"+unsafe)
	refuses(t, ranged("{{ .metadata.name }}"), "x.yaml:7:17"+unsafe,
		"x.yaml:6:12: App v1 has no field spec.env[].metadata; did you mean $.metadata?")
}

// TestDocuments: annotations belong to the documents of their branch.
func TestDocuments(t *testing.T) {
	k := compile(t, map[string]string{
		"kind.yaml": "children: [{apiVersion: v1, kind: Node}]\n",
		"a.yaml": `{{ if .spec.image }}
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {jacquard.dev/ownership: patch}}
{{ else }}
apiVersion: v1
kind: ConfigMap
metadata: {name: b, annotations: {"jacquard.dev/on-delete": 'keep'}}
{{ end }}
---
{{- range .spec.env }}
---
apiVersion: v1
kind: Node
metadata:
  name: c
  annotations:
    jacquard.dev/ownership: patch
    jacquard.dev/subresource: status
status: {}
{{- end }}
---
{{ if .spec.replicas }}
apiVersion: apps/v1
kind: Deployment
{{ else }}
apiVersion: apps/v1
kind: StatefulSet
{{ end }}
metadata:
  name: d
  annotations:
    jacquard.dev/on-immutable: recreate
    {{- if .spec.image }}
    jacquard.dev/initial-fields: spec.replicas
    {{- end }}
`})
	var got []Document
	for _, d := range k.Documents {
		got = append(got, Document{GroupVersionKind: d.GroupVersionKind, Marks: d.Marks})
	}
	gvk := func(group, kind string) apischema.GroupVersionKind {
		return apischema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
	}
	shared := map[string]string{"jacquard.dev/on-immutable": "recreate", "jacquard.dev/initial-fields": "spec.replicas"}
	want := []Document{
		{GroupVersionKind: gvk("", "Pod"), Marks: map[string]string{"jacquard.dev/ownership": "patch"}},
		{GroupVersionKind: gvk("", "ConfigMap"), Marks: map[string]string{"jacquard.dev/on-delete": "keep"}},
		{GroupVersionKind: gvk("", "Node"), Marks: map[string]string{"jacquard.dev/ownership": "patch", "jacquard.dev/subresource": "status"}},
		{GroupVersionKind: gvk("apps", "Deployment"), Marks: shared},
		{GroupVersionKind: gvk("apps", "StatefulSet"), Marks: shared},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Patch{{gvk("", "Node"), "status"}, {gvk("", "Pod"), ""}}, k.Patches()); diff != "" {
		t.Error(diff)
	}
	for _, owned := range []string{"ConfigMap", "Pod", "Node"} {
		if k.Creates(gvk("", owned)) != (owned == "ConfigMap") {
			t.Errorf("Creates(%s) = %v", owned, k.Creates(gvk("", owned)))
		}
	}
}
