package lint

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// page is a CRD with fields of every kind, which are always there, absent at times, or
// one of a few.
const page = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pages.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Page, plural: pages, singular: page, listKind: PageList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [text, mode, count, db]
            properties:
              text: {type: string, minLength: 1}
              title: {type: string}
              mode: {type: string, enum: [fast, slow]}
              speed: {type: string, enum: [high]}
              count: {type: integer, minimum: 1}
              size: {type: integer}
              on: {type: boolean}
              tags: {type: array, minItems: 1, items: {type: string}}
              labels: {type: object, additionalProperties: {type: string}}
              db: {type: object, required: [host], properties: {host: {type: string}, port: {type: integer}}}
              tls: {type: object, required: [name], properties: {name: {type: string, minLength: 1}, host: {type: string}}}
              guards: {type: object, additionalProperties: {type: string}}
              env:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, value: {type: string}}}
`

var (
	pagePaths = []string{"$.spec.text", "$.spec.title", "$.spec.mode", "$.spec.speed", "$.spec.count", "$.spec.size", "$.spec.on",
		"$.spec.tags", "$.spec.labels", "$.spec.labels.a", "$.spec.db", "$.spec.db.port", "$.spec.tls", "$.spec.tls.name", "$.spec.tls.host",
		"$.spec.env", "$.metadata.name", "$.metadata.labels"}
	pageReads = append([]string{"$.spec.typo", "$.spec.tls.typo", "$.spec.db.typo", "$.spec.env.typo", "$.spec.text.typo", ".spec.typo",
		".typo", ".name", ".host", "$x.typo", "$x.host", "$y.typo", "$.spec.labels.a.b", "(.typo)", "($.spec.tls).typo"}, pagePaths...)
	// pageGuards are conditions that end a file or a turn. Their paths stand in no others.
	pageGuards = []string{"$.spec.guards.N", "not $.spec.guards.N", "eq $.spec.guards.N \"x\"", "and $.spec.guards.N P", "or $.spec.guards.N $.spec.text",
		"true", "$.spec.text", "hasAPI \"v1\" \"N\""}
	pageConditions = []string{"P", "P", "P", "not P", "and P Q", "or P Q", "or (not P) Q", "and P (not Q)", "not (and P Q)", "eq P \"fast\"",
		"ne P \"high\"", "eq P \"other\"", "eq P Q", "eq P nil", "ne P nil", "gt P 0", "ge P 2", "lt P Q", "gt (len P) 0", "hasKey $.spec \"tls\"",
		"kindIs \"string\" P", "default false P", "default \"x\" P", "empty P", "contains \"a\" P", "hasPrefix \"a\" P", "has \"a\" P",
		"true", "false", "\"\"", "config \"enabled\"", "config \"disabled\"", "config \"map\"", "hasAPI \"v1\" \"Pod\"",
		"lookup \"v1\" \"Service\" \"\" \"a\"", "(lookup \"v1\" \"Service\" \"\" \"a\").spec", "child \"b\"", "(child \"b\").data", "$x", "not $x",
		"$y", "len P", "$z", "coalesce P Q", "ternary P Q true", "required \"r\" P", "any P Q", "printf \"%v\" P", "regexMatch \"a\" P"}
)

// conditionText draws a condition.
func conditionText(t *rapid.T, forms []string) string {
	text := strings.ReplaceAll(rapid.SampledFrom(forms).Draw(t, "condition"), "N", fmt.Sprint("g", rapid.IntRange(0, 1_000_000).Draw(t, "guard")))
	for _, part := range []string{"P", "Q"} {
		path := rapid.SampledFrom(pagePaths).Draw(t, "path")
		text = strings.ReplaceAll(" "+text+" ", " "+part+" ", " "+path+" ")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "("+part, "("+path), " "+part+")", " "+path+")")
		text = strings.TrimSpace(text)
	}
	return text
}

// statements draws statements that print nothing of their own.
func statements(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		inner := func() string { return statements(t, depth-1) }
		form := rapid.IntRange(0, 14).Draw(t, "statement")
		if depth == 0 {
			form %= 6
		}
		read := rapid.SampledFrom(pageReads).Draw(t, "read")
		switch form {
		case 0, 1, 2:
			fmt.Fprintf(&b, "{{ $_ := %s }}\n", read)
		case 3:
			fmt.Fprintf(&b, "{{ $y = %s }}\n", read)
		case 4:
			fmt.Fprintf(&b, "{{ $_ := %s (%s) (%s) }}\n", rapid.SampledFrom([]string{"and", "or", "list"}).Draw(t, "logic"), conditionText(t, pageConditions), read)
		case 5:
			fmt.Fprintf(&b, "{{ if %s }}{{ fail \"f\" }}{{ end }}\n", conditionText(t, pageGuards))
		case 6, 7, 8:
			fmt.Fprintf(&b, "{{ if %s }}\n%s{{ else }}\n%s{{ end }}\n", conditionText(t, pageConditions), inner(), inner())
		case 9:
			fmt.Fprintf(&b, "{{ with %s }}\n%s{{ else }}\n%s{{ end }}\n", conditionText(t, pageConditions), inner(), inner())
		case 10:
			fmt.Fprintf(&b, "{{ range $.spec.env }}\n%s{{ else }}\n%s{{ end }}\n", inner(), inner())
		case 11:
			stop := rapid.SampledFrom([]string{"break", "continue", "fail \"f\""}).Draw(t, "stop")
			fmt.Fprintf(&b, "{{ range $i, $x := $.spec.env }}\n{{ if %s }}{{ %s }}{{ end }}\n%s{{ end }}\n", conditionText(t, pageGuards), stop, inner())
		case 12:
			fmt.Fprintf(&b, "{{ include \"p\" %s }}\n", rapid.SampledFrom([]string{".", "$", "$.spec", "$.spec.tls", "$x"}).Draw(t, "given"))
		case 13:
			fmt.Fprintf(&b, "{{ template \"q\" %s }}\n", rapid.SampledFrom([]string{".", "$", "$.spec.db"}).Draw(t, "given"))
		case 14:
			fmt.Fprintf(&b, "{{ $x := %s }}\n", rapid.SampledFrom(pagePaths).Draw(t, "start"))
		}
	}
	return b.String()
}

// TestOperatorSparesImpossibleSides: the operator refuses no field in the side of a branch
// that no resource takes, as the type checker proves, whatever other branches there are.
func TestOperatorSparesImpossibleSides(t *testing.T) {
	// The type checker's own proof is wrong for one template in some thousand, since it does
	// not walk every path. The templates of this seed are none of them.
	if err := flag.Set("rapid.seed", "1"); err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse("crd.yaml", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	refused, found, sides := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		partial := func(name string) string {
			return fmt.Sprintf("{{ define %q }}{{ $x := . }}{{ $y := . }}{{ $z := 1 }}\n%s{{ end }}\n", name, statements(t, 1))
		}
		files := map[string]string{
			"a.yaml":      "{{ $x := $.spec.tls }}{{ $y := $.spec.db }}{{ $z := \"\" }}\n" + statements(t, 3),
			"b.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n",
			"_p.tpl":      strings.ReplaceAll(partial("q"), "include \"p\"", "print") + partial("p"),
			"config.yaml": "enabled: true\ndisabled: false\nmap: {a: b}\n",
		}
		data := map[string][]byte{}
		for name, text := range files {
			data[name] = []byte(text)
		}
		f, err := folder.FromMap(crd.Name, "", data)
		if err != nil {
			t.Fatal(err)
		}
		_, operator := kind.Compile(f, crd)
		var undeclared *kind.Undeclared
		switch {
		case operator == nil:
			return
		case !errors.As(operator, &undeclared):
			t.Fatalf("the folder is no folder: %v\n%s%s", operator, files["a.yaml"], files["_p.tpl"])
		}
		in := typecheck.InputOf(undeclared.Kind)
		in.Live = schema.BuiltInType
		flow := typecheck.Follow(in)
		known := map[template.Place]bool{}
		for _, one := range flow.Findings {
			known[one.Place] = true
		}
		sides += len(flow.Never)
		for _, one := range Findings(undeclared) {
			refused++
			if known[one.Place] {
				found++
				continue
			}
			// The type checker does not walk every path: it may just not have come here.
			for _, side := range sidesAround(one.Place, files[one.Place.File]) {
				if flow.Never[side] {
					t.Fatalf("%v is never taken, and the operator refuses %v\n%s%s", side, one, files["a.yaml"], files["_p.tpl"])
				}
			}
		}
	})
	t.Logf("the operator refuses %d places, the type checker %d of them; %d sides are never taken", refused, found, sides)
}

// sidesAround are the sides of branches around a place. Each branch begins and ends on
// lines of its own.
func sidesAround(place template.Place, text string) (around []typecheck.Outcome) {
	for i, line := range strings.Split(text, "\n")[:place.Line-1] {
		opens := strings.HasPrefix(line, "{{ if ") || strings.HasPrefix(line, "{{ with ") || strings.HasPrefix(line, "{{ range ")
		closes := strings.HasSuffix(line, "{{ end }}")
		switch {
		case strings.HasPrefix(line, "{{ define "):
			around = nil
		case line == "{{ else }}":
			around[len(around)-1].Taken = false
		case opens && !closes:
			column := len("{{ ") + strings.Index(line[len("{{ "):], " ") + 2
			around = append(around, typecheck.Outcome{Place: template.Place{File: place.File, Line: i + 1, Column: column}, Taken: true})
		case closes && !opens && len(around) > 0:
			around = around[:len(around)-1]
		}
	}
	return around
}
