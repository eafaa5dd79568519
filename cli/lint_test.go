//go:build !operator

package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLintTells: what is silenced or not checked is told in every form, fails
// nothing, and is packed.
func TestLintTells(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../author/lint/testdata/widgets")); err != nil {
		t.Fatal(err)
	}
	const file = "templates/widgets.example.com/thing.yaml"
	definition := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.other.example.com}
spec:
  group: other.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions:
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	thing := "apiVersion: other.example.com/v1\nkind: Thing\nmetadata:\n  name: {{ childName .metadata.name \"thing\" }}\n" +
		"  labels:\n    a: {{ default 3 .spec.size | quote }} {{/* jacquard:ignore falsy: it is never 0 */}}\n"
	err := errors.Join(os.Mkdir(filepath.Join(root, "schemas"), 0o755),
		os.WriteFile(filepath.Join(root, "schemas/things.other.example.com.yaml"), []byte(definition), 0o644),
		os.WriteFile(filepath.Join(root, file), []byte(thing), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	const said = "no schema knows Thing other.example.com/v1, so nothing is said of its fields: put a CRD with this version into schemas/"
	for form, want := range map[string]string{
		"text":   "",
		"github": "::notice file=" + file + ",line=1,col=1,endColumn=2,title=jacquard not checked::" + said + "\n",
		"json": `{
  "version": 1,
  "findings": [],
  "ignored": [
    {
      "kind": "widgets.example.com",
      "class": "falsy",
      "message": "spec.size may be 0, which default replaces: use ifNil",
      "file": "` + file + `",
      "line": 6,
      "column": 11,
      "length": 7,
      "reason": "it is never 0"
    }
  ],
  "notChecked": [
    {
      "kind": "widgets.example.com",
      "message": "` + said + `",
      "file": "` + file + `",
      "line": 1,
      "column": 1
    }
  ]
}
`,
	} {
		t.Run(form, func(t *testing.T) {
			t.Chdir(root)
			var out, trouble bytes.Buffer
			c := newLint()
			c.SetOut(&out)
			c.SetErr(&trouble)
			c.SetArgs([]string{"-o", form})
			if err := c.Execute(); err != nil {
				t.Errorf("it ends with: %v", err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(file+":1:1: not checked: "+said+"\n1 kind, no findings, 1 silenced, 1 not checked\n", trouble.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Chdir(root)
	var packed bytes.Buffer
	c := newPack()
	c.SetOut(&packed)
	c.SetArgs([]string{"widgets.example.com"})
	if err := c.Execute(); err != nil || packed.Len() == 0 {
		t.Errorf("%d bytes are packed: %v", packed.Len(), err)
	}
}
