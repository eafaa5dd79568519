package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// firstChild adds a ConfigMap that shows how the fields of a CRD are read: the
// required ones by themselves, and the rest as a whole. A cluster-scoped kind
// makes a Namespace for it.
func (d *Draft) firstChild(crd *schema.CRD, root *props) {
	var b strings.Builder
	b.WriteString("# A first child: replace it by your own. `.` is the resource, with the defaults of its schema.\n")
	if !crd.Namespaced {
		d.AddTemplate("namespace.yaml", namespaceChild)
		d.AddTemplate("kind.yaml", namespaceSettings)
	}
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n")
	if crd.Namespaced {
		b.WriteString("  name: {{ childName .metadata.name \"config\" }}\n")
	} else {
		b.WriteString("  name: config\n  namespace: {{ childName .metadata.name \"config\" }}\n")
	}
	b.WriteString("data:\n")
	for _, top := range sortedNames(root) {
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, top) {
			continue
		}
		field := root.Properties[top]
		if top == "spec" {
			if slices.Contains(root.Required, "spec") || field.Default != nil {
				printLeaves(&b, &field, ".spec")
			}
		}
		fmt.Fprintf(&b, "  %s.yaml: |\n    {{- toYaml .%s | nindent 4 }}\n", top, top)
	}
	d.AddTemplate("configmap.yaml", b.String())
}

const namespaceChild = `# The resource lives in no namespace: what it makes lives in one of its own.
apiVersion: v1
kind: Namespace
metadata:
  name: {{ childName .metadata.name "config" }}
  annotations:
    jacquard.dev/on-delete: delete
`

const namespaceSettings = `# What lives outside of the resource's namespace.
apiVersion: jacquard.dev/v1alpha1
kind: KindSettings
children:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: v1, kind: ConfigMap, namespaces: rendered}
`

// printLeaves prints a line for each text, number and boolean below a path that is always there.
func printLeaves(b *strings.Builder, p *props, path string) {
	for _, name := range sortedNames(p) {
		field := p.Properties[name]
		if !slices.Contains(p.Required, name) && field.Default == nil || field.Nullable || !identifier.MatchString(name) {
			continue
		}
		inner := path + "." + name
		key := strings.TrimPrefix(inner, ".spec.")
		switch field.Type {
		case "object":
			printLeaves(b, &field, inner)
		case "string":
			fmt.Fprintf(b, "  %s: {{ %s }}\n", key, inner)
		case "integer", "number", "boolean":
			fmt.Fprintf(b, "  %s: \"{{ %s }}\"\n", key, inner)
		}
	}
}
