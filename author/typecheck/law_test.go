package typecheck

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// A drawn is a random type, and how to draw values of it.
type drawn struct {
	typ   *schema.Type
	value *rapid.Generator[any]
}

// leaf draws a scalar type.
func leaf(t *rapid.T) drawn {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return drawn{schema.Scalar(schema.KindString), rapid.SampledFrom([]any{"", "a", "b", "x y"})}
	case 1:
		return drawn{schema.Scalar(schema.KindInteger), rapid.SampledFrom([]any{int64(0), int64(1), int64(7)})}
	case 2:
		return drawn{schema.Either("a", "b"), rapid.SampledFrom([]any{"a", "b"})}
	}
	return drawn{schema.Scalar(schema.KindBoolean), rapid.SampledFrom([]any{true, false})}
}

func listType(of drawn) drawn {
	return drawn{schema.ListOf(of.typ), rapid.Custom(func(t *rapid.T) any {
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			list = append(list, of.value.Draw(t, "item"))
		}
		return list
	})}
}

func mapType(of drawn) drawn {
	return drawn{schema.MapOf(of.typ), rapid.Custom(func(t *rapid.T) any {
		m := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"k", "l", "m"}), 0, 2, rapid.ID).Draw(t, "keys") {
			m[key] = of.value.Draw(t, "entry")
		}
		return m
	})}
}

// objectType draws an object of these fields; each is always there or not.
func objectType(t *rapid.T, fields map[string]drawn) drawn {
	types, always := map[string]*schema.Type{}, []string{}
	there := map[string]bool{}
	for _, name := range sortedKeys(fields) {
		types[name] = fields[name].typ
		if there[name] = rapid.Bool().Draw(t, name+" is required"); there[name] {
			always = append(always, name)
		}
	}
	return drawn{schema.ObjectOf(types, always...), rapid.Custom(func(t *rapid.T) any {
		m := map[string]any{}
		for _, name := range sortedKeys(fields) {
			if there[name] || rapid.Bool().Draw(t, name+" is there") {
				m[name] = fields[name].value.Draw(t, name)
			}
		}
		return m
	})}
}

// spec draws a type with scalars a, b, c, a list l, a list of objects o, a map
// m and an object d.
func spec(t *rapid.T) drawn {
	inner := objectType(t, map[string]drawn{"x": leaf(t), "y": leaf(t)})
	return objectType(t, map[string]drawn{
		"a": leaf(t), "b": leaf(t), "c": leaf(t), "l": listType(leaf(t)), "m": mapType(leaf(t)),
		"o": listType(inner), "d": inner,
	})
}

var scalarsRead = []string{".spec.a", ".spec.b", ".spec.c", ".spec.d.x", ".spec.d.y", "$v", "(first .spec.l)", "(index .spec.l 0)",
	".spec.m.k", "(get .spec.m \"k\")", "(first .spec.o).x"}

// operandText draws an expression.
func operandText(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom(append([]string{`"a"`, "1", `"z"`, ".spec.l", ".spec.d", ".spec.m", ".spec.o"}, scalarsRead...)).Draw(t,
			"operand")
	}
	arg := func() string { return operandText(t, depth-1) }
	form := rapid.SampledFrom([]string{
		"(default %s %s)", "(ifNil %s %s)", "(upper %s)", "(add %s 1)", "(printf \"%%v\" %s)", "(coalesce %s %s)", "(and %s %s)", "(or %s %s)",
		"(eq %s %s)", "(not %s)", "(len %s)", "(ternary %s \"t\" true)", "(quote %s)", "(join \",\" %s)", "(has %s .spec.l)", "(list %s %s)",
		"(first %s)",
		"(dict \"k\" %s)", "(toYaml %s)", "(toString %s)", "(int %s)", "(lt %s %s)", "(kindIs \"string\" %s)", "(hasKey %s \"k\")",
		"(required \"r\" %s)",
		"(append .spec.l %s)", "(trunc 3 %s)", "(dig \"x\" %s .spec.d)", "(get %s \"k\")", "(index %s \"x\")",
	}).Draw(t, "form")
	if depth == 1 {
		form = strings.Replace(form, "toYaml", "toString", 1) // toYaml is seldom an argument
	}
	args := []any{}
	for range strings.Count(form, "%s") {
		args = append(args, arg())
	}
	return fmt.Sprintf(form, args...)
}

// conditionText draws what narrows.
func conditionText(t *rapid.T) string {
	x := rapid.SampledFrom(scalarsRead).Draw(t, "asked")
	form := rapid.SampledFrom([]string{"%s", "not %s", "eq %s \"a\"", "ne %s nil", "kindIs \"string\" %s", "and %s .spec.d",
		"or (not %s) (not .spec.d)", "empty %s", "hasKey .spec.d \"x\"", "default false %s", "gt (len .spec.l) 0", ".spec.l", ".spec.d",
		".spec.o"}).Draw(t, "condition")
	if strings.Contains(form, "%s") {
		return fmt.Sprintf(form, x)
	}
	return form
}

// lines draws statements: lines of a map, branches, loops, variables.
func lines(t *rapid.T, depth int, n *int) string {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		*n++
		number := *n
		inner := func() string { return lines(t, depth-1, n) }
		kind := rapid.IntRange(0, 11).Draw(t, "line")
		if depth == 0 && kind > 5 {
			kind -= 6
		}
		expr := operandText(t, rapid.IntRange(0, 2).Draw(t, "depth"))
		switch kind {
		case 0, 1:
			fmt.Fprintf(&b, "k%d: {{ %s }}\n", *n, expr)
		case 2:
			fmt.Fprintf(&b, "k%d: x-{{ %s }}\n", *n, expr)
		case 3:
			fmt.Fprintf(&b, "k%d:\n- {{ %s }}\n", *n, expr)
		case 4:
			fmt.Fprintf(&b, "{{- $v = %s }}\n", expr)
		case 5:
			fmt.Fprintf(&b, "k%d:\n  selector: {q: {{ %s }}, r: s}\n", *n, expr)
		case 6, 7:
			fmt.Fprintf(&b, "{{- if %s }}\nt%d: 1\n%s{{- else }}\ne%d: 1\n%s{{- end }}\n", conditionText(t), number, inner(), number, inner())
		case 8:
			fmt.Fprintf(&b, "{{- if %s }}{{ fail \"f\" }}{{ end }}\n", conditionText(t))
		case 9:
			fmt.Fprintf(&b, "{{- range $i, $e := .spec.%s }}\nk%d-{{ $i }}: {{ $e }}\n{{- $v = $e }}\n{{- end }}\n",
				rapid.SampledFrom([]string{"l", "m"}).Draw(t, "over"), *n)
		case 10:
			fmt.Fprintf(&b, "{{- with .spec.d }}\nk%d: {{ $.spec.a }}{{ .x }}\n{{- end }}\n", *n)
		case 11:
			fmt.Fprintf(&b,
				"{{- range $i, $e := .spec.o }}\n{{- if $e.x }}\nk%d-{{ $i }}: x-{{ $e.x }}-{{ .y }}\n{{- $v = .y }}\n{{- end }}\n{{- end }}\n", *n)
		}
	}
	return b.String()
}

// broken are the words of errors about absent values and wrong types.
var broken = regexp.MustCompile(`is nil|must be|must not be nil|cannot be part of a text|needs a (list|string|number|map)|has no field|range needs|cannot compare|cannot order|looks into|got nil`)

// A trial is a random template and what was found of it.
type trial struct {
	text string
	set  *template.Set
	of   drawn
	flow *Flow
}

func tried(t *rapid.T) *trial {
	n := 0
	try := &trial{of: spec(t)}
	try.text = "{{- $v := .spec.a }}\n" + lines(t, 2, &n) + "end: {{ $v }}\n"
	set, err := template.Compile(template.Input{Sources: []template.Source{{Name: "x", File: "x.yaml", Text: try.text}}})
	if err != nil {
		t.Skip()
	}
	root := schema.ObjectOf(map[string]*schema.Type{"spec": try.of.typ}, "spec")
	try.set, try.flow = set, Follow(Input{Set: set, Files: []string{"x"}, Root: root, Name: "Page v1"})
	return try
}

// fails reports whether something is found that makes a render fail.
func (try *trial) fails() bool {
	return slices.ContainsFunc(try.flow.Findings, func(f Finding) bool {
		return slices.Contains([]Class{Nil, ArgumentType, NotAList, UnknownField, Syntax}, f.Class)
	})
}

// dead are the marks of the branches that are said never to be taken.
func (try *trial) dead() []string {
	text := strings.Split(try.text, "\n")
	var marks []string
	for _, f := range try.flow.Findings {
		if f.Class != Unreachable || f.Place.Line >= len(text) || !strings.HasPrefix(text[f.Place.Line], "t") {
			continue
		}
		mark, _, _ := strings.Cut(text[f.Place.Line], ":")
		if strings.HasPrefix(f.Text, "the else") {
			mark = "e" + mark[1:]
		}
		marks = append(marks, mark)
	}
	return marks
}

// TestLaw: a template without findings about absent values and wrong types does
// not fail for them, and no branch is taken that is said to be out of reach,
// whatever valid resource is rendered.
func TestLaw(t *testing.T) {
	if os.Getenv("CI") != "" { // a change is judged by itself; by hand, each run makes up new templates
		if err := flag.Set("rapid.seed", "1"); err != nil {
			t.Fatal(err)
		}
	}
	checked, dead := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		try := tried(t)
		fails, marks := try.fails(), try.dead()
		if !fails {
			checked++
		}
		dead += len(marks)
		for range 4 {
			resource := map[string]any{"spec": try.of.value.Draw(t, "spec")}
			docs, err := try.set.Execute(context.Background(), "x", resource, nil)
			if !fails && err != nil && broken.MatchString(err.Error()) {
				t.Fatalf("%v\n%s\nfor %v", err, try.text, resource)
			}
			for _, mark := range marks {
				if len(docs) > 0 && docs[0].Object[mark] != nil {
					t.Fatalf("%s is reached\n%s\nfor %v", mark, try.text, resource)
				}
			}
		}
	})
	t.Logf("%d templates without findings, %d branches out of reach", checked, dead)
}

// FuzzFollow: to follow a template that compiles never panics, even where
// nothing is known of its kind.
func FuzzFollow(f *testing.F) {
	for _, seed := range []string{
		"a: {{ .spec.text | upper }}", "{{ range $i, $e := .spec.env }}{{ $i }}: {{ $e.name }}\n{{ end }}",
		"{{ with $x := dict \"a\" (list 1 2) }}{{ index $x.a 0 }}{{ end }}",
		"{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
		"{{ fromYaml (include \"p\" .) }}{{ define \"p\" }}a: {{ . }}{{ end }}", "{{ $ = nil }}{{ $.x }}", "{{ and }}{{ not }}{{ eq 1 }}",
		"a: {{ toYaml .spec | nindent 2 }}", "{{ range 3 }}{{ break }}{{ else }}{{ continue }}{{ end }}",
		"{{ (child \"x\").spec }}{{ config \"k\" }}",
		"{{ merge .spec (dict) | toJson }}{{ dig \"a\" \"b\" 1 . }}{{ pick .spec \"a\" }}{{ omit . \"a\" }}", "{{ printf \"%d%%%s\" 1 }}",
	} {
		f.Add(seed)
	}
	root := pages(f)
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		set, _ := template.Compile(template.Input{Config: map[string]any{"k": nil},
			Sources: []template.Source{{Name: "x", File: "x.yaml", Text: text}}})
		if set.Tree("x") != nil {
			parsed()
		}
		for _, typ := range []*schema.Type{root, nil} {
			Follow(Input{Set: set, Files: []string{"x", "status"}, Root: typ, Name: "Page v1"})
		}
	})
}
