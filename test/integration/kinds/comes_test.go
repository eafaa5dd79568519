package kinds

import (
	"testing"
)

// configMap is a child that everybody has.
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  text: {{ .spec.text }}\n"

// elsewhere is a child that the garbage collector does not reach from a resource
// in a namespace.
const elsewhere = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: {{ childName .metadata.namespace .metadata.name }}\nvalue: 7\ndescription: {{ .spec.text }}\n"

const declared = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass}\n"

// TestComesAndGoes: an operator that knows no kind is taught one by what pack
// prints, while it runs; when the resources are gone the kind is taken away by
// the same, and can be taught again.
func TestComesAndGoes(t *testing.T) {
	t.Parallel()
	in := install(t, newKind(t, "comes.example.com", map[string]string{"map.yaml": configMap}), "")
	ns := cluster.Namespace(t)
	for _, name := range []string{"first", "second"} { // the children of one go when the garbage collector likes
		packed := in.pack(t, in.crd())
		in.kubectl(t, packed, "apply", "-f", "-")
		in.make(t, ns, name)
		in.ready(t, ns, name)
		in.kubectl(t, "", "delete", "-n", ns, "webs."+in.group, name, "--timeout=3m")
		in.kubectl(t, packed, "delete", "-f", "-", "--timeout=3m")
		in.gone(t)
	}
}

// TestLimited: the same output serves an operator whose ClusterRole is bound in
// one namespace alone, and which serves no other.
func TestLimited(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	in := install(t, newKind(t, "limited.example.com", map[string]string{"map.yaml": configMap}), ns)
	packed := in.pack(t, in.crd())
	in.kubectl(t, packed, "apply", "-f", "-")
	in.make(t, ns, "one")
	in.ready(t, ns, "one")
	in.kubectl(t, packed, "delete", "-f", "-", "--timeout=3m")
	in.gone(t)
}
