package crdfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// given is a resource that most definitions find something wrong with.
const given = `{"metadata":{"name":"a","namespace":"b","unknown":1},"spec":{"replicas":1,"x":null,"":[{}]},"status":{"a":1}}`

// TestDefinitions: what FuzzCRD asks of small definitions holds of large ones,
// which are too slow to be mutated.
func TestDefinitions(t *testing.T) {
	files, err := filepath.Glob(testdata + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no definitions", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !checkDefinition(t, string(text), given) {
			t.Errorf("%s is refused", file)
		}
	}
}

// FuzzCRD: a definition is read the same each time, and what its schemas do to
// a resource is done once: what was defaulted and pruned stays as it is. The
// text is a whole definition, or the schema of its spec; where there are choices,
// they make that schema of the text's words.
func FuzzCRD(f *testing.F) {
	f.Add("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.b.c}, spec: {group: b.c, scope: Cluster, names: {kind: A, plural: as}, versions: "+
		"[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}", []byte{}, given)
	for _, spec := range []string{
		`{type: string, default: a}`, `{type: object, x-kubernetes-preserve-unknown-fields: true}`,
		`{type: array, items: {type: integer, minimum: 1}}`,
		`{type: object, additionalProperties: {type: object, nullable: true, properties: {a: {type: number, default: 1}}}}`,
		`{x-kubernetes-int-or-string: true}`,
		`{type: object, required: [a], properties: {a: {type: string, enum: [b, c], maxLength: 9}, d: {type: boolean, default: true}}}`,
		`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}`,
		`{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a != 'b'"}]}`,
	} {
		f.Add(spec, []byte{}, `{"spec":{"a":"b","c":[1,null],"k":{}},"status":{"x":1}}`)
	}
	for _, choices := range []string{"\x05\x03\x00", "\x05\x04\x00\x00\x01\x01\x01\x02\x02\x07\x00", "\x06\x05\x02\x01\x03\x02\x04",
		"\x07\x05\x03\x00\x00\x01\x01\x02\x01\x02"} {
		f.Add("a b c", []byte(choices), `{"spec":{"a":"b","b":{"a":[1,null]},"c":[{"a":"b"}]},"status":{"x":1}}`)
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string, choices []byte, object string) {
		if len(choices) > 0 {
			made, err := json.Marshal(madeSchema(choices, text))
			if err != nil {
				t.Fatal(err)
			}
			text = string(made)
		}
		if !strings.Contains(text, "CustomResourceDefinition") { // the schema of spec alone
			text = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.b.c}, spec: {group: b.c, scope: Namespaced, names: {kind: A, plural: as}, versions: " +
				"[{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: " +
				text + ", status: {type: object}}}}}]}}"
		}
		if checkDefinition(t, text, object) {
			parsed()
		}
	})
}

// checkDefinition looks at a definition with any object, and tells whether it
// is one.
func checkDefinition(t *testing.T, text, object string) bool {
	t.Helper()
	var o map[string]any
	if json.Unmarshal([]byte(object), &o) != nil || o == nil {
		o = map[string]any{}
	}
	crd, err := Parse("crd.yaml", []byte(text))
	again, err2 := Parse("crd.yaml", []byte(text))
	if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
		t.Fatalf("it is read in two ways: %v, %v", err, err2)
	}
	if err != nil {
		return false
	}
	if !reflect.DeepEqual(crd.Object, again.Object) {
		t.Fatal("it is read in two ways")
	}
	for _, v := range crd.Versions {
		checkVersion(t, v, o)
	}
	return true
}

// checkVersion looks at one version with any object.
func checkVersion(t *testing.T, v *schema.Version, given map[string]any) {
	t.Helper()
	o := runtime.DeepCopyJSON(given)
	apiserver.Validate(v, o)
	if !reflect.DeepEqual(o, given) {
		t.Fatal("to validate an object changes it")
	}
	apiserver.Default(v, o)
	once := runtime.DeepCopyJSON(o)
	if apiserver.Default(v, o); !reflect.DeepEqual(o, once) {
		t.Fatalf("defaulted twice it is another: %v and %v", once, o)
	}
	unknown := apiserver.FindUnknown(v, o)
	if dropped := v.Prune(o); !reflect.DeepEqual(dropped, unknown) {
		t.Fatalf("%q are unknown and %q are pruned", unknown, dropped)
	}
	if more := v.Prune(o); len(more) > 0 {
		t.Fatalf("pruned twice it loses %q", more)
	}
	if status, ok := given["status"].(map[string]any); ok {
		apiserver.ValidateStatus(v, status)
		kept, _ := v.PruneStatus(status)
		if again, dropped := v.PruneStatus(kept); len(dropped) > 0 || !reflect.DeepEqual(kept, again) {
			t.Fatalf("a pruned status loses %q", dropped)
		}
	}
}
