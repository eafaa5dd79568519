package faults

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// large is a number of bytes that one object may just have.
const large = 900_000

// TestLargeChild: a child of 900 KB is made, is at rest, is changed and is put
// back when somebody changes it.
func TestLargeChild(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": strings.Replace(configMap, "{{ .spec.text }}",
		fmt.Sprintf("{{ repeat %d .spec.text }}", large), 1)})
	says := func(letter string) {
		t.Helper()
		kit.Eventually(t, "the child says "+letter, func() error {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
			if err != nil {
				return err
			}
			if text, _, _ := unstructured.NestedString(o.Object, "data", "text"); text != strings.Repeat(letter, large) {
				return fmt.Errorf("it has %d bytes of %.1s", len(text), text)
			}
			return nil
		})
		s.rests(rest{children: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"})
	}
	s.web("text: p")
	says("p")
	s.web("text: q")
	says("q")
	s.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"data":{"text":"mine"}}`)
	says("q")
}

// TestManyChildren: a resource has more children than its status lists: all are made,
// changed and pruned, and its status stays small.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	s := build(t,
		map[string]string{"map.yaml": "{{- range $i := until (int .spec.count) }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n" +
			"  name: {{ $.metadata.name }}-{{ $i }}\ndata:\n  text: {{ $.spec.text }}\n{{- end }}\n"})
	for _, step := range []struct {
		text  string
		count int64
	}{{"one", 120}, {"two", 120}, {"two", 20}, {"three", 120}} {
		s.web(fmt.Sprintf("text: %s, count: %d", step.text, step.count))
		s.ready()
		// Those that the file does not render any more go once the resource is ready.
		kit.Eventually(t, "its children are as rendered", func() error {
			texts := map[string]int64{}
			for _, o := range cluster.List(t, "v1", "ConfigMap", client.InNamespace(s.namespace), client.HasLabels{"jacquard.dev/owner-uid"}) {
				text, _, _ := unstructured.NestedString(o.Object, "data", "text")
				texts[text]++
			}
			if len(texts) != 1 || texts[step.text] != step.count {
				return fmt.Errorf("there are %v, want %d times %s", texts, step.count, step.text)
			}
			return nil
		})
		kit.Eventually(t, "the status counts them", func() error {
			return within(map[string]any{"status": map[string]any{"childrenTotal": step.count, "childrenReady": step.count}}, s.owner().Object, "")
		})
		if status, err := json.Marshal(s.owner().Object["status"]); err != nil || len(status) > 32<<10 {
			t.Errorf("the status has %d bytes: %v", len(status), err)
		}
	}
	mark := cluster.Mark(t)
	s.settles(rest{})
	s.restart()
	s.settles(rest{})
	if sent := kit.Writes(s.sent(mark)); len(sent) > 1 { // counts may come late
		t.Errorf("at rest %d writes were sent, first %v", len(sent), sent[0])
	}
}

// TestLargeStatus: what status.yaml says is near the limit of what the server
// takes, and then, with the resource, beyond it. Then that part is left out; the
// status says so, and all else goes on.
func TestLargeStatus(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{
		"map.yaml":    configMap,
		"status.yaml": fmt.Sprintf("note: {{ repeat (ternary %d 1 .spec.large) \"x\" }}\n", large),
	})
	crd := strings.Replace(strings.ReplaceAll(kit.WebCRD, "GROUP", s.group), "              observedGeneration",
		"              note: {type: string}\n              observedGeneration", 1)
	kit.Write(t, s.root, map[string]string{"crds/webs." + s.group + ".yaml": crd})
	cluster.Apply(t, "", crd)
	notes := func(bytes int) {
		t.Helper()
		kit.Eventually(t, fmt.Sprintf("the status has a note of %d bytes", bytes), func() error {
			if note, _, _ := unstructured.NestedString(s.owner().Object, "status", "note"); len(note) != bytes {
				return fmt.Errorf("%d bytes", len(note))
			}
			return nil
		})
	}
	s.web("text: one, large: true")
	notes(large)
	s.rests(rest{children: wantConfigMap})
	s.web("text: one, large: false")
	notes(1)
	s.web("text: one, large: false, more: " + strings.Repeat("x", large))
	s.ready()
	s.patch(s.apiVersion(), "Web", "a", "person", `{"spec":{"text":"two","large":true}}`) // both together are more than etcd takes
	changed := strings.Replace(wantConfigMap, "text: one", "text: two", 1)
	s.says(changed)
	s.is("Stalled", "True", "StatusInvalid")
	t.Log(s.message())
	s.rests(rest{children: changed, because: "StatusInvalid"})
	s.web("text: two, large: true")
	notes(large)
	s.rests(rest{children: changed})
}
