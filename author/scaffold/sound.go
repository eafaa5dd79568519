package scaffold

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// sound refuses what no API server takes and what would lead astray here: a
// name that is no text, and a key of a ConfigMap that would be the path of a
// file somewhere else.
func (m *manifest) sound() error {
	var errs []error
	fault := func(n *node, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %s %s: %w", m.source, n.Line, m.gvk.Kind, m.name, fmt.Errorf(format, args...)))
	}
	for _, key := range []string{"name", "namespace"} {
		n := at(m.node, "metadata", key)
		if n == nil {
			continue
		}
		if _, is := valueOf(n).(string); !is {
			fault(n, "metadata.%s is no text to YAML: put it in quotes, as in %q", key, n.Value)
		}
	}
	if m.gvk.Kind == "ConfigMap" && m.gvk.Group == "" {
		pairs(at(m.node, "data"), func(key string, n *node) {
			if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
				fault(n, "data: %q cannot be a key: it has letters, digits, -, _ and . only", key)
			}
		})
	}
	return errors.Join(errs...)
}
