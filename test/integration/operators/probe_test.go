package operators

import (
	"fmt"
	"strings"
	"testing"
)

// TestProbeLost: whether the API takes an object again is asked by a dry run. One
// that was not answered says nothing, and is asked again.
func TestProbeLost(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n" +
		"    jacquard.dev/on-immutable: recreate\nimmutable: true\ndata:\n  text: {{ .spec.text }}\n"})
	w := newWire()
	w.set(kth(1, lose, func(r request) bool { return strings.HasPrefix(r.name, "probe-") }))
	s.start(w)
	for _, text := range []string{"one", "two"} {
		s.web("a", "text: "+text)
		s.until("the child says "+text, func() error {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
			if err == nil && fmt.Sprint(o.Object["data"]) != "map[text:"+text+"]" {
				err = fmt.Errorf("it says %v; the resource: %w", o.Object["data"], cluster.Ready(s.apiVersion(), "Web", s.namespace, "a"))
			}
			return err
		})
	}
}
