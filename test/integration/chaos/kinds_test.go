package chaos

import (
	"strings"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// group is the API group of the kinds.
const group = "chaos.example.com"

// extra is the file of rows that comes and goes: with the document, and without.
const (
	extraFile = "templates/rows." + group + "/extra.yaml"
	withExtra = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-extra\ndata:\n  text: {{ .spec.text }}\n"
	noExtra   = "# nothing at present\n"
)

// mapOf is a ConfigMap of a template.
func mapOf(suffix string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-" + suffix + "\ndata:\n  text: {{ .spec.text }}\n"
}

// folders are the kinds: each has one way to lose a child.
//
//	row      a list of children, and one of a file that changes
//	vault    a text that is drawn once
//	gate     a child that moves into a file that may wait
//	outpost  a child out of the garbage collector's reach
//	graft    a patch of somebody else's object
//	stone    a child that is replaced whenever it changes
var folders = map[string]map[string]string{
	"row": {
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: []}\n",
		"items.yaml": "{{ range .spec.items }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $.metadata.name }}-{{ . }}\n" +
			"data:\n  text: {{ $.spec.text }}\n{{ end }}\n",
		"service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  clusterIP: None\n  ports:\n  - name: web\n    port: 80\n    targetPort: 80\n    protocol: TCP\n",
		"extra.yaml":   withExtra,
	},
	"vault": {
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}-secret\nstringData:\n" +
			"  password: {{ stable \"secret\" \"password\" 20 }}\n  text: {{ .spec.text }}\n",
		"seen.yaml": mapOf("seen"),
	},
	"gate": {
		"first.yaml": mapOf("first") + "{{ if not .spec.moved }}\n---\n" + mapOf("moved") + "{{ end }}\n",
		"late.yaml": "{{ if not .spec.open }}{{ wait \"the gate is closed\" }}{{ end }}\n" + mapOf("late") +
			"{{ if .spec.moved }}\n---\n" + mapOf("moved") + "{{ end }}\n",
	},
	"outpost": {
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n",
		"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {{ .metadata.namespace }}-{{ .metadata.name }}\n" +
			"rules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get]\n  resourceNames:\n  - {{ .spec.text }}\n",
		"first.yaml": mapOf("first"),
	},
	"graft": {
		"patch.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-theirs\n  annotations:\n" +
			"    jacquard.dev/ownership: patch\ndata:\n  ours: {{ .spec.text }}\n",
		"first.yaml": mapOf("first"),
	},
	"stone": {
		"stone.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-stone\n  annotations:\n" +
			"    jacquard.dev/on-immutable: recreate\nimmutable: true\ndata:\n  text: {{ .spec.text }}\n",
	},
}

// kindNames are the kinds in their order.
var kindNames = []string{"row", "vault", "gate", "outpost", "graft", "stone"}

// crdOf is the CRD of a kind.
func crdOf(kind string) string {
	title := strings.ToUpper(kind[:1]) + kind[1:]
	return strings.NewReplacer("webs", kind+"s", "Web", title, "singular: web", "singular: "+kind, "GROUP", group).Replace(kit.WebCRD)
}

// titleOf is the kind as objects name it.
func titleOf(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }
