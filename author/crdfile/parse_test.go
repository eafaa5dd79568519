package crdfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseRefuses: each case spoils a good definition in one place.
func TestParseRefuses(t *testing.T) {
	const root = "spec.versions[0].schema.openAPIV3Schema"
	tests := []struct{ name, file, from, to, want string }{
		{"kind", webapps, "kind: CustomResourceDefinition", "kind: Widget", "f.yaml:3:1: kind: must be CustomResourceDefinition"},
		{"apiVersion", webapps, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1",
			"f.yaml:2:1: apiVersion: must be apiextensions.k8s.io/v1"},
		{"name", webapps, "name: webapps.apps", "name: webs.apps", `f.yaml:5:3: metadata.name: must be spec.names.plural+"."+spec.group`},
		{"no storage version", webapps, "storage: true", "storage: false",
			"f.yaml:12:3: spec.versions: must have exactly one version marked as storage version"},
		{"two storage versions", zones, "storage: false", "storage: true",
			"f.yaml:13:3: spec.versions: must have exactly one version marked as storage version"},
		{"same version twice", zones, "name: v1beta1", "name: v1", "f.yaml:13:3: spec.versions: must contain unique version names"},
		{"unknown field", webapps, "  scope:", "  scop: x\n  scope:", "f.yaml:8:3: spec.scop: unknown field"},
		{"repeated field", webapps, "  scope:", "  group: x\n  scope:", `f.yaml:8: key "group" already set in map`},
		{"scope", webapps, "scope: Namespaced", "scope: Namespace", `f.yaml:8:3: spec.scope: must be one of "Cluster", "Namespaced"`},
		{"unknown word", webapps, "minimum: 0", "minimun: 0",
			"f.yaml:44:19: " + root + ".properties.spec.properties.replicas.minimun: unknown field, did you mean minimum?"},
		{"unknown word below items", webapps, "x-kubernetes-int-or-string:", "x-kubernetes-int-or-strings:",
			"f.yaml:77:25: " + root + ".properties.spec.properties.ports.items.properties.port.x-kubernetes-int-or-strings: unknown field, did you mean x-kubernetes-int-or-string?"},
		{"mistyped", webapps, "minimum: 0", "minimum: zero",
			"f.yaml:44:28: spec.versions.schema.openAPIV3Schema.properties.properties.minimum: must be a number, not a string"},
		{"default of another type", webapps, "default: 2", "default: two",
			"f.yaml:46:19: " + root + ".properties[spec].properties[replicas].default: must be of type integer, not string"},
		{"default out of bounds", webapps, "default: 2", "default: 11",
			"f.yaml:46:19: " + root + ".properties[spec].properties[replicas].default: must be ≤ 10 (is 11)"},
		{"rule", webapps, "self.replicas <=", "self.replica <=",
			"f.yaml:34:19: " + root + ".properties[spec].x-kubernetes-validations[0].rule: compilation failed: at 1:5: undefined field 'replica'"},
		{"rule about self", webapps, "self.replicas <=", "self/2 <=",
			"f.yaml:34:19: " + root + ".properties[spec].x-kubernetes-validations[0].rule: compilation failed: at 1:5: found no matching overload for '_/_' applied to '(self, int)'"},
		{"list keys", webapps, "list-map-keys: [name]", "list-map-keys: [nam]",
			"f.yaml:68:19: " + root +
				".properties[spec].properties[ports].x-kubernetes-list-map-keys: entries must all be names of item properties"},
		{"pattern", webapps, "pattern: '^[a", "pattern: '^([a",
			"f.yaml:41:19: " + root + ".properties[spec].properties[image].pattern: must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `^([a-z0-9./:-]+$`"},
		{"type", webapps, "type: number", "type: float",
			"f.yaml:97:19: " + root +
				`.properties[spec].properties[weight].type: must be one of "array", "boolean", "integer", "number", "object", "string"`},
		{"not structural", webapps, "            status:\n              type: object\n", "            status:\n",
			"f.yaml:98:13: " + root + ".properties[status].type: is required: must not be empty for specified object fields"},
		{"scale path", webapps, "specReplicasPath: .spec", "specReplicasPath: spec",
			"f.yaml:19:11: spec.versions[0].subresources.scale.specReplicasPath: must be a simple json path starting with ."},
		{"syntax", zones, "default: 300", "default: [300", "f.yaml:59: did not find expected ',' or ']'"},
		{"several documents", blobs, "# A resource", "{a: b}\n---\n# A resource",
			"f.yaml:4: must hold one CustomResourceDefinition, not several documents"},
		{"empty first document", blobs, "# A resource", "---\n---\n# A resource", "f.yaml:1: the first document is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := source(t, tt.file)
			if !strings.Contains(text, tt.from) {
				t.Fatalf("%s does not hold %q", tt.file, tt.from)
			}
			refused(t, strings.Replace(text, tt.from, tt.to, 1), tt.want)
		})
	}
}

func TestParseRefusesText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "f.yaml: is empty"},
		{"comments", "# nothing\n", "f.yaml: is empty"},
		{"empty document", "---\n", "f.yaml:1: the first document is empty"},
		{"null", "null\n", "f.yaml:1: the first document is empty"},
		{"list", "[]", "f.yaml:1:1: must be one CustomResourceDefinition"},
		{"text", "a", "f.yaml:1:1: must be one CustomResourceDefinition"},
		{"another object", "apiVersion: v1\nkind: Pod\n", "f.yaml:2:1: kind: must be CustomResourceDefinition"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { refused(t, tt.text, tt.want) })
	}
}

// refused fails unless parsing text gives just the error want.
func refused(t *testing.T, text, want string) {
	t.Helper()
	_, err := Parse("f.yaml", []byte(text))
	if err == nil {
		t.Fatal("it was accepted")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	var finding *Finding
	if !errors.As(err, &finding) || finding.File != "f.yaml" {
		t.Errorf("no finding in %#v", err)
	}
}

func TestParseAccepts(t *testing.T) {
	blob := source(t, blobs)
	tests := []struct{ name, text string }{
		{"document marks", "# a comment\n---\n" + blob + "---\n# the end\n"},
		{"status of a generator", blob + "status:\n  acceptedNames: {kind: \"\", plural: \"\"}\n  conditions: []\n  storedVersions: []\n"},
		{"anchors", strings.Replace(blob, "x-kubernetes-preserve-unknown-fields: true",
			"properties: {a: &a {type: string, maxLength: 3}, b: *a, c: {<<: *a, description: c}}", 1)},
		{"JSON", `{
	"apiVersion": "apiextensions.k8s.io/v1",
	"kind": "CustomResourceDefinition",
	"metadata": {"name": "as.b.c"},
	"spec": {"group": "b.c", "scope": "Cluster", "names": {"plural": "as", "kind": "A"}, "versions": [
		{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}
}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse("f.yaml", []byte(tt.text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestParseLocates: a definition of a file knows the file, and where its fields stand.
func TestParseLocates(t *testing.T) {
	crd, err := Parse("zones.yaml", []byte(source(t, zones)))
	if err != nil {
		t.Fatal(err)
	}
	if line, column := LocateIn(crd, "spec.scope"); crd.Name != zones || crd.File != "zones.yaml" || line != 8 || column != 3 {
		t.Errorf("%s of %q has spec.scope at %d:%d", crd.Name, crd.File, line, column)
	}
}

// TestParseTellsAll: all findings are returned at once, by line.
func TestParseTellsAll(t *testing.T) {
	text := strings.NewReplacer("minimum: 0", "minimun: 0", "default: TCP", "defualt: TCP", "  scope:", "  x: y\n  scope:").Replace(source(t, webapps)) //nolint:misspell // a misspelt word is what is tested
	_, err := Parse("f.yaml", []byte(text))
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	var lines []int
	for _, finding := range all {
		lines = append(lines, finding.Line)
	}
	if diff := cmp.Diff([]int{8, 45, 81}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s\n%v", diff, err)
	}
}
