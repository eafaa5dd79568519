package children

import (
	"strings"
	"testing"
	"time"
)

// TestOneFails: a template that fails for one resource: nothing of that
// resource is applied or pruned, and its message has the place and no value.
func TestOneFails(t *testing.T) {
	t.Parallel()
	k := newThing(t, "onefails", with(plain(), map[string]string{
		"zz.yaml":   "{{ if ne .spec.text \"gone\" }}\n" + config("-zz", "{{ .spec.text }}") + "{{ end }}",
		"fail.yaml": "{{ if contains \"secret\" .spec.text }}\n" + config("-fail", "{{ .spec.text }}{{ index (list 1) 7 }}") + "{{ end }}",
	}))
	k.run(t)
	k.apply(t, "a", "text: one")
	k.apply(t, "b", "text: one")
	k.ready(t, "a", "b")

	k.apply(t, "a", "text: my-secret-qzjx")
	k.says(t, "a", "Stalled", "True", "RenderFailed", k.name()+"/fail.yaml:7:")
	k.says(t, "a", "Ready", "False", "RenderFailed")
	k.noValue(t, "a", "qzjx")
	k.data(t, "a", "one")
	k.apply(t, "b", "text: two")
	k.data(t, "b", "two")
	k.atRest(t, "a", "ConfigMap/a", "ConfigMap/a-zz")

	k.apply(t, "a", "text: gone")
	k.ready(t, "a")
	k.data(t, "a", "gone")
	k.atRest(t, "a", "ConfigMap/a")
	k.atRest(t, "b", "ConfigMap/b", "ConfigMap/b-zz")
}

// noValue checks that a value stands nowhere in a status or an event.
func (k *thing) noValue(t *testing.T, name, value string) {
	t.Helper()
	o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(events(t, k.ns, name), strings.Join(statusTexts(o.Object["status"]), "\n")) {
		if strings.Contains(text, value) {
			t.Errorf("a value is told: %s", text)
		}
	}
}

// statusTexts lists every string in a value.
func statusTexts(v any) []string {
	var texts []string
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			texts = append(texts, statusTexts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			texts = append(texts, statusTexts(item)...)
		}
	}
	return texts
}

// TestSuddenlyEmpty: a render that is suddenly empty prunes nothing, unless the
// kind says so.
func TestSuddenlyEmpty(t *testing.T) {
	t.Parallel()
	files := map[string]string{"map.yaml": "{{ if ne .spec.text \"none\" }}\n" + config("", "{{ .spec.text }}") + "{{ end }}"}
	k := newThing(t, "empty", files)
	k.run(t)
	k.apply(t, "a", "")
	k.ready(t, "a")
	k.apply(t, "a", "text: none")
	k.says(t, "a", "Stalled", "True", "EmptyRender", "allowEmpty")
	k.data(t, "a", "hello")
	k.atRest(t, "a", "ConfigMap/a")

	k.write(t, map[string]string{"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nallowEmpty: true\n"})
	k.ready(t, "a")
	k.data(t, "a", "")
	k.atRest(t, "a")
	k.apply(t, "a", "text: back")
	k.data(t, "a", "back")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
}

// TestBombs: a kind whose templates do not end, or make too much, is stalled;
// the others are served meanwhile.
func TestBombs(t *testing.T) {
	t.Parallel()
	bombs := map[string]string{
		"loop":   config("", "{{ range until 100000 }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}x"),
		"self":   "{{ define \"again\" }}{{ include \"again\" . }}{{ end }}" + config("", "{{ include \"again\" . }}"),
		"repeat": config("", "{{ repeat 1000000000 .spec.text }}"),
		"double": "{{ $s := .spec.text }}{{ range until 60 }}{{ $s = printf \"%s%s\" $s $s }}{{ end }}\n" + config("", "{{ $s }}"),
		"dict":   "{{ $d := dict }}{{ range until 40 }}{{ $d = dict \"a\" $d \"b\" $d }}{{ end }}\n" + config("", "{{ toJson $d }}"),
	}
	healthy := newThing(t, "bombhealthy", plain())
	var ill []*thing
	for name, text := range bombs {
		ill = append(ill, newThing(t, "bomb"+name, map[string]string{"map.yaml": text}))
	}
	healthy.run(t, ill...)
	for _, k := range ill {
		for _, resource := range []string{"a", "b", "c"} {
			k.apply(t, resource, "")
		}
	}
	for i := range 5 {
		text := strings.Repeat("x", i+1)
		healthy.apply(t, "h", "text: "+text)
		healthy.data(t, "h", text)
		time.Sleep(100 * time.Millisecond)
	}
	for _, k := range ill {
		for _, resource := range []string{"a", "c"} {
			k.says(t, resource, "Stalled", "True", "map.yaml:")
		}
		if len(list(t, "v1", "ConfigMap", k.ns)) != 1 { // the cluster's own kube-root-ca.crt
			t.Errorf("%s: something was applied", k.group)
		}
		k.atRest(t, "a")
	}
	healthy.atRest(t, "h", "ConfigMap/h")
}

// TestRefusedByAPI: a child that the API refuses is told with the place in the
// template that wrote the field; the other children are applied.
func TestRefusedByAPI(t *testing.T) {
	t.Parallel()
	k := newThing(t, "refused", with(plain(), map[string]string{"service.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  ports:
  - port: {{ .spec.count }}
`}))
	k.run(t)
	k.apply(t, "a", "count: 123456")
	k.says(t, "a", "Stalled", "True", "Invalid", "spec.ports[0].port", "service.yaml:7:14")
	k.noValue(t, "a", "123456")
	k.data(t, "a", "hello")
	told(t, k.ns, "a", "Warning Invalid", "service.yaml:7:14")
	k.atRest(t, "a", "ConfigMap/a")
	k.apply(t, "a", "count: 80")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a", "Service/a")
	told(t, k.ns, "a", "Normal Ready")
}
