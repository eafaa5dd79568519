// Package gitops runs the health check that docs/gitops.md offers to users of
// Argo CD, as it stands in the document and as Argo CD runs it, over what a real
// operator wrote. Go does not notice when files outside of a module change: run
// it with -count=1.
package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

const (
	document = "../../../docs/gitops.md"
	// fixtures are written by a test of test/integration/admin, from resources in
	// a cluster.
	fixtures = "../../integration/admin/testdata"
)

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// A setting is a key of the ConfigMap argocd-cm with its value.
type setting struct{ key, value string }

// settings are all that the document says is to be put into argocd-cm.
func settings(t *testing.T) []setting {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var all []setting
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		var object struct {
			Metadata struct{ Name string }
			Data     map[string]string
		}
		if yaml.Unmarshal([]byte(m[1]), &object) != nil || object.Metadata.Name != "argocd-cm" {
			continue
		}
		for key, value := range object.Data {
			all = append(all, setting{key, value})
		}
	}
	return all
}

// scripts are the health checks of the document, by the pattern of groups and
// kinds that they are for.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, s := range settings(t) {
		if kind, ok := strings.CutPrefix(s.key, "resource.customizations.health."); ok {
			found[kind] = s.value
		}
		if s.key != "resource.customizations" {
			continue
		}
		var patterns map[string]map[string]string
		if err := yaml.UnmarshalStrict([]byte(s.value), &patterns); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
		for pattern, customization := range patterns {
			found[pattern] = customization["health.lua"]
		}
	}
	return found
}

// TestOneCheck: the document has one check, however often it is written there,
// both for kinds by name and for all kinds of a domain.
func TestOneCheck(t *testing.T) {
	all := scripts(t)
	if all["app.huolala.cn_App"] == "" || all["*.example.com/*"] == "" {
		t.Fatalf("%s: there are checks for %d patterns only", document, len(all))
	}
	for pattern, script := range all {
		if pattern != ofCRDs && pattern != ofApplications && script != all["app.huolala.cn_App"] {
			t.Errorf("%s: the check for %s is another one", document, pattern)
		}
	}
}

// TestHealth: Argo CD says of each state what the document's table says.
func TestHealth(t *testing.T) {
	script := scripts(t)["app.huolala.cn_App"]
	said := documented(t)
	for state, want := range said {
		file := filepath.Join(fixtures, slug.ReplaceAllString(state, "-")+".yaml")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := yaml.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		got, err := health(script, object)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got.Status != want || got.Message == "" {
			t.Errorf("%s is %s (%q), the document says %s", file, got.Status, got.Message, want)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(fixtures, "*.yaml")); len(files) != len(said) {
		t.Errorf("%s tells of %d states, there are %d", document, len(said), len(files))
	}
}

// TestHealthOfAnything: what is not there yet, or is not ours, is no error:
// Argo CD would show it as Unknown.
func TestHealthOfAnything(t *testing.T) {
	script := scripts(t)["app.huolala.cn_App"]
	for text, want := range map[string]string{
		`{}`:                            "Progressing",
		`{"metadata":{"generation":1}}`: "Progressing",
		`{"metadata":{"generation":1},"status":{}}`:                                                                         "Progressing",
		`{"metadata":{"generation":1},"status":{"conditions":[]}}`:                                                          "Progressing",
		`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Other","status":"True"}]}}`:                          "Progressing",
		`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`:                          "Healthy",
		`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`:                       "Progressing",
		`{"metadata":{},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}}`:                 "Healthy",
		`{"status":{"conditions":[{"type":"Stalled","status":"False"},{"type":"Ready","status":"True"}]}}`:                  "Healthy",
		`{"status":{"conditions":[{"type":"Ready","status":"False","message":"x"},{"type":"Paused"}]}}`:                     "Progressing",
		`{"metadata":{"generation":2},"status":{"observedGeneration":1,"conditions":[{"type":"Stalled","status":"True"}]}}`: "Progressing",
		`{"status":{"conditions":[{"type":"Reconciling","status":"True"},{"type":"Ready","status":"True"}]}}`:               "Progressing",
	} {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if got, err := health(script, object); err != nil || got.Status != want {
			t.Errorf("%s is %s (%v), want %s", text, got.Status, err, want)
		}
	}
}

var slug = regexp.MustCompile(`[^a-z]+`)

// documented are the states of the document with what Argo CD says of them.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| a resource ")
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[string]string{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, "|")
		said[strings.TrimSpace(cells[1])] = strings.Trim(cells[4], " `")
	}
	return said
}

// statuses are those that Argo CD knows.
var statuses = []string{"Healthy", "Progressing", "Degraded", "Suspended"}

// A verdict is what a health check returns.
type verdict struct{ Status, Message string }

// health runs a check as Argo CD does: with the libraries that it opens for
// checks of users, and for at most a second. What is being deleted it does not
// ask the check about.
func health(script string, object map[string]any) (verdict, error) {
	if metadata, _ := object["metadata"].(map[string]any); metadata["deletionTimestamp"] != nil {
		return verdict{"Progressing", "Pending deletion"}, nil
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase,
		lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return verdict{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", value(l, object))
	if err := l.DoString(script); err != nil {
		return verdict{}, err
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return verdict{}, fmt.Errorf("it returns a %s, not a table", l.Get(-1).Type())
	}
	v := verdict{lua.LVAsString(table.RawGetString("status")), lua.LVAsString(table.RawGetString("message"))}
	if !slices.Contains(statuses, v.Status) {
		return v, fmt.Errorf("it returns the status %q, which there is not", v.Status)
	}
	return v, nil
}

// value is a value of JSON in Lua.
func value(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		list := l.NewTable()
		for _, item := range v {
			list.Append(value(l, item))
		}
		return list
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(l, item))
		}
		return table
	}
	return lua.LNil
}
