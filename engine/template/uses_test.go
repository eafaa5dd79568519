package template

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A cutting World has of the objects that are read only what the templates use.
type cutting struct {
	World
	set *Set
}

// Lookup returns an object as far as it is used.
func (c cutting) Lookup(what Object) (any, error) {
	found, err := c.World.Lookup(what)
	if found == nil || err != nil {
		return found, err
	}
	return c.cut(found)
}

// Select returns objects as far as they are used.
func (c cutting) Select(what Object, selector labels.Selector) ([]any, error) {
	found, err := c.World.Select(what, selector)
	for i := range found {
		if found[i], err = c.cut(found[i]); err != nil {
			return nil, err
		}
	}
	return found, err
}

// Children returns children as far as they are used.
func (c cutting) Children(file string) ([]any, error) {
	all, err := c.World.Children(file)
	if err != nil {
		return nil, err
	}
	paths, isWhole := c.set.ChildFields(file)
	less := make([]any, len(all))
	for i, o := range all {
		if less[i], err = cutTo(o, paths, isWhole); err != nil {
			return nil, err
		}
	}
	return less, nil
}

// Await returns a child as far as it is used.
func (c cutting) Await(file string, documents []*Document) (child any, waits string, err error) {
	child, waits, err = c.World.Await(file, documents)
	if child == nil || err != nil {
		return child, waits, err
	}
	paths, isWhole := c.set.ChildFields(file)
	child, err = cutTo(child, paths, isWhole)
	return child, waits, err
}

func (c cutting) cut(o any) (any, error) {
	gv, kind := o.(map[string]any)["apiVersion"].(string), o.(map[string]any)["kind"].(string)
	paths, isWhole := c.set.ReadFields(apischema.FromAPIVersionAndKind(gv, kind))
	return cutTo(o, paths, isWhole)
}

// cutTo returns an object with just these fields, and what says which object it is.
func cutTo(o any, paths [][]string, isWhole bool) (any, error) {
	if isWhole {
		return o, nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p, err := live.Pack(text)
	if err != nil {
		return nil, err
	}
	l, err := live.Of(p.GroupVersionKind(), p)
	if err != nil {
		return nil, err
	}
	l, err = l.Cut(live.Identity.Merge(live.NeedOf(paths...))).Unpacked()
	return l.Body, err
}

// checkUses executes a template also with objects of which only what is used is there: that gives the
// same.
func checkUses(t *testing.T, set *Set, w World, docs []*Document, err error) {
	t.Helper()
	got, gotErr := set.Execute(context.Background(), "x", resource(), cutting{w, set})
	if fmt.Sprint(gotErr) != fmt.Sprint(err) {
		t.Errorf("with what is used alone: %v\nwant: %v", gotErr, err)
	}
	objects := func(docs []*Document) (all []map[string]any) {
		for _, d := range docs {
			all = append(all, d.Object)
		}
		return all
	}
	if diff := cmp.Diff(objects(docs), objects(got)); diff != "" {
		t.Errorf("with what is used alone (-all, +used):\n%s", diff)
	}
}

// TestUses: what templates use of what they read is followed through everything that only chooses,
// and whatever else is done with a value uses all of it.
func TestUses(t *testing.T) {
	const lookup, list = `(lookup "v1" "ConfigMap" "" "settings")`, `(select "v1" "ConfigMap" (dict "matchLabels" (dict "app" "web")))`
	for name, c := range map[string]struct{ text, want string }{
		"a field":                   {`a: {{ ` + lookup + `.data.color }}`, "data.color"},
		"several fields":            {`a: {{ ` + lookup + `.data.color }}{{ ` + lookup + `.data.yaml | quote }}`, "data.color data.yaml"},
		"nothing but names":         {`a:{{ range ` + list + ` }} {{ .metadata.name }}{{ end }}`, "metadata.name"},
		"how many":                  {`a: {{ len ` + list + ` }}`, ""},
		"how many fields":           {`a: {{ len ` + lookup + ` }}`, "*"},
		"whether there is one":      {`{{ if ` + lookup + ` }}a: 1{{ end }}`, ""},
		"whether there is none":     {`a: {{ not ` + lookup + ` | quote }}`, ""},
		"the whole object":          {`a: {{ ` + lookup + ` | toJson | quote }}`, "*"},
		"with":                      {`{{ with ` + lookup + ` }}a: {{ .data.color }}{{ end }}`, "data.color"},
		"with a field":              {`{{ with ` + lookup + `.data }}a: {{ .color }}{{ end }}`, "data data.color"},
		"a variable":                {`{{ $c := ` + lookup + ` }}a: {{ $c.data.color }}`, "data.color"},
		"a variable of a field":     {`{{ $c := ` + lookup + `.data }}a: {{ $c.color }}`, "data.color"},
		"a variable that is set":    {`{{ $c := dict }}{{ if .spec.on }}{{ $c = ` + lookup + ` }}{{ end }}a: {{ $c.data.color }}`, "data.color"},
		"set after it is used":      {`{{ $c := dict }}{{ range ` + list + ` }}{{ $c.data.color | default "" }}{{ $c = . }}{{ end }}a: 1`, "data.color"},
		"two chained in a loop":     {`{{ $c := dict }}{{ $d := dict }}{{ range ` + list + ` }}{{ $d.color | default "" }}{{ $d = $c.data }}{{ $c = . }}{{ end }}a: 1`, "data.color"},
		"itself in a loop":          {`{{ $c := ` + lookup + ` }}{{ range until 3 }}{{ $c = $c.data }}{{ end }}a: {{ $c.color | quote }}`, "color data.color data.data.color data.data.data.color data.data.data.data.color data.data.data.data.data.color data.data.data.data.data.data.color data.data.data.data.data.data.data.color data.data.data.data.data.data.data.data"},
		"a range with variables":    {`{{ range $i, $c := ` + list + ` }}a: {{ $c.data.color }}{{ end }}`, "data.color"},
		"a range over a map":        {`{{ range $k, $v := ` + lookup + `.data }}{{ $k }}: {{ quote $v }}` + "\n" + `{{ end }}`, "data"},
		"the first":                 {`a: {{ (first ` + list + `).data.color }}`, "data.color"},
		"by an index":               {`a: {{ (index ` + list + ` 0).data.color }}`, "data.color"},
		"by a key":                  {`a: {{ index ` + lookup + ` "data" "color" }}`, "data.color"},
		"by a computed key":         {`a: {{ index ` + lookup + `.data (printf "co%s" "lor") }}`, "data"},
		"by get":                    {`a: {{ get ` + lookup + `.data "color" }}`, "data.color"},
		"by dig":                    {`a: {{ dig "data" "color" "none" ` + lookup + ` }}`, "data.color"},
		"by hasKey":                 {`a: {{ hasKey ` + lookup + `.data "color" }}`, "data.color"},
		"of a list below":           {`{{ range ` + lookup + `.spec.ports }}a: {{ .port }}{{ end }}b: 1`, "spec.ports"},
		"a default":                 {`a: {{ ` + lookup + `.data.none | default "x" }}`, "data.none"},
		"a default for the object":  {`{{ $c := ` + lookup + ` | default dict }}a: {{ $c.data.color }}`, "data.color"},
		"a choice":                  {`{{ $c := or (lookup "v1" "ConfigMap" "" "none") ` + lookup + ` }}a: {{ $c.data.color }}`, "data.color"},
		"required":                  {`a: {{ (required "it must be there" ` + lookup + `).data.color }}`, "data.color"},
		"a ternary":                 {`a: {{ (ternary ` + lookup + ` (dict) true).data.color }}`, "data.color"},
		"a define":                  {`{{ define "d" }}a: {{ .data.color }}{{ end }}{{ template "d" ` + lookup + ` }}`, "data.color"},
		"a define of a define":      {`{{ define "e" }}a: {{ $.data.color }}{{ end }}{{ define "d" }}{{ template "e" . }}{{ end }}{{ include "d" ` + lookup + ` }}`, "data.color"},
		"a define with a variable":  {`{{ define "d" }}{{ $x := . }}a: {{ $x.color }}{{ end }}{{ with ` + lookup + ` }}{{ include "d" .data }}{{ end }}`, "data.color"},
		"a define that recurs":      {`{{ define "d" }}{{ with .data }}{{ template "d" . }}{{ end }}{{ end }}{{ template "d" ` + lookup + ` }}a: 1`, "data data.data data.data.data data.data.data.data data.data.data.data.data data.data.data.data.data.data data.data.data.data.data.data.data data.data.data.data.data.data.data.data"},
		"a define that is computed": {`{{ define "d" }}a: {{ .data.color }}{{ end }}{{ include (printf "%s" "d") ` + lookup + ` }}`, "*"},
		"a child":                   {`a: {{ (child "config").data.color }}`, "data.color"},
		"children":                  {`a: {{ range children "config" }}{{ .data.color }}{{ end }}`, "data.color"},
		"what is awaited":           {`{{ $c := await "config" }}a: {{ $c.data.color }}`, "data.color"},
		"if nil":                    {`a: {{ (ifNil ` + lookup + ` (dict)).data.color }}`, "data.color"},
		"a field for a define":      {`{{ define "d" }}a: {{ .color }}{{ end }}{{ include "d" ` + lookup + `.data }}`, "data.color"},
		"in a dict":                 {`{{ $d := dict "c" ` + lookup + ` }}a: {{ $d.c.data.color }}`, "*"},
		"a name from what is read":  {`a: {{ (lookup "v1" "ConfigMap" "" ` + lookup + `.metadata.name).data.color }}`, "data.color metadata.name"},
		"compared":                  {`a: {{ eq ` + lookup + `.data.color "blue" }}`, "data.color"},
		"dot after with":            {`{{ with ` + lookup + ` }}{{ end }}a: {{ .spec.image }}`, ""},
		"in a define":               {`{{ define "d" }}a: {{ ` + lookup + `.data.color }}{{ end }}{{ template "d" . }}`, "data.color"},
		"in else":                   {`{{ with .spec.none }}{{ else }}{{ with ` + lookup + ` }}a: {{ .data.color }}{{ end }}{{ end }}`, "data.color"},
		"too deep":                  {`a: {{ ` + lookup + `.a.b.c.d.e.f.g.h.i.j | quote }}`, "a.b.c.d.e.f.g.h"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := folder(c.text)
			if err != nil {
				t.Fatal(err)
			}
			paths, isWhole := set.ReadFields(apischema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
			if paths == nil && !isWhole {
				paths, isWhole = set.ChildFields("config")
			}
			var texts []string
			for _, path := range paths {
				texts = append(texts, strings.Join(path, "."))
			}
			slices.Sort(texts)
			got := strings.Join(texts, " ")
			if isWhole {
				got = "*"
			}
			if got != c.want {
				t.Errorf("it uses %s, want %s", got, c.want)
			}
			if _, err := in(t, town(), c.text); err != nil {
				t.Error(err)
			}
		})
	}
}
