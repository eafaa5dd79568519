package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// usual is the usual way at its best: text/template parsed once, its functions
// prepared once, and its output read as YAML.
type usual struct {
	files []*template.Template
	out   bytes.Buffer
}

func newUsual(t testing.TB) *usual {
	t.Helper()
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(v any) (string, error) {
		text, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	u := &usual{}
	for _, text := range []string{usualDeployment, usualService} {
		parsed, err := template.New("file").Funcs(functions).Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		u.files = append(u.files, parsed)
	}
	return u
}

func (u *usual) render(resource *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, file := range u.files {
		u.out.Reset()
		if err := file.Execute(&u.out, resource.Object); err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(u.out.Bytes())) == 0 {
			continue
		}
		raw, err := yaml.YAMLToJSON(u.out.Bytes())
		if err != nil {
			return nil, err
		}
		child := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, &child.Object); err != nil {
			return nil, err
		}
		all = append(all, child)
	}
	return all, nil
}

const usualDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
  namespace: {{ .metadata.namespace }}
  labels:
    app.example.com/v1: {{ .metadata.name }}
spec:
  replicas: {{ .spec.replicas }}
  selector:
    matchLabels:
      app.example.com/v1: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app.example.com/v1: {{ .metadata.name }}
    spec:
      containers:
      - name: {{ .metadata.name }}
        image: {{ .spec.image | quote }}
        imagePullPolicy: IfNotPresent
        {{- with .spec.envs }}
        env:
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with .spec.resources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- if .spec.ports }}
        ports:
        {{- $names := dict }}
        {{- range .spec.ports }}
        {{- if kindIs "string" .targetPort }}
        {{- $_ := set $names (printf "%d/%s" .port .protocol) .targetPort }}
        {{- end }}
        {{- end }}
        {{- $seen := dict }}
        {{- range .spec.ports }}
        {{- $number := .targetPort | default .port }}
        {{- if kindIs "string" .targetPort }}{{ $number = .port }}{{ end }}
        {{- $pair := printf "%d/%s" $number .protocol }}
        {{- if not (hasKey $seen $pair) }}
        {{- $_ := set $seen $pair true }}
        - containerPort: {{ $number }}
          protocol: {{ .protocol }}
          {{- with get $names $pair }}
          name: {{ . }}
          {{- end }}
        {{- end }}
        {{- end }}
        {{- end }}
`

const usualService = `{{- if .spec.ports }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
  namespace: {{ .metadata.namespace }}
spec:
  selector:
    app.example.com/v1: {{ .metadata.name }}
  ports:
  {{- toYaml .spec.ports | nindent 2 }}
{{- end }}
`

// app is the i-th resource: other values and other branches, as an API server
// would show it, defaults filled in.
func app(i int) *unstructured.Unstructured {
	spec := map[string]any{
		"replicas": int64(i % 11),
		"image":    fmt.Sprintf("registry.example.com/team-%d/web:1.%d", i%13, i),
	}
	if ports := appPorts(i); ports != nil {
		spec["ports"] = ports
	}
	var envs []any
	for n := range i / 2 % 4 {
		envs = append(envs, map[string]any{"name": fmt.Sprintf("SETTING_%d", n), "value": fmt.Sprintf("value %d of %d", n, i)})
	}
	if i%5 == 1 {
		envs = append(envs, map[string]any{"name": "PASSWORD", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": fmt.Sprintf("secret-%d", i), "key": "password"}}})
	}
	if envs != nil {
		spec["envs"] = envs
	}
	limits := map[string]any{"cpu": fmt.Sprintf("%dm", 100+i), "memory": fmt.Sprintf("%dMi", 64+i)}
	switch i % 3 {
	case 1:
		spec["resources"] = map[string]any{"limits": limits}
	case 2:
		spec["resources"] = map[string]any{"limits": limits, "requests": map[string]any{"cpu": "100m", "memory": "64Mi"}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "app.huolala.cn/v1", "kind": "App",
		"metadata": map[string]any{
			"name": fmt.Sprintf("app-%d", i), "namespace": fmt.Sprintf("team-%d", i%13),
			"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "generation": int64(1 + i%9),
		},
		"spec": spec,
	}}
}

// appPorts are no ports, one, or several.
func appPorts(i int) []any {
	web := map[string]any{"name": "web", "port": int64(8000 + i%500), "protocol": "TCP", "targetPort": int64(80 + i%7)}
	switch i % 4 {
	case 1:
		return []any{web}
	case 2:
		return []any{web, map[string]any{"name": "dns", "port": int64(53), "protocol": "UDP"}}
	case 3:
		return []any{web,
			map[string]any{"name": "metrics", "port": int64(9090), "protocol": "TCP", "targetPort": "metrics"},
			map[string]any{"name": "again", "port": int64(9091 + i%100), "protocol": "TCP", "targetPort": int64(9090)}}
	}
	return nil
}
