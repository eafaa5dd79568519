package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secrets are expressions whose values were read from a Secret.
var secrets = []string{
	// every read
	`(lookup "v1" "Secret" "" "pw").data.password`,
	`(first (select "v1" "Secret" (dict "matchLabels" (dict "app" "web")))).data.password`,
	`(child "secret").data.password`, `(index (children "secret") 0).data.password`, `(await "secret").data.password`,
	`stable "secret" "password" 24`, `rendered "secret"`, `(child "secret").metadata.annotations.note`,
	`(last (children "both")).data.password`, `(index (children "both") 1 "data" "password")`,
	// wholes
	`child "secret"`, `children "secret"`, `children "both"`, `(child "secret").data`, `(child "secret").metadata`,
	`(child "secret").metadata.annotations`,
	// functions of the interpreter
	`(child "secret").data.password | quote`, `squote 1 (child "secret").data.password`, `toYaml (child "secret").data`,
	`toJson (child "secret")`,
	`toPrettyJson (child "secret").data | indent 2`, `(child "secret").data.password | nindent 4`, `toYaml (child "secret").data | nindent 4`,
	`toYaml (child "secret").data | indent 2 | trim`,
	`(child "secret").data.password | indent 2 | trim`, `(child "secret").data.password | trim`, `quote (child "secret").data.password | trim`,
	`(child "secret").data.password | trimSuffix "="`,
	`toYaml (child "secret").data | trimSuffix "\n"`, `default "x" (child "secret").data.password`,
	`default (child "secret").data.password .spec.nope`,
	`required "x" (child "secret").data.password`, `and true (child "secret").data.password`, `or (child "secret").data.password "x"`,
	`fromJson (child "secret").metadata.annotations.json`, `(fromYaml (child "secret").data.password)`, `fromYaml (include "secretMap" .)`,
	`(include "secretMap" . | fromYaml).p`,
	`include "secretText" . | upper`, `include "outer" . | upper`, `include "secretText" . | quote`, `include "secretText" . | nindent 4`,
	`toYaml (include "secretText" .)`, `include "secretText" .`, `include "dot" (child "secret").data.password`,
	// the families of pure functions
	`b64dec (child "secret").data.password`, `printf "%s" (child "secret").data.password`, `print "x" (child "secret").data.password`,
	`toString (child "secret").data.password`,
	`upper (child "secret").data.password`, `replace "x" "y" (child "secret").data.password`, `trunc 5 (child "secret").data.password`,
	`substr 0 3 (child "secret").data.password`,
	`splitList "N" (child "secret").data.password`, `(split "N" (child "secret").data.password)._0`,
	`join "," (list 1 (child "secret").data.password)`, `list (child "secret").data.password`,
	`dict "a" (child "secret").data.password`, `(dict "a" (child "secret").data.password).a`,
	`keys (dict (b64dec (child "secret").data.password) 1)`, `keys (fromYaml (include "secretKey" .))`,
	`merge (dict "a" 1) (child "secret").data`,
	`(merge (dict "apiVersion" "v1" "kind" "Secret") (dict "metadata" (child "secret").data)).metadata`,
	`set (dict) "a" (child "secret").data.password`,
	`values (child "secret").data`, `pick (child "secret").data "password"`, `omit (child "secret").data "json"`,
	`pluck "password" (child "secret").data`,
	`get (child "secret").data "password"`, `index (child "secret") "data" "password"`, `dig "data" "password" "" (child "secret")`,
	`get (child "secret") "kind"`, `index (child "secret").metadata "annotations"`,
	`append (list) (child "secret").data.password`, `concat (list) (list (child "secret").data.password)`,
	`first (list (child "secret").data.password)`, `coalesce .spec.nope (child "secret").data.password`,
	`ternary (child "secret").data.password "x" true`, `ifNil "x" (child "secret").data.password`, `deepCopy (child "secret").data`,
	`sortAlpha (list (child "secret").data.password)`,
	`regexFind ".*" (child "secret").data.password`, `regexReplaceAll "x" (child "secret").data.password "y"`,
	`b64enc (child "secret").data.password`, `urlquery (child "secret").data.password`,
	`kindOf (child "secret").data.password`, `base (child "secret").data.password`, `wrap 80 (child "secret").data.password`,
	`cat (child "secret").data.password`,
}

const secretPartials = `{{ define "secretText" }}x{{ b64dec (child "secret").data.password }}{{ end }}
{{- define "secretMap" }}p: {{ (child "secret").data.password }}{{ end }}
{{- define "secretKey" }}{{ (child "secret").data }}{{ end }}
{{- define "outer" }}{{ include "secretText" . | trim }}{{ end }}
{{- define "dot" }}{{ . }}{{ end }}`

// ways are how an expression may come to where it is printed.
var ways = map[string]string{
	"itself":           "a: {{ %s }}",
	"in quotes":        `a: "x{{ %s | toYaml }}"`,
	"in a block":       "a: |\n  x{{ %s | toYaml }}",
	"as a key":         "\"{{ %s | toYaml }}\": 1",
	"as items":         "a:\n- 1\n{{ list (%s) | toYaml }}",
	"by a variable":    "{{ $x := %s }}{{ $y := $x }}a: {{ $y }}",
	"set again":        "{{ $x := 1 }}{{ if true }}{{ $x = %s }}{{ end }}a: {{ $x }}",
	"with":             "{{ with %s }}a: {{ . }}{{ end }}",
	"with a variable":  "{{ with $x := %s }}a: {{ $x }}{{ end }}",
	"if":               "{{ if $x := %s }}a: {{ $x }}{{ end }}",
	"include":          "a:\n  {{- include \"dot\" (%s) | nindent 2 }}",
	"include a part":   "a: {{ include \"dot\" (list (%s) | first) }}",
	"template":         "a: {{ template \"dot\" (%s) }}",
	"a map's field":    "a: {{ (dict \"k\" (%s)).k }}",
	"a map's entries":  "{{ range $k, $v := dict \"k\" (%s) }}a: {{ $v }}{{ end }}",
	"a map's keys":     "{{ range $k, $v := dict (%s | toJson) 1 }}a: {{ $k }}{{ end }}",
	"a list's items":   "{{ range list (%s) }}a: {{ . }}{{ end }}",
	"through a string": "a: {{ %s | toJson | printf \"%%v\" | upper | trimPrefix \"?\" }}",
	"a Secret's label": "apiVersion: v1\nkind: Secret\nmetadata: {labels: {a: \"{{ %s | toYaml }}\"}}\ndata: {}",
	"a Secret's name":  "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ %s }}",
	"a Secret's key":   "apiVersion: v1\nkind: Secret\ndata: {\"{{ %s | toJson }}\": x}",
	"data deep inside": "apiVersion: v1\nkind: Secret\nmetadata:\n  data: {{ %s }}",
	"another Secret":   "apiVersion: example.com/v1\nkind: Secret\ndata:\n  a: {{ %s }}",
	"a made kind":      "apiVersion: v1\nkind: \"{{ \"Secret\" }}\"\ndata:\n  a: {{ %s }}",
}

func TestSealed(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for _, expr := range secrets {
				text := secretPartials + fmt.Sprintf(way, expr)
				got, err := in(t, town(), text)
				if err == nil {
					t.Errorf("%s: no error; got %v", text, got)
				} else if !strings.Contains(err.Error(), "was read from a Secret") {
					t.Errorf("%s: %v", text, err)
				}
				checkNoCanary(t, text, got, err)
			}
		})
	}
}

// checkNoCanary looks for the canary in documents other than Secrets and in
// the error.
func checkNoCanary(t interface{ Errorf(string, ...any) }, text string, got []map[string]any, err error) {
	said := fmt.Sprint(err)
	for _, doc := range got {
		if isSecret(doc) {
			doc = map[string]any{"metadata": doc["metadata"]}
		}
		written, _ := json.Marshal(doc)
		said += string(written)
	}
	said = strings.ToLower(said)
	for _, secret := range []string{canary, canary64, "dr4wn"} {
		if strings.Contains(said, strings.ToLower(secret)) {
			t.Errorf("%s\nshows %s: %s", text, secret, said)
		}
	}
}

func TestSealedStatus(t *testing.T) {
	set, err := Compile(Input{Sources: []Source{
		{Name: "secret", File: "secret.yaml", Text: secretFile},
		{Name: "status", File: "status.yaml", Text: "apiVersion: v1\nkind: Secret\ndata: {a: {{ stable \"secret\" \"password\" 8 }}}"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Execute(context.Background(), "status", resource(), town())
	if err == nil || !contains(err.Error(),
		"status.yaml:3:14: {{ stable \"secret\" \"password\" 8 }}: the value was read from a Secret and may only be written into a Secret") {
		t.Error(err)
	}
}

func TestSealedIntoSecrets(t *testing.T) {
	const head = "apiVersion: v1\nkind: Secret\n"
	for _, tt := range []row{
		{"whole", `data: {{ (child "secret").data }}`, `{data: {password: YzRuNHJ5IQ==, json: eyJwIjoiYzRuNHJ5ISJ9}}`},
		{"entries", "data:\n  a: eA==\n  {{- toYaml (omit (child \"secret\").data \"json\") | nindent 2 }}",
			`{data: {a: eA==, password: YzRuNHJ5IQ==}}`},
		{"keys are known", "stringData:\n{{- range $k, $v := (child \"secret\").data }}\n  {{ $k }}: {{ b64dec $v }}\n{{- end }}",
			`{stringData: {password: c4n4ry!, json: '{"p":"c4n4ry!"}'}}`},
		{"in a text", `stringData: {url: "http://u:{{ stable "secret" "password" 5 }}@{{ .metadata.name }}"}`,
			`{stringData: {url: "http://u:dr4wn@web"}}`},
		{"in a block", "stringData:\n  a: |\n    p={{ (child \"secret\").data.password | b64dec | quote }}\n",
			`{stringData: {a: "p=\"c4n4ry!\"\n"}}`},
		{"by include", "stringData:\n  {{- include \"secretMap\" . | nindent 2 }}", `{stringData: {p: YzRuNHJ5IQ==}}`},
		{"what it says of itself", `metadata: {name: {{ (child "secret").metadata.name }}, labels: {{ (child "secret").metadata.labels }}}` +
			"\ntype: {{ (child \"secret\").type }}", `{metadata: {name: pw, labels: {app: web}}, type: Opaque}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := in(t, town(), secretPartials+head+tt.text)
			if err != nil {
				t.Fatal(err)
			}
			want := fromYAML(t, tt.want).(map[string]any)
			want["apiVersion"], want["kind"] = "v1", "Secret"
			if diff := cmp.Diff([]any{want}, throughJSON(t, got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestNotSealed(t *testing.T) {
	const pw = `(child "secret").data.password`
	for _, tt := range []row{
		{"booleans", "a: {{ eq " + pw + " \"x\" }}\nb: {{ hasKey (child \"secret\").data \"password\" }}\nc: {{ not " + pw +
			" }}\nd: {{ contains \"Y\" " + pw + " }}\ne: {{ empty " + pw + " }}", `{a: false, b: true, c: false, d: true, e: false}`},
		{"lengths", "a: {{ len " + pw + " }}\nb: {{ len (child \"secret\").data }}\nc: {{ len (children \"secret\") }}", `{a: 12, b: 2, c: 1}`},
		{"keys", `a: {{ keys (child "secret").data }}`, `{a: [json, password]}`},
		{"keys of a range", "a:\n{{- range $k, $v := (child \"secret\").data }}\n- {{ $k }}\n{{- end }}", `{a: [json, password]}`},
		{"keys of some", "a:\n{{- range $k, $v := omit (child \"secret\").data \"json\" }}\n- {{ $k }}\n{{- end }}", `{a: [password]}`},
		{"checksums",
			"a: {{ " + pw +
				" | sha256sum | trunc 8 }}\nb: {{ toJson (child \"secret\").data | sha1sum | trunc 8 }}\nc: {{ rendered \"secret\" | sha512sum | trunc 8 }}\nd: {{ adler32sum " + pw + " }}",
			`{a: "8bbf6684", b: "ebc97347", c: "5afbe76a", d: "448922564"}`},
		{"a choice", "a: {{ if eq " + pw + " \"x\" }}x{{ else }}z{{ end }}\nb: {{ ternary 1 2 (empty " + pw + ") }}", `{a: z, b: 2}`},
		{"what a Secret says of itself",
			"{{ with child \"secret\" }}a: {{ .kind }}\nb: {{ .metadata.name }}\nc: {{ .type }}\nd: {{ .metadata.labels.app }}\ne: {{ .apiVersion }}{{ end }}", `{a: Secret, b: pw, c: Opaque, d: web, e: v1}`},
		{"metadata kept", "{{ $m := (child \"secret\").metadata }}a: {{ $m.name }}\nb: {{ range $k, $v := $m.labels }}{{ $k }}{{ end }}",
			`{a: pw, b: app}`},
		{"names of a selection",
			"a:\n{{- range select \"v1\" \"Secret\" (dict \"matchLabels\" (dict \"app\" \"web\")) }}\n- {{ .metadata.name }}\n{{- end }}\nb: {{ (first (children \"secret\")).metadata.name }}", `{a: [pw], b: pw}`},
		{"other objects among Secrets",
			"a: {{ range children \"both\" }}{{ .data.color }}{{ end }}\nb: {{ (child \"both\").data.color }}\nc: {{ (index (children \"both\") 0).data.color }}", ``},
		{"absence", "a: {{ (child \"secret\").data.nope | default \"x\" }}\nb: {{ (child \"secret\").nope.deep }}", `{a: x}`},
		{"beside a secret", "{{ $pw := " + pw + " }}a: {{ .spec.image }}\nb: {{ include \"name\" . }}\nc: {{ default .spec.image $pw | len }}",
			`{a: nginx, b: web-x, c: 12}`},
		{"comments", "# {{ " + pw + " }}\na: 1", `a: 1`},
		{"another's checksum", `a: {{ rendered "config" | trunc 5 }}`, `a: "data:"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := in(t, town(), tt.text)
			if tt.want == "" {
				if err == nil || !contains(err.Error(), "range children") && !contains(err.Error(), "is nil") {
					t.Fatal(got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{fromYAML(t, tt.want)}, throughJSON(t, got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestSealedMessages(t *testing.T) {
	for _, text := range []string{
		`{{ fail (child "secret").data.password }}`, `{{ printf "no %s" (stable "secret" "p" 9) | fail }}`,
		`{{ wait (toYaml (child "secret")) }}`,
		`{{ required (include "secretText" .) .spec.nope }}`, `{{ $m := quote (child "secret").data.password }}{{ fail $m }}`,
	} {
		err := errorIn(t, town(), secretPartials+text)
		var failure *Failure
		var wait *Wait
		if !errors.As(err, &failure) && !errors.As(err, &wait) || !strings.HasSuffix(err.Error(), sealedMessage) {
			t.Errorf("%s: %v", text, err)
		}
	}
	refusedIn(t, town(), `{{ required "give one" (child "secret").data.nope }}`, "give one")
	for _, text := range []string{
		`{{ lookup "v1" "ConfigMap" "" (child "secret").data.password }}`,
		`{{ lookup "v1" "ConfigMap" (b64dec (child "secret").data.password) "x" }}`,
		`{{ select "v1" "Pod" (dict "matchLabels" (dict "a" (child "secret").data.password)) }}`,
	} {
		refusedIn(t, town(), text, "what is read may not depend on a value that was read from a Secret")
	}
}

// TestSealedNumbers: how often a loop runs would show the number.
func TestSealedNumbers(t *testing.T) {
	const four = `(child "secret").data.password | b64dec | substr 1 2 | atoi`
	if _, err := in(t, town(), `a: "{{ range len (child "secret").data }}x{{ end }}"`); err != nil {
		t.Error(err)
	}
	for _, number := range []string{four, four + " | add 1", "first (list (" + four + "))", "ternary (" + four + ") 1 true"} {
		for _, text := range []string{"a: \"{{ range %s }}x{{ end }}\"", "{{ range $i := %s }}a{{ $i }}: 1\n{{ end }}",
			"{{ with $n := %s }}{{ range . }}\n---\na: 1{{ end }}{{ end }}"} {
			refusedIn(t, town(), fmt.Sprintf(text, number), "range over a number that was read from a Secret would show the number")
		}
	}
}
