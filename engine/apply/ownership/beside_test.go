package ownership_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// TestDisplacers: only where an entry of ours is missing, and somebody owns another one in
// the same list, is the live object worth a look.
func TestDisplacers(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(map[string]any)
		change func(map[string]any)
		want   []string
		beside []string
	}{
		"nothing": {},
		"a renamed container": {
			edit:   edit(container, "name", "side", func(m map[string]any) { m["name"] = "renamed" }),
			want:   []string{them},
			beside: []string{"spec.template.spec.containers[name=renamed] somebody"}},
		"a mount path": {
			edit: edit(container, "name", "web", func(m map[string]any) {
				item(m, "mountPath", "/tmp", "volumeMounts")["mountPath"] = "/other"
			}),
			want:   []string{them},
			beside: []string{"spec.template.spec.containers[name=web].volumeMounts[mountPath=/other] somebody"}},
		"a sidecar": {
			edit:   appendItem(container, "{name: proxy, image: proxy}"),
			beside: []string{"spec.template.spec.containers[name=proxy] somebody"}},
		"a sidecar, while the template adds a container": {
			edit:   appendItem(container, "{name: proxy, image: proxy}"),
			change: appendItem(container, "{name: more, image: more}"),
			want:   []string{them},
			beside: []string{"spec.template.spec.containers[name=proxy] somebody"}},
		"a sidecar, while the template adds a port": {
			edit: appendItem(container, "{name: proxy, image: proxy}"),
			change: edit(container, "name", "web", func(m map[string]any) {
				m["ports"] = append(m["ports"].([]any), map[string]any{"containerPort": int64(9)})
			}),
			beside: []string{"spec.template.spec.containers[name=proxy] somebody"}},
		"a deleted container": {
			edit: func(m map[string]any) {
				at := strings.Split(container, "/")
				items, _, _ := unstructured.NestedSlice(m, at...)
				if err := unstructured.SetNestedSlice(m, items[:1], at...); err != nil {
					panic(err)
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := read(t, deploymentText)
			s := serve(t, doc)
			s.apply(doc, us)
			if c.edit != nil {
				s.update(them, c.edit)
			}
			if c.change != nil {
				c.change(doc)
			}
			if got := ownership.Displacers(s.ManagedFields(), doc, us); !slices.Equal(got, c.want) {
				t.Errorf("Displacers: got %q, want %q", got, c.want)
			}
			var beside []string
			live := s.Live().(*unstructured.Unstructured)
			for _, f := range ownership.Beside(live.Object, live.GetManagedFields(), us) {
				beside = append(beside, f.Path+" "+strings.Join(f.Managers, ","))
			}
			if !slices.Equal(beside, c.beside) {
				t.Errorf("Beside: got %q, want %q", beside, c.beside)
			}
		})
	}
}

// TestRelinquished: others lose what the document has, an entry without fields goes, and
// entries of subresources stay.
func TestRelinquished(t *testing.T) {
	doc := read(t, serviceText)
	s := serve(t, doc)
	s.update("helm", func(m map[string]any) {
		m["spec"] = read(t, serviceText)["spec"]
		appendItem("spec/ports", "{name: more, port: 9, protocol: TCP}")(m)
	})
	s.apply(doc, "kubectl")
	managed := append(s.ManagedFields(), entry("autoscaler", "Update", "scale", `{"f:spec":{"f:ports":{}}}`))
	rest, changed := ownership.Relinquished(managed, doc, us)
	if !changed {
		t.Error("nothing changed")
	}
	var got string
	for _, m := range rest {
		got += m.Manager + " " + m.FieldsV1.GetRawString() + "\n"
	}
	want := `helm {"f:spec":{"f:ports":{"k:{\"port\":9,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}
autoscaler {"f:spec":{"f:ports":{}}}
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, again := ownership.Relinquished(rest, doc, us); again {
		t.Error("it changes twice")
	}
	rest, _ = ownership.Relinquished(managed[:1], read(t, serviceText), "nobody")
	if len(rest) == 0 {
		t.Error("an empty list would be as none given")
	}
}
