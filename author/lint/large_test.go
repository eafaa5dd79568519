package lint

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// largeCRD has n parts, each of which one file of the folder is about.
func largeCRD(n int) string {
	var b strings.Builder
	b.WriteString(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: larges.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Large, plural: larges, singular: large, listKind: LargeList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              team: {type: string}
`)
	for i := range n {
		fmt.Fprintf(&b, `              part%d:
                type: object
                properties:
                  enabled: {type: boolean, default: false}
                  replicas: {type: integer, default: 1}
                  image: {type: string, default: nginx}
                  tag: {type: string}
                  priority: {type: string}
                  args: {type: array, items: {type: string}}
                  env: {type: object, additionalProperties: {type: string}}
                  labels: {type: object, additionalProperties: {type: string}}
                  resources: {type: object, x-kubernetes-preserve-unknown-fields: true}
                  service:
                    type: object
                    default: {}
                    properties:
                      port: {type: integer, default: 80}
                      type: {type: string}
                default: {}
`, i)
	}
	return b.String()
}

const largePartials = `{{- define "labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: {{ .root.metadata.name }}
{{- with .root.spec.team }}
team: {{ . | quote }}
{{- end }}
{{- end }}
`

// largeFile is a file as charts have them, about one part: 50 lines.
const largeFile = `{{- $p := .spec.partN }}
{{- if $p.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ childName .metadata.name "partN" }}
  labels:
    {{- include "labels" (dict "root" . "name" "partN") | nindent 4 }}
    {{- with $p.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  replicas: {{ $p.replicas }}
  selector:
    matchLabels:
      app.kubernetes.io/name: partN
  template:
    metadata:
      labels:
        {{- include "labels" (dict "root" . "name" "partN") | nindent 8 }}
    spec:
      {{- if $p.priority }}
      priorityClassName: {{ $p.priority }}
      {{- end }}
      containers:
      - name: main
        {{- if $p.tag }}
        image: {{ $p.image }}:{{ $p.tag }}
        {{- else }}
        image: {{ $p.image }}
        {{- end }}
        {{- if $p.args }}
        args:
        {{- range $p.args }}
        - {{ . }}
        {{- end }}
        {{- end }}
        {{- if $p.env }}
        env:
        {{- range $k, $v := $p.env }}
        - name: {{ $k }}
          value: {{ $v | quote }}
        {{- end }}
        {{- end }}
        {{- with $p.resources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        ports:
        - name: http
          containerPort: {{ $p.service.port }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ childName .metadata.name "partN" }}
  labels:
    {{- include "labels" (dict "root" . "name" "partN") | nindent 4 }}
spec:
  {{- if $p.service.type }}
  type: {{ $p.service.type }}
  {{- end }}
  selector:
    app.kubernetes.io/name: partN
  ports:
  - name: http
    port: {{ $p.service.port }}
    targetPort: http
{{- end }}
`

// large writes a folder with so many lines of templates, in files of as many,
// and returns its root. Partial stands for largePartials, unless it is empty.
func large(tb testing.TB, lines, inFile int, partial string) string {
	tb.Helper()
	one := strings.Count(largeFile, "\n")
	root := tb.TempDir()
	files := map[string]string{"crds/larges.example.com.yaml": largeCRD(lines / one),
		"templates/larges.example.com/_h.tpl": cmp.Or(partial, largePartials)}
	for i := range lines / one {
		name := fmt.Sprintf("templates/larges.example.com/f%d.yaml", i*one/inFile)
		if text := files[name]; text != "" && !strings.HasSuffix(text, "---\n") {
			files[name] += "---\n"
		}
		files[name] += strings.ReplaceAll(largeFile, "partN", fmt.Sprintf("part%d", i))
	}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

// largeForms are the ways in which the lines may be parted among files, and
// whether each file calls a partial with many branches.
var largeForms = []struct {
	name    string
	inFile  int
	partial string
}{
	{"small files", 70, ""}, {"files", 700, ""}, {"one file", 1 << 20, ""}, {"many branches", 70, manyBranches()},
}

// manyBranches is a partial as libraries have them, called for each label.
func manyBranches() string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "{{- if index $.root.spec.part0.labels \"l%d\" }}\nl%d: {{ $.name }}\n{{- end }}\n", i, i)
	}
	return strings.Replace(largePartials, "{{- end }}\n{{- end }}", "{{- end }}\n"+b.String()+"{{- end }}", 1)
}

// TestLargeFolder: what loading and linting a folder make, in bytes, grows with
// its lines, and every branch of a large one is followed.
func TestLargeFolder(t *testing.T) {
	for _, form := range largeForms {
		t.Run(form.name, func(t *testing.T) {
			some, _ := lintLarge(t, large(t, 1250, form.inFile, form.partial))
			more, flow := lintLarge(t, large(t, 5000, form.inFile, form.partial))
			t.Logf("%d MiB and %d MiB", some>>20, more>>20)
			if more > 7*some {
				t.Errorf("1250 lines make %d MiB, 5000 make %d MiB", some>>20, more>>20)
			}
			if len(flow.Cut) > 0 {
				t.Errorf("%d files were not followed to their end", len(flow.Cut))
			}
		})
	}
}

// lintLarge loads and lints the folder of a root and tells how many bytes that
// takes.
func lintLarge(tb testing.TB, root string) (made uint64, followed *typecheck.Flow) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := catalog.Load([]string{root})
	if err != nil || len(c.Faults()) > 0 {
		tb.Fatal(err, c.Faults())
	}
	l := &linter{catalog: c, name: "larges.example.com"}
	l.checkTemplates()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, l.flow
}

func BenchmarkLarge(b *testing.B) {
	for _, form := range largeForms {
		b.Run(strings.ReplaceAll(form.name, " ", "_"), func(b *testing.B) {
			root := large(b, 5000, form.inFile, form.partial)
			var load time.Duration
			for b.Loop() {
				began := time.Now()
				c, err := catalog.Load([]string{root})
				if err != nil {
					b.Fatal(err)
				}
				load += time.Since(began)
				Check(context.Background(), c, "larges.example.com")
			}
			b.ReportMetric(load.Seconds()/float64(b.N), "load-s/op")
		})
	}
}
