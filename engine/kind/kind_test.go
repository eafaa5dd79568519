package kind

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app, listKind: AppList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              image: {type: string}
              replicas: {type: integer}
              ports: {type: object, additionalProperties: {type: object, properties: {number: {type: integer}}}}
              env:
                type: array
                items: {type: object, properties: {name: {type: string}, value: {type: string}}}
`

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"

// compileFor compiles a folder of these files for a definition.
func compileFor(t *testing.T, definition string, files map[string]string) (*Kind, error) {
	t.Helper()
	crd, err := crdfile.Parse("crd.yaml", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{}
	for name, text := range files {
		data[name] = []byte(text)
	}
	f, err := folder.FromMap(crd.Name, "", data)
	if err != nil {
		t.Fatal(err)
	}
	return Compile(f, crd)
}

// compile compiles a sound folder.
func compile(t *testing.T, files map[string]string) *Kind {
	t.Helper()
	k, err := compileFor(t, definition, files)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// refuses checks what is said of a folder, line by line in any order; none
// means that it is sound.
func refuses(t *testing.T, files map[string]string, want ...string) {
	t.Helper()
	_, err := compileFor(t, definition, files)
	saysLines(t, err, want...)
}

// saysLines checks what an error says, line by line in any order.
func saysLines(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	if err != nil {
		got = strings.Split(err.Error(), "\n")
	}
	for _, w := range want {
		if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+w+"\n") {
			t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d errors, want %d: %v", len(got), len(want), err)
	}
}

func TestPaths(t *testing.T) {
	for text, want := range map[string]string{
		"a: {{ .spec.imgae }}":                                             "x.yaml:1:7: App v1 has no field spec.imgae; did you mean spec.image?",
		"a: {{ $.spec.imgae }}":                                            "x.yaml:1:7: App v1 has no field spec.imgae; did you mean spec.image?",
		"{{ with .spec }}a: {{ .imgae }}{{ end }}":                         "x.yaml:1:23: App v1 has no field spec.imgae; did you mean spec.image?",
		"{{ range .spec.env }}a: {{ .valeu }}{{ end }}":                    "x.yaml:1:28: App v1 has no field spec.env[].valeu; did you mean spec.env[].value?",
		"{{ range $i, $e := .spec.env }}a: {{ $e.valeu }}{{ end }}":        "x.yaml:1:38: App v1 has no field spec.env[].valeu; did you mean spec.env[].value?",
		"{{ range .spec.ports }}a: {{ .nummer }}{{ end }}":                 "x.yaml:1:30: App v1 has no field spec.ports.*.nummer; did you mean spec.ports.*.number?",
		"{{ $s := .spec }}a: {{ $s.imgae }}":                               "x.yaml:1:24: App v1 has no field spec.imgae; did you mean spec.image?",
		"{{ with .spec }}a: {{ .metadata.name }}{{ end }}":                 "x.yaml:1:23: App v1 has no field spec.metadata; did you mean $.metadata?",
		"a: {{ .spec.replicas.x }}":                                        "x.yaml:1:7: spec.replicas, an integer, has no field x",
		"a: {{ .spec.env.x }}":                                             "x.yaml:1:7: spec.env, a list, has no field x",
		"a: {{ .Spec }}":                                                   "x.yaml:1:7: App v1 has no field Spec; did you mean spec?",
		"a: {{ include \"p\" .spec }}":                                     "_p.tpl:1:20: App v1 has no field spec.metadata (called from x.yaml:1:7)",
		"a: {{ include \"e\" .spec }}":                                     "_p.tpl:2:36: App v1 has no field spec.env[].valeu; did you mean spec.env[].value? (called from x.yaml:1:7)",
		"{{ range .spec.env }}{{ template \"p\" . }}{{ end }}":             "_p.tpl:1:20: App v1 has no field spec.env[].metadata (called from x.yaml:1:34)",
		"{{ $s := .spec }}{{ $s = .metadata }}a: {{ $s.imgae }}":           "",
		"{{ range $k, $v := .spec.ports }}a: {{ $v.number }}{{ end }}":     "",
		"a: {{ (fromYaml .spec.image).anything }}{{ .metadata.labels.x }}": "",
	} {
		files := map[string]string{
			"x.yaml": text,
			"_p.tpl": "{{ define \"p\" }}{{ .metadata.name }}{{ end }}\n{{ define \"e\" }}{{ range .env }}{{ .valeu }}{{ end }}{{ end }}\n",
		}
		if want == "" {
			refuses(t, files)
			continue
		}
		refuses(t, files, want)
	}
}

func TestKindsOfChildren(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Deployment\n":                                     "x.yaml:2:1: Deployment is in apps/v1, not in v1",
		"kind: ConfigMapp\napiVersion: v1\n":                                     "x.yaml:2:1: v1 has no kind ConfigMapp; did you mean ConfigMap?",
		"a: 1\nkind: {{ .spec.image }}\napiVersion: v1\n":                        "x.yaml:2:1: apiVersion without a literal kind in the same branch: kind may not be computed: write the kinds that there are in branches of `if`",
		"apiVersion: apps/{{ .spec.image }}\nkind: Deployment\n":                 "x.yaml:1:1: kind without a literal apiVersion in the same branch: apiVersion may not be computed: write the kinds that there are in branches of `if`",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion:": "x.yaml:5:1: apiVersion has no value: write it, or remove the line",
		"apiVersion: v1\nkind: # ConfigMap\nmetadata: {name: a}\n":               "x.yaml:2:1: kind has no value: write it, or remove the line",
		"apiVersion: v1\n---\na: 1\n":                                            "x.yaml:1:1: apiVersion without a literal kind in the same branch: write the line `kind: …` at column 0 beside it",
		head +
			"  generateName: a-\n": "x.yaml:5:17: generateName would make a new object every time: use metadata.name",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\n": "x.yaml:3:26: generateName would make a new object every time: use metadata.name",
		head +
			"  annotations:\n    jacquard.dev/on-imutable: recreate\n": "x.yaml:6:5: there is no annotation jacquard.dev/on-imutable; did you mean jacquard.dev/on-immutable?",
		"apiVersion: v1\nkind: ConfigMapList\n": "x.yaml:2:1: a List is not allowed: write its items as documents parted by ---",
		head +
			"  annotations: {a: b, jacquard.dev/owner: c}\n": "x.yaml:5:23: the annotation jacquard.dev/owner is written by the engine",
		head +
			"  annotations:\n    jacquard.dev/written-by: 1-aa\n": "x.yaml:6:5: the annotation jacquard.dev/written-by is written by the engine",
		head +
			"  labels:\n    {{- if .spec.image }}\n    \"jacquard.dev/x\": c\n    {{- end }}\n": "x.yaml:7:6: there is no label jacquard.dev/x",
		head + "  annotations:\n    jacquard.dev/on-immutable: recreate\n":                            "",
		head + "data:\n  a: |\n    metadata:\n      annotations:\n        jacquard.dev/nope: x\n":     "",
		"apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    metadata:\n      generateName: x\n": "",
		head + "data:\n  generateName: x\n  # jacquard.dev/nope: x\n":                                 "",
		"apiVersion: v9\nkind: Deployment\n":                                                          "",
		"apiVersion: v1\nkind: BrandNewThing\n":                                                       "",
	} {
		if want == "" {
			refuses(t, map[string]string{"x.yaml": text})
			continue
		}
		refuses(t, map[string]string{"x.yaml": text}, want)
	}
}

func TestPartials(t *testing.T) {
	refuses(t, map[string]string{"_p.tpl": "{{/* fine */}}\n{{- define \"a\" }}x{{ end -}}\n\n"})
	refuses(t, map[string]string{"_p.tpl": "{{ define \"a\" }}x{{ end }}\n\n  a: b\n"},
		"_p.tpl:3:3: this stands outside of any define, and so nothing prints it: a partial holds {{ define \"name\" }} … {{ end }}")
	refuses(t, map[string]string{"_p.tpl": "{{ define \"a\" }}\njacquard.dev/on-failled: recreate\n# jacquard.dev/x: y\n{{ end }}"},
		"_p.tpl:2:1: there is no annotation jacquard.dev/on-failled; did you mean jacquard.dev/on-failed?")
	refuses(t, map[string]string{"_p.tpl": "{{ define \"a\" }}x{{ end }}{{ .spec.image }}"},
		"_p.tpl:1:30: this stands outside of any define, and so nothing prints it: a partial holds {{ define \"name\" }} … {{ end }}")
}

// TestAllIsSaid: an error hides none of another sort, nor of another file.
func TestAllIsSaid(t *testing.T) {
	refuses(t, map[string]string{
		"a.yaml":    head + "data: {a: {{ if }}\n",
		"b.yaml":    "apiVersion: v1\nkind: Deployment\ndata: {a: {{ .spec.imgae }}, b: {{ quot 1 }}}\n",
		"kind.yaml": "alowEmpty: true\n",
	},
		"kind.yaml:1:1: unknown field alowEmpty; did you mean allowEmpty?",
		"a.yaml:5:11: data: {a: {{ if }}: missing value for if",
		"b.yaml:3:36: {{ quot 1 }}: there is no function quot; did you mean quote?",
		"b.yaml:2:1: Deployment is in apps/v1, not in v1",
		"b.yaml:3:14: App v1 has no field spec.imgae; did you mean spec.image?")
}
