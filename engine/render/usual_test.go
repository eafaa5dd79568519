package render_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	enginetemplate "github.com/jacquard-operator/jacquard/engine/template"
)

// usual is the usual way at its best: text/template parsed once, its functions
// prepared once, and its output read as YAML. It does what the folder of a kind
// does, by the files of testdata/usual, which do not change with the folder.
type usual struct {
	files []*template.Template
	out   bytes.Buffer
}

func newUsual(t testing.TB, kind string, world enginetemplate.World) *usual {
	t.Helper()
	all := template.New(kind)
	all.Funcs(usualFunctions(all, world))
	names, err := filepath.Glob(filepath.Join("testdata", "usual", kind, "*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	u := &usual{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := all.New(filepath.Base(name)).Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".yaml") {
			u.files = append(u.files, parsed)
		}
	}
	return u
}

// usualFunctions are sprig's, those that Helm adds, and what templates ask of
// the cluster, which answers both ways alike.
func usualFunctions(all *template.Template, world enginetemplate.World) template.FuncMap {
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(v any) (string, error) {
		text, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["fromYaml"] = func(text string) (v map[string]any, err error) { return v, fromYAML(text, &v) }
	functions["fromYamlArray"] = func(text string) (v []any, err error) { return v, fromYAML(text, &v) }
	functions["include"] = func(name string, dot any) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, dot)
		return out.String(), err
	}
	functions["hasAPI"] = world.HasAPI
	functions["config"] = world.Config
	functions["wait"] = func(message string) (string, error) { return "", errors.New(message) }
	functions["lookup"] = func(apiVersion, kind, namespace, name string) (any, error) {
		return world.Lookup(enginetemplate.Object{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	}
	functions["select"] = func(apiVersion, kind string, by map[string]any) (any, error) {
		var chosen metav1.LabelSelector
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(by, &chosen); err != nil {
			return nil, err
		}
		selector, err := metav1.LabelSelectorAsSelector(&chosen)
		if err != nil {
			return nil, err
		}
		return world.Select(enginetemplate.Object{APIVersion: apiVersion, Kind: kind}, selector)
	}
	return functions
}

func fromYAML(text string, into any) error {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func (u *usual) render(resource *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, file := range u.files {
		u.out.Reset()
		if err := file.Execute(&u.out, resource.Object); err != nil {
			return nil, err
		}
		for text := range bytes.SplitSeq(u.out.Bytes(), []byte("\n---\n")) {
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			raw, err := yaml.YAMLToJSON(text)
			if err != nil {
				return nil, err
			}
			child := &unstructured.Unstructured{}
			if err := json.Unmarshal(raw, &child.Object); err != nil {
				return nil, err
			}
			all = append(all, child)
		}
	}
	return all, nil
}
