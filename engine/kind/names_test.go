package kind

import (
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestCanMake: a file can make what its literal lines do not rule out.
func TestCanMake(t *testing.T) {
	k := compile(t, map[string]string{
		"kind.yaml": "children:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [far]}\n- {apiVersion: " + rbacV1 +
			", kind: ClusterRole}\n- {apiVersion: v1, kind: Endpoints}\n",
		"_p.tpl": "{{ define \"name\" }}name: x{{ end }}{{ define \"document\" }}apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made{{ end }}",
		"a.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: literal # as it is
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .metadata.name }}-flow", labels: {a: b}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: pre-{{ .metadata.name }}-mid-{{ .spec.image }}.post
---
apiVersion: ` + rbacV1 + `
kind: ClusterRole
metadata:
  name: {{ .metadata.namespace }}-{{ .metadata.name }}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "name" . | nindent 2 }}
spec:
  template:
    metadata:
      name: inner
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- if .spec.image }}
  name: branch
  {{- else }}
  {{- include "name" . | nindent 2 }}
  {{- end }}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: open
  {{- .spec.image }}
---
apiVersion: v1
kind: Pod
metadata:
  name: a{{ if .spec.image }}-b{{ end }}
`,
		"c.yaml": "{{ include \"document\" . }}\n",
		"d.yaml": "{{ if .spec.image }}\napiVersion: v1\nkind: Secret\nmetadata:\n  name: d\n{{ else }}\n{{ toYaml .spec.ports }}\n{{ end }}\n",
		"b.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: b\n  annotations: {jacquard.dev/ownership: patch}\n",
	})
	for _, c := range []struct {
		file, group, kind, namespace, name string
		can, literal                       bool
	}{
		{"a", "", "ConfigMap", "ns", "literal", true, true},
		{"a", "", "ConfigMap", "far", "literal", true, true},
		{"a", "", "ConfigMap", "farther", "literal", false, false},
		{"a", "", "ConfigMap", "ns", "literal2", false, false},
		{"a", "", "ConfigMap", "ns", "x-flow", true, false},
		{"a", "", "ConfigMap", "ns", "pre-x-mid-y.post", true, false},
		{"a", "", "ConfigMap", "ns", "pre-x-y.post", false, false},
		{"a", rbacGroup, "ClusterRole", "", "ns-x", true, false},
		{"a", rbacGroup, "ClusterRole", "", "x", false, false},
		{"a", "", "Service", "ns", "any", true, false},
		{"a", "apps", "Deployment", "ns", "any", true, false},
		{"a", "apps", "DaemonSet", "ns", "open-to-more", true, false},
		{"a", "apps", "DaemonSet", "ns", "closed", false, false},
		{"a", "", "Pod", "ns", "a", true, false},
		{"a", "", "Endpoints", "ns", "any", true, false},
		{"a", "", "Secret", "ns", "b", false, false},
		{"b", "", "Secret", "ns", "b", false, false},
		{"b", "", "ConfigMap", "ns", "literal", false, false},
		{"c", "", "ConfigMap", "ns", "any", true, false},
		{"c", "", "ConfigMap", "farther", "any", false, false},
		{"c", "", "Ingress", "ns", "any", false, false},
		{"d", "", "Secret", "ns", "d", true, true},
		{"d", "", "Pod", "ns", "any", true, false},
	} {
		gk := apischema.GroupKind{Group: c.group, Kind: c.kind}
		can, literal := k.CanMake(c.file, "ns", gk, types.NamespacedName{Namespace: c.namespace, Name: c.name})
		if can != c.can || literal != c.literal {
			t.Errorf("%s, %s %s/%s: %v, literally %v; want %v, %v", c.file, c.kind, c.namespace, c.name, can, literal, c.can, c.literal)
		}
	}
}

const (
	rbacGroup = "rbac.authorization.k8s.io"
	rbacV1    = rbacGroup + "/v1"
)
