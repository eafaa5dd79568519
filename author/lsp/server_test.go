package lsp

import (
	"slices"
	"strings"
	"testing"
)

const (
	app        = "apps.app.huolala.cn"
	deployment = "templates/" + app + "/deployment.yaml"
	service    = "templates/" + app + "/service.yaml"
	status     = "templates/" + app + "/status.yaml"
	ports      = "templates/" + app + "/_ports.tpl"
	crd        = "crds/" + app + ".yaml"
	example    = "examples/" + app + ".yaml"
)

// TestDiagnostics: findings are told as lint gives them, at once for what a file shows by
// itself, and then for what the kind shows.
func TestDiagnostics(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(deployment)
	e.finds(deployment)
	e.replace(deployment, ".spec.image", ".spec.imgae")
	e.finds(deployment, "20:19 unknown-field App v1 has no field spec.imgae; did you mean spec.image?")
	e.replace(deployment, "{{ .spec.imgae }}", "{{ .spec.image")
	e.finds(deployment, "21:1 syntax ")
	e.replace(deployment, "{{ .spec.image", `é𝒳 {{ .spec.imgae }}`)
	// A character beyond 16 bits counts twice.
	e.finds(deployment, "20:23 unknown-field ")
	e.replace(deployment, `é𝒳 {{ .spec.imgae }}`, "{{ .spec.image }}")
	e.replace(deployment, "env: {{ .spec.envs }}", "env: []")
	// That nothing reads the variables is found when nothing is typed.
	e.until("the CRD has a field that nothing reads", func() bool {
		return slices.ContainsFunc(e.found(crd), func(f string) bool { return strings.Contains(f, "unused-field no template reads spec.envs") })
	})
	e.finds(deployment)
	e.replace(deployment, "env: []", "env: {{ .spec.envs }}")
	e.until("nothing is wrong with the CRD", func() bool { return len(e.found(crd)) == 0 })

	e.open(example)
	e.replace(example, "image:", "imgae:")
	e.until("the example is refused", func() bool {
		return slices.ContainsFunc(e.found(example), func(f string) bool { return strings.Contains(f, "example") && strings.Contains(f, "imgae") })
	})
	e.open(crd)
	e.replace(crd, "openAPIV3Schema:", "openAPIV3Shcema:")
	e.until("the CRD does not parse", func() bool { return len(e.found(crd)) > 0 && e.current(crd) })
}

// TestRestMoves: what only the whole kind shows stays at its line while the file is typed
// in.
func TestRestMoves(t *testing.T) {
	root := copied(t, app)
	write(t, root, "templates/"+app+"/_more.tpl", "{{ define \"unused\" }}a: b{{ end }}\n")
	e := startEditor(t, root)
	const more = "templates/" + app + "/_more.tpl"
	e.open(more)
	e.finds(more, `1:1 unused-partial nothing calls "unused"`)
	e.set(more, "\n\n"+e.texts[more])
	e.finds(more, `3:1 unused-partial nothing calls "unused"`)
}

func TestCompletion(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(deployment)
	e.open(status)
	e.open(ports)
	e.open(service)
	e.open(example)
	for _, tt := range []struct {
		file, old, with string // what is typed in the place of what is there
		at              string
		want, not       []string
	}{
		{deployment, "{{ .spec.image }}", "{{ .spec.", "image: {{ .spec.‸", []string{"image", "replicas", "ports", "envs"}, []string{"metadata"}},
		{deployment, "{{ .spec.image }}", "{{ .spec.im }}", "{{ .spec.im‸ }}", []string{"image"}, nil},
		{deployment, "{{ .spec.image }}", "{{ $.", "image: {{ $.‸", []string{"spec", "metadata"}, nil},
		{deployment, ".spec.image }}", "(child \"service\").spec.", "(child \"service\").spec.‸", []string{"clusterIP"}, []string{"image"}},
		{deployment, ".spec.image }}", "child \"", "{{ child \"‸", []string{"deployment", "service"}, []string{"status"}},
		{deployment, "{{ .spec.image }}", "{{ $x := .spec }}{{ $x.", "{{ $x.‸", []string{"image"}, nil},
		{deployment, "{{ .spec.image }}", "{{ $x := .spec }}{{ $", "}}{{ $‸", []string{"$", "$x"}, nil},
		{deployment, "{{ .spec.image }}", "{{ range .spec.ports }}{{ if eq .", "{{ if eq .‸", []string{"port", "protocol"}, []string{"spec"}},
		{deployment, ".spec.image }}", "lookup \"apps", "lookup \"apps‸", []string{"apps/v1", "app.huolala.cn/v1", "v1"}, nil},
		{deployment, ".spec.image }}", "lookup \"apps/v1\" \"", "lookup \"apps/v1\" \"‸", []string{"Deployment", "StatefulSet"}, []string{"Pod"}},
		{deployment, ".spec.image }}", ".spec.image | def", "| def‸", []string{"default", "ifNil"}, []string{"if"}},
		{deployment, ".spec.image }}", "inc", "image: {{ inc‸", []string{"include", "if", "range"}, nil},
		{deployment, "imagePullPolicy: IfNotPresent", "imageP", "        imageP‸\n", []string{"imagePullPolicy", "livenessProbe"}, []string{"image", "ports"}},
		{deployment, "imagePullPolicy: IfNotPresent", "terminationMessagePolicy: ", "terminationMessagePolicy: ‸\n", []string{"File", "FallbackToLogsOnError"}, nil},
		{deployment, "containerPorts\" . }}", "", "{{ include \"‸", []string{"containerPorts"}, nil},
		{deployment, "\napiVersion: apps/v1\n", "\napiVersion: app\n", "\napiVersion: app‸\n", []string{"apps/v1"}, nil},
		{deployment, "\nkind: Deployment\n", "\nkind: \n", "\nkind: ‸\n", []string{"StatefulSet"}, []string{"Service"}},
		{ports, "kindIs \"string\" .targetPort }}\n", "kindIs \"string\" .tar\n", "kindIs \"string\" .tar‸\n", []string{"targetPort", "port", "protocol"}, []string{"spec"}},
		{ports, "$pair }}\n", "$pair }}\n  host\n", "\n  host‸\n", []string{"hostPort", "hostIP"}, []string{"name", "containerPort", "protocol"}},
		{status, "readyReplicas: {{ .readyReplicas }}", "ready", "\nready‸\n", []string{"readyReplicas"}, []string{"replicas", "spec"}},
		{status, "{{ .updatedReplicas }}", "{{ .u", "updatedReplicas: {{ .u‸", []string{"updatedReplicas"}, []string{"spec"}},
		{service, "  selector:", "  ses\n  selector:", "  ses‸\n", []string{"sessionAffinity", "type"}, []string{"selector", "ports"}},
		{example, "  replicas: 2", "  rep", "  rep‸\n", []string{"replicas"}, []string{"image"}},
	} {
		was := e.texts[tt.file]
		e.set(tt.file, strings.Replace(was, tt.old, tt.with, 1))
		got := e.completes(tt.file, tt.at)
		for _, w := range tt.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %s: %s is not offered, only %q", tt.file, tt.at, w, got)
			}
		}
		for _, n := range tt.not {
			if slices.Contains(got, n) {
				t.Errorf("%s: %s: %s is offered", tt.file, tt.at, n)
			}
		}
		e.set(tt.file, was)
	}
}

func TestHover(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, file := range []string{deployment, status, ports} {
		e.open(file)
	}
	for _, tt := range []struct {
		file, at string
		want     []string
	}{
		{deployment, "{{ .spec.im‸age }}", []string{".spec.image: string", "`spec.image` of the resource (App)", "crds/apps.app.huolala.cn.yaml:"}},
		{deployment, "{{ incl‸ude", []string{"include name x", "as structure"}},
		{deployment, "include \"contain‸erPorts\"", []string{"Partial `containerPorts`, templates/apps.app.huolala.cn/_ports.tpl:3"}},
		{deployment, "  rep‸licas: {{", []string{"spec.replicas: integer", "Number of desired pods"}},
		{deployment, "imagePull‸Policy", []string{"`Never`"}},
		{status, "{{ .readyRep‸licas }}", []string{"integer", "`status.readyReplicas` of Deployment apps/v1, the child of `deployment.yaml`", "may be absent"}},
		{status, "child \"deploy‸ment\"", []string{"Deployment apps/v1"}},
		{ports, "{{- $num‸ber := .port }}", []string{"`spec.ports[].port` of the resource"}},
		{ports, "printf \"%d/%s\" $number .proto‸col", []string{"`spec.ports[].protocol`"}},
	} {
		var h *hover
		e.call("textDocument/hover", e.at(tt.file, tt.at), &h)
		for _, w := range tt.want {
			if h == nil || !strings.Contains(h.Contents.Value, w) {
				t.Errorf("%s: %s: got %s, without %q", tt.file, tt.at, shown(h), w)
			}
		}
	}
}

// places are locations as file:line:column.
func (e *editor) places(all []location) []string {
	var out []string
	for _, l := range all {
		out = append(out, strings.TrimPrefix(l.URI, uriOf(e.root)+"/")+":"+shown(l.Range.Start.Line+1)+":"+shown(l.Range.Start.Character+1))
	}
	return out
}

func TestDefinitionAndReferences(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, file := range []string{deployment, status, ports, service, crd} {
		e.open(file)
	}
	for _, tt := range []struct {
		method, file, at string
		want             []string
	}{
		{"definition", deployment, "include \"contain‸erPorts\"", []string{ports + ":3:13"}},
		{"definition", deployment, ".spec.im‸age", []string{crd + ":"}},
		{"definition", status, "child \"deploy‸ment\"", []string{deployment + ":1:1"}},
		{"definition", ports, "$number .proto‸col", []string{crd + ":"}},
		{"definition", ports, "printf \"%d/%s\" $num‸ber", []string{ports + ":17:7"}},
		{"references", ports, "define \"contain‸erPorts\"", []string{ports + ":3:13", deployment + ":24:28"}},
		{"references", deployment, ".spec.im‸age", []string{deployment + ":20:25", crd + ":"}},
		{"references", status, "child \"deploy‸ment\"", []string{status + ":2:18"}},
	} {
		var got []location
		e.call("textDocument/"+tt.method, e.at(tt.file, tt.at), &got)
		places := e.places(got)
		if len(places) != len(tt.want) || slices.ContainsFunc(tt.want, func(w string) bool {
			return !slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(p, w) })
		}) {
			t.Errorf("%s %s: %s: got %q, want %q", tt.method, tt.file, tt.at, places, tt.want)
		}
	}
	// From the CRD to the templates, and back.
	var there, back []location
	e.call("textDocument/definition", e.at(deployment, ".spec.im‸age"), &there)
	e.call("textDocument/definition", map[string]any{"textDocument": map[string]any{"uri": there[0].URI}, "position": there[0].Range.Start}, &back)
	if got := e.places(back); !slices.Equal(got, []string{deployment + ":20:25"}) {
		t.Errorf("from %s: got %q", shown(there), got)
	}
}

func TestRename(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, file := range []string{deployment, ports} {
		e.open(file)
	}
	at := e.at(deployment, "include \"contain‸erPorts\"")
	var prepared struct{ Placeholder string }
	e.call("textDocument/prepareRename", at, &prepared)
	if prepared.Placeholder != "containerPorts" {
		t.Errorf("got %v", prepared)
	}
	at["newName"] = "app.ports"
	var got workspaceEdit
	e.call("textDocument/rename", at, &got)
	for _, file := range []string{deployment, ports} {
		want := strings.ReplaceAll(e.texts[file], "\"containerPorts\"", "\"app.ports\"")
		if text := e.applied(file, got.Changes); text != want {
			t.Errorf("%s is\n%s", file, text)
		}
		e.set(file, e.applied(file, got.Changes))
	}
	e.finds(ports)
	e.finds(deployment)
	e.set(ports, e.texts[ports]+"\n{{ define \"other\" }}{{ end }}\n")
	for name, part := range map[string]string{"other": "defines \"other\" already", "a\"b": "cannot be the name", "": "cannot be the name"} {
		at := e.at(ports, "define \"app.‸ports\"")
		at["newName"] = name
		if err := e.try("textDocument/rename", at, nil); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

// TestActions: each edit mends its finding.
func TestActions(t *testing.T) {
	root := copied(t, app)
	const optional = "pages.example.com"
	write(t, root, "crds/"+optional+".yaml", page)
	write(t, root, "templates/"+optional+"/page.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n"+
		"  text: a {{ .spec.text }}\n")
	e := startEditor(t, root)
	for _, file := range []string{deployment, crd, "crds/" + optional + ".yaml"} {
		e.open(file)
	}
	act := func(file, code, title string) map[string][]textEdit {
		t.Helper()
		for _, d := range e.told[file].Diagnostics {
			var got []codeAction
			e.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri(file)}, "range": d.Range,
				"context": map[string]any{"diagnostics": []diagnostic{d}}}, &got)
			for _, a := range got {
				if strings.HasPrefix(a.Title, title) && d.Code == code {
					return a.Edit.Changes
				}
			}
		}
		t.Fatalf("%s: no action %q for %s; there is %s", file, title, code, shown(e.told[file]))
		return nil
	}
	e.replace(deployment, "imagePullPolicy: IfNotPresent", "stdin: {{ .spec.interactive }}")
	e.finds(deployment, "21:19 unknown-field")
	changes := act(deployment, "unknown-field", "Declare spec.interactive in crds/")
	if text := e.applied(crd, changes); !strings.Contains(text, "interactive: {type: boolean}") {
		t.Errorf("the CRD is\n%s", text)
	}
	e.set(crd, e.applied(crd, changes))
	e.finds(crd)
	e.finds(deployment)

	e.replace(deployment, "{{ .spec.replicas }}", "{{ .spec.replicas | default 2 }}")
	e.finds(deployment, "9:33 falsy")
	e.set(deployment, e.applied(deployment, act(deployment, "falsy", "Use ifNil")))
	e.finds(deployment)
	e.replace(deployment, "ifNil 2", "default 2")
	e.finds(deployment, "9:33 falsy")
	e.set(deployment, e.applied(deployment, act(deployment, "falsy", "Silence falsy")))
	e.finds(deployment, "9:10 invalid-ignore this gives no reason", "10:33 falsy")
	e.replace(deployment, "jacquard:ignore falsy: ", "jacquard:ignore falsy: 0 is never meant ")
	e.finds(deployment)

	e.replace(deployment, "stdin: {{ .spec.interactive }}", "workingDir: /{{ .spec.interactive }}")
	e.finds(deployment, "22:25 nil")
	e.set(deployment, e.applied(deployment, act(deployment, "nil", "Use ifNil")))
	e.finds(deployment)
	if !strings.Contains(e.texts[deployment], `/{{ ifNil false .spec.interactive }}`) {
		t.Error(e.texts[deployment])
	}

	const other = "crds/" + optional + ".yaml"
	e.finds(other, "14:7 nil spec itself is not required")
	e.set(other, e.applied(other, act(other, "nil", "Add required: [spec]")))
	e.finds(other)
}

const page = `apiVersion: apiextensions.k8s.io/v1
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
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: self.metadata.name.size() <= 63, message: names have at most 63 characters}]
        properties:
          spec:
            type: object
            required: [text]
            properties:
              text: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func TestPreview(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(deployment)
	var got previewed
	e.call("workspace/executeCommand", map[string]any{"command": commandPreview, "arguments": []string{e.uri(deployment)}}, &got)
	if !strings.Contains(got.Text, "imagePullPolicy: IfNotPresent") {
		t.Errorf("got %s", got.Text)
	}
	last := func() string {
		if len(e.previews) == 0 {
			return ""
		}
		return e.previews[len(e.previews)-1].Text
	}
	e.replace(deployment, "IfNotPresent", "Always")
	e.until("the preview changed", func() bool { return strings.Contains(last(), "imagePullPolicy: Always") })
	e.replace(deployment, "{{ .spec.image }}", "{{ .spec.image")
	e.until("the preview says why there is none", func() bool {
		return strings.HasPrefix(last(), "# templates/"+app+"/deployment.yaml:21:")
	})
	e.call("workspace/executeCommand", map[string]any{"command": commandClose, "arguments": []string{e.uri(deployment)}}, nil)
}

// TestUntrusted: an untrusted workspace gets diagnostics only.
func TestUntrusted(t *testing.T) {
	e := startEditor(t, copied(t, app), map[string]any{"diagnosticsOnly": true})
	e.open(deployment)
	e.replace(deployment, ".spec.image", ".spec.imgae")
	e.finds(deployment, "20:19 unknown-field")
	if got := e.completes(deployment, "{{ .spec.‸imgae }}"); got != nil {
		t.Errorf("got %q", got)
	}
	err := e.try("workspace/executeCommand", map[string]any{"command": commandPreview, "arguments": []string{e.uri(deployment)}}, nil)
	if err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("got %v", err)
	}
}
