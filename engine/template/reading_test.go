package template

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReads(t *testing.T) {
	for _, tt := range []row{
		{"lookup", `a: {{ (lookup "v1" "ConfigMap" "" "settings").data.color }}`, `a: blue`},
		{"lookup in a namespace", `a: {{ (lookup "v1" "ConfigMap" .metadata.namespace "settings").data.color }}`, `a: blue`},
		{"lookup in no namespace", `a: {{ (lookup "v1" "ConfigMap" .spec.nope "settings").data.color }}`, `a: blue`},
		{"lookup of what is not there",
			"a: {{ (lookup \"v1\" \"ConfigMap\" \"\" \"nope\").data.deep.er | default \"none\" }}\nb: {{ lookup \"v1\" \"ConfigMap\" \"far\" \"settings\" }}", `a: none`},
		{"lookup by a piped name", `a: {{ ("settings" | lookup "v1" "ConfigMap" "").data.color }}`, `a: blue`},
		{"select",
			"a:\n{{- range select \"v1\" \"ConfigMap\" (dict \"matchLabels\" (dict \"app\" \"web\")) }}\n- {{ .metadata.name }}\n{{- end }}",
			`a: [settings]`},
		{"select by expressions", `a: {{ len (select "v1" "ConfigMap" (dict "matchExpressions" (list (dict "key" "app" "operator" "In" "values" (list "web" "db"))))) }}`, `a: 2`},
		{"select by existence",
			`a: {{ len (select "v1" "ConfigMap" (dict "matchExpressions" (list (dict "key" "app" "operator" "Exists"))) "default") }}`, `a: 2`},
		{"select nothing", `a: {{ len (select "v1" "ConfigMap" (dict "matchLabels" (dict "app" "none"))) }}`, `a: 0`},
		{"await", `a: {{ (await "config").data.color }}`, `a: blue`},
		{"await of what succeeded and went", `a: {{ (await "empty").status.nope | default 1 }}`, `a: 1`},
		{"config", "a: {{ config \"registry\" }}/nginx\nb: {{ config \"size\" }}", `{a: registry.example.com/nginx, b: 3}`},
		{"file", "a: {{ file \"init.sql\" }}\nb: |\n  {{ file \"init.sql\" }}", `{a: "select 1;\n", b: "select 1;\n"}`},
		{"rendered", `a: {{ rendered "config" }}`, `{a: "data:\n  a: nginx\n  b: 1\nkind: ConfigMap\n"}`},
		{"rendered, two documents", `a: {{ rendered "two" }}`, `{a: "a: 1\n---\nb: 2\n"}`},
		{"rendered, nothing", `a: {{ rendered "empty" | quote }}`, `{a: ""}`},
		{"fromYaml of reads",
			"a: {{ (fromYaml (lookup \"v1\" \"ConfigMap\" \"\" \"settings\").data.yaml).a }}\nb: {{ file \"values.yaml\" | fromYaml }}\n{{- $c := await \"config\" }}\nc: {{ (fromYaml $c.data.yaml).a }}",
			`{a: [1, 2], b: {a: [1, 2]}, c: [1, 2]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := in(t, town(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{fromYAML(t, tt.want)}, throughJSON(t, got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadsAreChecked(t *testing.T) {
	for _, tt := range []row{
		{"lookup of a computed kind", `a: {{ lookup "v1" .spec.image "" "x" }}`,
			"x.yaml:1:7: {{ lookup \"v1\" .spec.image \"\" \"x\" }}: lookup needs its apiVersion and kind as literal texts"},
		{"lookup of a piped kind", `a: {{ "x" | lookup "v1" }}`, "lookup needs at least 4 arguments"},
		{"lookup of no version", `a: {{ lookup "" "Secret" "" "x" }}`, "lookup needs its apiVersion and kind"},
		{"lookup of a misplaced kind", `a: {{ lookup "v1" "Deployment" "" "x" }}`, "Deployment is in apps/v1"},
		{"lookup of an empty name", `a: {{ lookup "v1" "Secret" "" "" }}`, "lookup needs a name"},
		{"lookup of an absent name", `a: {{ lookup "v1" "Secret" "" .spec.nope }}`,
			"x.yaml:1:7: {{ lookup \"v1\" \"Secret\" \"\" .spec.nope }}: the name of the object is empty"},
		{"lookup of a number", `a: {{ lookup "v1" "Secret" "" .spec.port }}`, "the name must be a string, not a number"},
		{"lookup of a path", `a: {{ lookup "v1" "Secret" "" "../x" }}`, "no object can have this name"},
		{"lookup in no such namespace", `a: {{ lookup "v1" "Secret" "a/b" "x" }}`, "no namespace can have this name"},
		{"select of a computed version", `a: {{ select .spec.image "Pod" (dict) }}`, "select needs its apiVersion and kind as literal texts"},
		{"select with no selector", `a: {{ select "v1" "Pod" .spec.nope }}`,
			"the selector must be a map, as in (dict \"matchLabels\" (dict \"tier\" \"web\")), not nothing"},
		{"select with an empty selector", `a: {{ select "v1" "Pod" (dict) }}`,
			"x.yaml:1:7: {{ select \"v1\" \"Pod\" (dict) }}: the selector is empty and would select everything"},
		{"select with empty labels", `a: {{ select "v1" "Pod" (dict "matchLabels" (dict) "matchExpressions" (list)) }}`, "the selector is empty"},
		{"select with absent labels", `a: {{ select "v1" "Pod" (dict "matchLabels" .spec.nope) }}`,
			"matchLabels that must be a map of strings, not nothing"},
		{"select with an absent label", `a: {{ select "v1" "Pod" (dict "matchLabels" (dict "app" .spec.nope)) }}`, "must hold only strings"},
		{"select with a number", `a: {{ select "v1" "Pod" (dict "matchLabels" (dict "app" 1)) }}`, "must hold only strings"},
		{"select with an unknown key", `a: {{ select "v1" "Pod" (dict "matchlabels" (dict "app" "web")) }}`,
			"the selector has an unknown key; did you mean matchLabels?"},
		{"select with an unknown key of an expression", `a: {{ select "v1" "Pod" (dict "matchExpressions" (list (dict "key" "a" "op" "In"))) }}`,
			"unknown key"},
		{"select with no operator", `a: {{ select "v1" "Pod" (dict "matchExpressions" (list (dict "key" "a"))) }}`,
			"key and operator must be strings"},
		{"select with another operator", `a: {{ select "v1" "Pod" (dict "matchExpressions" (list (dict "key" "a" "operator" "Near"))) }}`,
			"or an operator without values"},
		{"select with one text", `a: {{ select "v1" "Pod" (dict "matchExpressions" (list (dict "key" "a" "operator" "In" "values" "x"))) }}`,
			"has values that must be a list of strings, not a string"},
		{"select with no label", `a: {{ select "v1" "Pod" (dict "matchLabels" (dict "a" "c4n4ry is no label")) }}`,
			"has a key or value that no label can have"},
		{"await of no file", `a: {{ await "confog" }}`, "the folder has no file confog.yaml; did you mean config?"},
		{"await of a computed file", `a: {{ await .spec.image }}`, `await needs the name of a file as a literal text`},
		{"await of a whole name", `a: {{ await "config.yaml" }}`, `await takes the name of the file without .yaml: await "config"`},
		{"rendered of the status", `a: {{ rendered "status" }}`, "the folder has no file status.yaml"},
		{"rendered of a partial", `a: {{ rendered "_h.tpl" }}`, "the folder has no file _h.tpl.yaml"},
		{"rendered of itself", `a: {{ rendered "x" }}`, "x.yaml:1:7: {{ rendered \"x\" }}: files render each other in a circle: x → x"},
		{"config of no key", `a: {{ config "registri" }}`,
			`x.yaml:1:7: {{ config "registri" }}: config.yaml has no key "registri"; did you mean registry?`},
		{"config of a computed key", `a: {{ config .spec.image }}`, "config needs its key as a literal text"},
		{"file of no name", `a: {{ file "init.sq" }}`, "files/ holds no init.sq; did you mean init.sql?"},
		{"file of a computed name", `a: {{ file .spec.image }}`, "file needs its name as a literal text"},
		{"file of bytes", `a: {{ file "binary" }}`, "files/binary is no text (UTF-8)"},
		{"stable of no file", `a: {{ stable "secrets" "p" 8 }}`, "the folder has no file secrets.yaml; did you mean secret?"},
		{"stable of a computed key", `a: {{ stable "secret" .spec.image 8 }}`, "stable needs a file, a key and a length, all literal"},
		{"stable of a computed length", `a: {{ stable "secret" "p" .spec.port }}`, "stable needs a file, a key and a length, all literal"},
		{"stable of a piped length", `a: {{ 8 | stable "secret" "p" }}`, "stable needs a file, a key and a length, all literal"},
		{"stable of nothing", `a: {{ stable "secret" "p" 0 }}`, "the length of stable must be from 1 to 256"},
		{"stable of too much", `a: {{ stable "secret" "p" 257 }}`, "the length of stable must be from 1 to 256"},
		{"stable of no key", `a: {{ stable "secret" "p/q" 8 }}`, `a Secret can have no key "p/q"`},
		{"a function misspelt", `a: {{ lokup "v1" "Secret" "" "x" }}`, "there is no function lokup; did you mean lookup?"},
	} {
		t.Run(tt.name, func(t *testing.T) { refusedIn(t, town(), tt.text, tt.want) })
	}
}

func TestWaiting(t *testing.T) {
	broken := town()
	broken.err = &Wait{"the live Secrets are not known"}
	for _, tt := range []struct {
		name, text, want string
		world            still
	}{
		{"await", `a: {{ await "late" }}`, "late: Deployment web is not ready: 0 of 1", town()},
		{"await of what waits", `a: {{ await "slow" }}`, "slow: it waits itself", town()},
		{"await of itself", `a: {{ await "x" }}`, "x: it waits itself", town()},
		{"rendered of what waits", `a: {{ rendered "slow" }}`, "later", town()},
		{"lookup", `a: {{ lookup "v1" "Secret" "" "x" }}`, broken.err.Error(), broken},
		{"select", `a: {{ select "v1" "Secret" (dict "matchLabels" (dict "a" "b")) }}`, broken.err.Error(), broken},
		{"child", `a: {{ child "secret" }}`, broken.err.Error(), broken},
		{"stable", `a: {{ stable "secret" "p" 8 }}`, broken.err.Error(), broken},
		{"rendered of what cannot be read", `a: {{ rendered "secret" }}`, broken.err.Error(), broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var wait *Wait
			if err := errorIn(t, tt.world, tt.text); !errors.As(err, &wait) || wait.Message != tt.want {
				t.Errorf("want a Wait of %q, got %v", tt.want, err)
			}
		})
	}
	var failure *Failure
	if err := errorIn(t, town(), `a: {{ rendered "failing" }}`); !errors.As(err, &failure) ||
		!contains(err.Error(), "failing.yaml:1:7: {{ fail \"never\" }}: never") {
		t.Errorf("want a Failure, got %v", err)
	}
	broken.err = errBroken
	refusedIn(t, broken, `a: {{ config "size" }}`, `x.yaml:1:7: {{ config "size" }}: the cluster does not answer`)
}

func TestCircles(t *testing.T) {
	source := func(name, text string) Source { return Source{Name: name, File: name, Text: text} }
	tests := map[string]struct {
		sources []Source
		want    string
	}{
		"by two": {[]Source{source("a", `{{ rendered "b" }}`), source("b", "\n{{ rendered \"a\" }}")},
			"b:2:4: {{ rendered \"a\" }}: files render each other in a circle: a → b → a"},
		"through a define": {[]Source{source("a", `{{ include "p" . }}`), source("b", `{{ template "q" }}`),
			source("_p", `{{ define "p" }}{{ include "q" . }}{{ end }}{{ define "q" }}{{ rendered "b" }}{{ end }}`)},
			"files render each other in a circle: b → b"},
		"through a computed include": {[]Source{source("a", `{{ include .x . }}`), source("_p", `{{ define "p" }}{{ rendered "a" }}{{ end }}`)},
			"files render each other in a circle: a → a"},
		"beside a circle": {[]Source{source("a", `{{ rendered "b" }}`), source("b", `{{ rendered "c" }}`), source("c", `{{ rendered "b" }}`)},
			"files render each other in a circle: b → c → b"},
		"none": {[]Source{source("a", `{{ rendered "b" }}{{ rendered "c" }}`), source("b", `{{ rendered "c" }}`), source("c", ``),
			source("_p", `{{ define "p" }}{{ rendered "a" }}{{ end }}`)}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(Input{Sources: tt.sources})
			switch {
			case err == nil && tt.want != "":
				t.Error("no error")
			case err != nil && (tt.want == "" || !contains(err.Error(), tt.want)):
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAsks(t *testing.T) {
	set, err := folder("a: {{ hasAPI \"v1\" \"Pod\" }}{{ lookup \"v1\" \"Secret\" \"ns\" .spec.image }}{{ lookup \"v1\" \"ConfigMap\" .spec.image \"n\" }}\n" +
		`{{ select "v1" "Pod" .spec.labels }}{{ select "v1" "Pod" .spec.labels "kube" }}{{ include "p" . }}{{ define "p" }}{{ rendered "config" }}{{ end }}{{ define "unused" }}{{ child "config" }}{{ end }}`)
	if err != nil {
		t.Fatal(err)
	}
	pod := Object{APIVersion: "v1", Kind: "Pod"}
	inKube := pod
	inKube.Namespace = "kube"
	want := []Ask{
		{Place: Place{"x.yaml", 1, 7}, Function: "hasAPI", Args: []string{"v1", "Pod"}, Object: pod},
		{Place: Place{"x.yaml", 1, 30}, Function: "lookup", Args: []string{"v1", "Secret"}, Object: Object{"v1", "Secret", "ns", ""},
			AnyName: true},
		{Place: Place{"x.yaml", 1, 73}, Function: "lookup", Args: []string{"v1", "ConfigMap"}, Object: Object{"v1", "ConfigMap", "", "n"},
			AnyNamespace: true},
		{Place: Place{"x.yaml", 2, 4}, Function: "select", Args: []string{"v1", "Pod"}, Object: pod, AnyName: true},
		{Place: Place{"x.yaml", 2, 40}, Function: "select", Args: []string{"v1", "Pod"}, Object: inKube, AnyName: true},
		{Place: Place{"x.yaml", 2, 118}, Function: "rendered", Args: []string{"config"}},
		{Place: Place{"secret.yaml", 5, 16}, Function: "stable", Args: []string{"secret", "password", "24"}},
	}
	if diff := cmp.Diff(want, set.Asks()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestRenderedOnce: a file that others ask for is executed once in a render.
func TestRenderedOnce(t *testing.T) {
	w := &counting{still: town()}
	set, err := folder("a: {{ rendered \"secret\" | sha256sum }}\nb: {{ rendered \"secret\" | sha256sum }}")
	if err != nil {
		t.Fatal(err)
	}
	files := set.For(resource(), w)
	docs, err := files.Execute(context.Background(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	before := docs[0].Object["kind"]
	docs[0].Object["kind"] = "changed"
	docs, err = files.Execute(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if w.drawn != 1 || before != "Secret" {
		t.Errorf("executed %d times", w.drawn)
	}
	alone, err := set.Execute(context.Background(), "x", resource(), w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone[0].Object, docs[0].Object); diff != "" {
		t.Errorf("the order of the files matters: %s", diff)
	}
}

// counting counts the draws.
type counting struct {
	still
	drawn int
}

func (c *counting) Stable(file, key string, length int) (string, error) {
	c.drawn++
	return c.still.Stable(file, key, length)
}
