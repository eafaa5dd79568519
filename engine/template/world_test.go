package template

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

// still is a World that does not change; the zero one is empty.
type still struct {
	objects  []map[string]any
	children map[string][]any
	waits    map[string]string
	config   map[string]any
	stable   string
	err      error
}

func (w still) HasAPI(string, string) (bool, error) { return false, nil }
func (w still) Children(file string) ([]any, error) { return w.children[file], w.err }
func (w still) Config(key string) (any, error)      { return w.config[key], w.err }
func (w still) Stable(_, _ string, n int) (string, error) {
	return w.stable[:min(n, len(w.stable))], w.err
}

func (w still) Await(file string, _ []*Document) (any, string, error) {
	if all := w.children[file]; len(all) > 0 {
		return all[0], w.waits[file], w.err
	}
	return nil, w.waits[file], w.err
}

// field is a field of the metadata of an object.
func field(o map[string]any, name string) any { return o["metadata"].(map[string]any)[name] }

func (w still) of(what Object) []map[string]any {
	namespace := what.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return slices.DeleteFunc(slices.Clone(w.objects), func(o map[string]any) bool {
		return o["apiVersion"] != what.APIVersion || o["kind"] != what.Kind || field(o, "namespace") != namespace
	})
}

func (w still) Lookup(what Object) (any, error) {
	for _, o := range w.of(what) {
		if field(o, "name") == what.Name {
			return o, w.err
		}
	}
	return nil, w.err
}

func (w still) Select(what Object, selector labels.Selector) ([]any, error) {
	var found []any
	for _, o := range w.of(what) {
		marks := labels.Set{}
		texts, _ := field(o, "labels").(map[string]any)
		for k, v := range texts {
			marks[k] = v.(string)
		}
		if selector.Matches(marks) {
			found = append(found, o)
		}
	}
	return found, w.err
}

// canary is what the Secrets of the town hold, plain and in base64.
const canary, canary64 = "c4n4ry!", "YzRuNHJ5IQ=="

func object(kind, name string, set, more map[string]any) map[string]any {
	o := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "default", "labels": set}}
	for k, v := range more {
		o[k] = v
	}
	return o
}

// town is a World with something of everything.
func town() still {
	app := map[string]any{"app": "web"}
	secret := object("Secret", "pw", app, map[string]any{"type": "Opaque", "data": map[string]any{
		"password": canary64, "json": "eyJwIjoiYzRuNHJ5ISJ9"}})
	secret["metadata"].(map[string]any)["annotations"] = map[string]any{"note": canary, "json": `{"p":"` + canary + `"}`}
	config := object("ConfigMap", "settings", app, map[string]any{"data": map[string]any{"color": "blue", "yaml": "a: [1, 2]"}})
	return still{
		objects: []map[string]any{secret, config, object("ConfigMap", "other", map[string]any{"app": "db"}, nil)},
		children: map[string][]any{
			"secret": {secret}, "config": {config}, "both": {config, secret},
		},
		waits:  map[string]string{"late": "Deployment web is not ready: 0 of 1"},
		config: map[string]any{"registry": "registry.example.com", "size": int64(3)},
		stable: "dr4wn" + canary,
	}
}

// folder compiles x.yaml beside the files that tests ask for.
func folder(text string) (*Set, error) {
	source := func(name, text string) Source { return Source{Name: name, File: name + ".yaml", Text: text} }
	return Compile(Input{
		Sources: []Source{
			source("x", text), source("secret", secretFile), source("config", "kind: ConfigMap\ndata: {b: 1, a: {{ .spec.image }}}"),
			source("both", ""), source("slow", "{{ wait \"later\" }}"), source("late", "a: 1"), source("empty", ""), source("two", "a: 1\n---\n---\nb: 2"),
			source("status", "phase: fine"), source("failing", "a: {{ fail \"never\" }}"),
			{Name: "_h.tpl", File: "_h.tpl", Text: partials},
		},
		Files:  map[string]string{"init.sql": "select 1;\n", "values.yaml": "a: [1, 2]\n", "binary": "\xff"},
		Config: map[string]any{"registry": nil, "size": nil},
	})
}

const secretFile = `apiVersion: v1
kind: Secret
metadata: {name: made}
stringData:
  password: {{ stable "secret" "password" 24 }}
`

// in renders x.yaml in a World.
func in(t *testing.T, w World, text string) ([]map[string]any, error) {
	t.Helper()
	set, err := folder(text)
	if err != nil {
		return nil, err
	}
	docs, err := set.Execute(context.Background(), "x", resource(), w)
	checkUses(t, set, w, docs, err)
	var out []map[string]any
	for _, d := range docs {
		out = append(out, d.Object)
	}
	return out, err
}

// refusedIn expects an error whose text holds want.
func refusedIn(t *testing.T, w World, text, want string) {
	t.Helper()
	if err := errorIn(t, w, text); !strings.Contains(err.Error(), want) {
		t.Errorf("\n got %s\nwant %s", err, want)
	}
}

func errorIn(t *testing.T, w World, text string) error {
	t.Helper()
	got, err := in(t, w, text)
	if err == nil {
		t.Fatalf("no error; got %v", got)
	}
	return err
}

var errBroken = errors.New("the cluster does not answer")
