package template

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sown draws templates of a small grammar that has no function whose result
// is no secret but for keys and lengths.
type sown struct {
	*rapid.T
	vars int
}

func (s *sown) of(choices ...string) string { return rapid.SampledFrom(choices).Draw(s.T, "choice") }

// expr is an expression; E stands for one of less depth.
func (s *sown) expr(depth int) string {
	leaves := []string{
		`(child "secret")`, `(child "secret").data`, `(child "secret").data.password`, `(child "secret").metadata`, `(children "both")`,
		`(lookup "v1" "Secret" "" "pw").metadata.annotations`, `(select "v1" "Secret" (dict "matchLabels" (dict "app" "web")))`,
		`(stable "secret" "password" 24)`, `(rendered "secret")`, `(include "text" .)`, `(include "map" .)`, `(fromYaml (include "map" .))`,
		`.spec.image`, `.spec.labels`, `.spec.nope`, `.`, `"x"`, `(dict "k" 1)`, `(list "y")`, `1`, `true`,
	}
	if s.vars > 0 {
		leaves = append(leaves, "$x", "$x", "$x")
	}
	if depth == 0 {
		return s.of(leaves...)
	}
	text := s.of(append(leaves,
		`(E).data`, `(E).metadata`, `(E).metadata.annotations`, `(E).password`, `(E).k`, `(E).name`, `(index E 0)`, `(index E "k")`,
		`(get E "data")`, `(dig "metadata" "annotations" "none" E)`,
		`(b64dec E)`, `(b64enc E)`, `(upper E)`, `(quote E)`, `(squote E E)`, `(toYaml E)`, `(toJson E)`, `(trim E)`, `(nindent 2 E)`,
		`(indent 2 E | trim)`, `(trimSuffix "\n" E)`, `(trimSuffix "x" E)`,
		`(toString E)`, `(printf "%v" E)`, `(print E)`, `(cat E E)`, `(splitList "4" E)`, `(join "-" (list E E))`, `(replace "x" E E)`,
		`(repeat 2 E)`, `(trunc 5 E)`, `(reverse E)`,
		`(list E)`, `(list E E)`, `(dict "k" E)`, `(dict E 1)`, `(set (dict) "k" E)`, `(merge (dict) E E)`, `(mergeOverwrite E E)`,
		`(pick E "k" "password" "data")`, `(omit E "kind")`, `(values E)`, `(keys E)`, `(len E)`,
		`(first E)`, `(last E)`, `(rest E)`, `(concat E E)`, `(append E E)`, `(deepCopy E)`, `(coalesce E E)`, `(ternary E E true)`,
		`(ifNil E E)`, `(default E E)`, `(and E E)`, `(or E E)`, `(required "m" E)`,
		`(include "show" E)`, `(include "show" (dict "k" E))`, `(include "spread" E)`, `(urlquery E)`, `(sortAlpha E)`, `(regexFind ".*" E)`,
		`(kindOf E)`,
	)...)
	for strings.Contains(text, "E") {
		at := strings.Index(text, "E")
		text = text[:at] + strings.ReplaceAll(s.expr(depth-1), "E", "\x00") + text[at+1:]
	}
	return text
}

// lines are entries of a map; L stands for further ones.
func (s *sown) lines(depth int) string {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(s.T, "lines") {
		n := rapid.IntRange(0, 1<<20).Draw(s.T, "key")
		forms := []string{
			"  kN: {{ E }}\n", "  kN: {{ E }}\n", "  kN: \"x{{ E }}\"\n", "  kN: |\n    x {{ E }}\n", "  kN{{ E }}: 1\n", "  kN:\n  - {{ E }}\n",
			"  # {{ E }}\n",
			"{{ toYaml E | indent 2 }}\n", "  kN:\n    {{- E | nindent 4 }}\n", "{{ $x = E }}", "{{ $x := E }}", "  kN: {{ include \"show\" E }}\n",
			"  kN: {{ template \"show\" E }}\n",
			"{{ fail E }}", "{{ wait E }}", "{{ required E .spec.nope }}", "  kN: {{ lookup \"v1\" \"ConfigMap\" \"\" E }}\n",
		}
		if depth > 0 {
			forms = append(forms, "{{ with E }}L{{ end }}", "{{ with $x := E }}L{{ end }}", "{{ if E }}L{{ else }}L{{ end }}",
				"{{ range E }}  kN: {{ . }}\n{{ end }}", "{{ range $x, $v := E }}  kN-{{ $x }}: {{ $v }}\nL{{ break }}{{ end }}",
				"{{ range $x := E }}L{{ break }}{{ end }}")
		}
		text := strings.ReplaceAll(s.of(forms...), "N", fmt.Sprint(n))
		for strings.Contains(text, "E") {
			text = strings.Replace(text, "E", strings.ReplaceAll(s.expr(rapid.IntRange(0, 3).Draw(s.T, "depth")), "E", "\x00"), 1)
		}
		for strings.Contains(text, "L") {
			text = strings.Replace(text, "L", strings.ReplaceAll(s.lines(depth-1), "L", "\x01"), 1)
		}
		b.WriteString(text)
	}
	return b.String()
}

const sownPartials = `{{ define "text" }}x{{ b64dec (child "secret").data.password }}{{ end }}
{{- define "map" }}k: {{ (child "secret").data.password }}{{ end }}
{{- define "show" }}{{ . }}{{ end }}
{{- define "spread" }}{{ range $k, $v := . }}{{ $k }}: {{ $v }}{{ break }}{{ end }}{{ end -}}
`

// elsewhere is a town whose Secrets hold other texts of the same length.
func elsewhere(t *testing.T) still {
	swap := strings.NewReplacer(canary, "c4n4rz!", canary64, "YzRuNHJ6IQ==", "dr4wn", "dr4wm")
	w := town()
	text, err := json.Marshal([]any{w.objects, w.children, w.stable})
	if err != nil {
		t.Fatal(err)
	}
	other := still{config: w.config, waits: w.waits}
	into := []any{&other.objects, &other.children, &other.stable}
	if err := json.Unmarshal([]byte(swap.Replace(string(text))), &into); err != nil {
		t.Fatal(err)
	}
	return other
}

// TestSecretsStayInSecrets: whatever a template does, what a Secret holds
// shows in no other object, in no status and in no error; nor does it make any
// difference there.
func TestSecretsStayInSecrets(t *testing.T) {
	here, there := town(), elsewhere(t)
	rendered, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		s := &sown{T: r, vars: 1}
		head := s.of("apiVersion: v1\nkind: ConfigMap\nmetadata:\n", "apiVersion: v1\nkind: ConfigMap\ndata:\n", "status:\n",
			"apiVersion: v1\nkind: Secret\nmetadata:\n", "apiVersion: v1\nkind: Secret\nstringData:\n")
		text := sownPartials + "{{ $x := 1 }}" + head + s.lines(2)
		text = strings.NewReplacer("\x00", "E", "\x01", "L").Replace(text)
		set, err := folder(text)
		if err != nil {
			return
		}
		show := func(w World) (string, error) {
			docs, err := set.Execute(context.Background(), "x", resource(), w)
			var got []map[string]any
			for _, d := range docs {
				got = append(got, d.Object)
				if isSecret(d.Object) {
					d.Object["data"], d.Object["stringData"] = nil, nil
				}
			}
			checkNoCanary(r, text, got, err)
			written, _ := json.Marshal(got)
			return fmt.Sprint(string(written), err), err
		}
		a, err := show(here)
		b, _ := show(there)
		if a != b {
			r.Errorf("%s\nshows a difference:\n%s\n%s", text, a, b)
		}
		switch {
		case err == nil:
			rendered++
		case strings.Contains(err.Error(), "was read from a Secret"):
			refused++
		}
	})
	if rendered == 0 || refused == 0 {
		t.Errorf("%d templates rendered and %d were refused: this test tests nothing", rendered, refused)
	}
	t.Logf("%d templates rendered, %d were refused", rendered, refused)
}
