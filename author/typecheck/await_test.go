package typecheck

import (
	"fmt"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// TestAwaitedFileMayRenderNothing follows x.yaml, which awaits other.yaml.
func TestAwaitedFileMayRenderNothing(t *testing.T) {
	const (
		await    = `{{ $_ := await "other" }}`
		document = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
		patch    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, annotations: {jacquard.dev/ownership: patch}}\n"
	)
	within := func(condition, text string) string { return "{{ " + condition + " }}" + text + "{{ end }}" }
	for name, test := range map[string]struct {
		x, other, defines string
		want              string // how the finding goes on; "" for none
	}{
		"always":              {x: await, other: document},
		"a comment before it": {x: await, other: "# A comment.\n---\n" + document},
		"never":               {x: await, other: "# A comment.\n", want: "no object, and"},
		"only patches":        {x: await, other: patch, want: "no object, and"},
		"a patch beside it":   {x: await, other: patch + "---\n" + document},
		"a patch beside it, and a condition": {x: await, other: patch + "---\n" + within("if .spec.db", document),
			want: "no object if .spec.db does not hold, and"},
		"under a condition":         {x: await, other: within("if .spec.db", document), want: "no object if .spec.db does not hold, and"},
		"with":                      {x: await, other: within("with .spec.db", document), want: "no object if .spec.db does not hold, and"},
		"unless":                    {x: await, other: within("if not .spec.db", document), want: "no object if .spec.db holds, and"},
		"else":                      {x: await, other: within("if .spec.db", "{{ else }}"+document), want: "no object if .spec.db holds, and"},
		"both sides":                {x: await, other: within("if .spec.db", document+"{{ else }}"+document)},
		"a loop":                    {x: await, other: within("range .spec.env", "---\n"+document), want: "no object if .spec.env has no items, and"},
		"a loop whose else renders": {x: await, other: within("range .spec.env", "---\n"+document+"{{ else }}"+document)},

		"the same condition":         {x: within("if .spec.db", await), other: within("if .spec.db", document)},
		"the same, asked with with":  {x: within("with .spec.db", await), other: within("if .spec.db", document)},
		"the same, of a variable":    {x: `{{ $db := .spec.db }}` + within("if $db", await), other: within("if $.spec.db", document)},
		"the same, in another order": {x: within("if and .spec.live .spec.db", await), other: within("if and .spec.db .spec.live", document)},
		"the same, nested":           {x: within("if .spec.live", within("if .spec.db", await)), other: within("if and .spec.db .spec.live", document)},
		"the same, nested there":     {x: within("if and .spec.db .spec.live", await), other: within("if .spec.live", within("if .spec.db", document))},
		"the same items":             {x: within("if .spec.env", await), other: within("range .spec.env", "---\n"+document)},
		"a turn for each item":       {x: within("range .spec.env", await), other: within("range .spec.env", "---\n"+document)},
		"what follows from it":       {x: within(`if eq .spec.mode "fast"`, await), other: within(`if ne .spec.mode "slow"`, document)},
		"the other side":             {x: within("if .spec.db", await), other: within("if not .spec.db", document), want: "no object if .spec.db holds, and"},
		"else of the same":           {x: within("if .spec.db", "{{ else }}"+await), other: within("if not .spec.db", document)},
		"another one":                {x: within("if .spec.live", await), other: within("if .spec.db", document), want: "no object if .spec.db does not hold, and"},
		"a part of it":               {x: within("if .spec.db", await), other: within("if and .spec.db .spec.live", document), want: "no object if and .spec.db .spec.live does not hold, and"},
		"one of two":                 {x: within("if or .spec.db .spec.live", await), other: within("if or .spec.live .spec.db", document)},
		"one of two, apart": {x: within("if or .spec.db .spec.live", await),
			other: within("if .spec.live", document) + within("if .spec.db", "---\n"+document)},
		"one of two, asked after more of one": {x: within("if gt (len .spec.env) 1", "") + within("if or .spec.env .spec.title", await),
			other: within("if .spec.title", document) + within("range .spec.env", "---\n"+document)},
		"one of two is not enough": {x: within("if or .spec.db .spec.live", await), other: within("if .spec.live", document),
			want: "no object if .spec.live does not hold, and"},
		"two that may both fail": {x: await, other: within("if .spec.live", document) + within("if .spec.db", "---\n"+document),
			want: "no object if .spec.live does not hold, and"},
		"the same words": {x: within("if gt (len .spec.env) 3", await), other: within("if gt (len .spec.env) 3", document)},
		"the same words, negated": {x: within("if not (gt (len .spec.env) 3)", "{{ else }}"+await),
			other: within("if gt (len $.spec.env) 3", document)},
		"the same words as a part": {x: within("if and .spec.db (gt (len .spec.env) 3)", await), other: within("if gt (len .spec.env) 3", document)},
		"behind the same": {x: within("if .spec.db", "{{ end }}"+await+"{{ if .spec.live }}"), other: within("if .spec.db", document),
			want: "no object if .spec.db does not hold, and"},
		"behind a wait without it": {x: within("if not .spec.db", `{{ wait "no" }}`) + await, other: within("if .spec.db", document)},
		"behind a fail without the same words": {x: within("if le (len .spec.env) 3", `{{ fail "no" }}`) + await,
			other: within("if le (len .spec.env) 3", "{{ else }}"+document)},
		"as a part of and": {x: within(`if and .spec.db (await "other")`, ""), other: within("if .spec.db", document)},

		"it waits itself":         {x: await, other: within("if not .spec.db", `{{ wait "no" }}`) + within("if .spec.db", document)},
		"it fails otherwise":      {x: await, other: within("if .spec.db", document+`{{ else }}{{ fail "no" }}`)},
		"a value decides":         {x: await, other: `{{ $on := true }}` + within("if $on", document)},
		"a loop decides":          {x: await, other: `{{ $on := false }}{{ range .spec.env }}{{ $on = true }}{{ end }}` + within("if $on", document), want: "no object if $on does not hold, and"},
		"a field that is there":   {x: await, other: within("if .spec.text", document)},
		"an include":              {x: await, other: `{{ include "d" . }}`, defines: `{{ define "d" }}` + document + `{{ end }}`},
		"a condition in a define": {x: await, other: `{{ include "d" . }}`, defines: `{{ define "d" }}` + within("if .spec.db", document) + `{{ end }}`, want: "no object if .spec.db does not hold, and"},
		"the same in a define": {x: within("if .spec.db", await), other: `{{ template "d" . }}`,
			defines: `{{ define "d" }}` + within("if .spec.db", document) + `{{ end }}`},
		"awaited in a define": {x: `{{ template "w" . }}`, other: within("if .spec.db", document),
			defines: `{{ define "w" }}` + within("if .spec.db", await) + `{{ end }}`},
		"asked by a define": {x: within(`if include "on" .`, await), other: within(`if include "on" .`, document),
			defines: `{{ define "on" }}` + within("if and .spec.db .spec.live", "yes") + `{{ end }}`},
		"a live object": {x: await, other: within(`if lookup "v1" "Secret" "" "s"`, document),
			want: `no object if lookup "v1" "Secret" "" "s" does not hold, and`},
		"the same live object": {x: within(`if lookup "v1" "Secret" "" "s"`, await), other: within(`with lookup "v1" "Secret" "" "s"`, document)},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range followTwo(t, test.x, test.other, test.defines).Findings {
				if f.Class == EndlessWait {
					got += f.Text
				}
			}
			if rest, found := strings.CutPrefix(got, "other.yaml renders "); test.want == "" && got != "" ||
				test.want != "" && (!found || !strings.HasPrefix(rest, test.want)) {
				t.Errorf("found %q, want other.yaml renders %q", got, test.want)
			}
		})
	}
}

// TestAwaitIsFoundOnce finds one that many paths come to at its place.
func TestAwaitIsFoundOnce(t *testing.T) {
	x := strings.Repeat("{{ if .spec.live }}{{ end }}{{ if .spec.text }}{{ end }}", 20) + "\n  {{ $_ := await \"other\" }}"
	var got []string
	for _, f := range followTwo(t, x, "{{ if .spec.db }}a: b{{ end }}", "").Findings {
		if f.Class == EndlessWait {
			got = append(got, fmt.Sprintf("%s %d", f.Place, f.Length))
		}
	}
	if len(got) != 1 || got[0] != "x.yaml:2:12 5" {
		t.Errorf("found at %q", got)
	}
}

func followTwo(t *testing.T, x, other, defines string) *Flow {
	t.Helper()
	set, err := template.Compile(template.Input{Sources: []template.Source{
		{Name: "x", File: "x.yaml", Text: x}, {Name: "other", File: "other.yaml", Text: other}, {Name: "_d", File: "_d.tpl", Text: defines},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return Follow(Input{
		Set: set, Files: []string{"other", "x"}, Root: pages(t), Name: "Page v1", Live: schema.BuiltInType,
		Makes: func(string) []apischema.GroupVersionKind { return nil },
	})
}
