package scaffold

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checkManifest refuses what no API server accepts and what would mislead here. That is a name that
// is no text, and a key of a ConfigMap that would be the path of a file elsewhere.
func (m *manifest) checkManifest() error {
	var errs []error
	fault := func(n *node, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %s %s: %w", m.source, n.Line, m.gvk.Kind, m.name, fmt.Errorf(format, args...)))
	}
	for _, key := range []string{"name", "namespace"} {
		n := findNode(m.node, "metadata", key)
		if n == nil {
			continue
		}
		if _, is := valueOf(n).(string); !is {
			fault(n, "metadata.%s is no text to YAML: put it in quotes, as in %q", key, n.Value)
		}
	}
	if m.gvk.Kind == "ConfigMap" && m.gvk.Group == "" {
		eachEntry(findNode(m.node, "data"), func(key string, n *node) {
			if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
				fault(n, "data: %q cannot be a key: it has letters, digits, -, _ and . only", key)
			}
		})
	}
	return errors.Join(errs...)
}
