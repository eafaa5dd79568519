// Package watched tests what the operator reports about itself, on a real cluster:
// the values of its metrics, who gets them, and, with a real Prometheus, that
// every alert warns of what it is about.
package watched

import (
	"context"
	"flag"
	"fmt"
	"net"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Log = &logged
	flag.Set("test.parallel", "24") //nolint:errcheck // it is a number; as many situations as there are last at once
	kit.Main(m, &cluster, "--nodes", "2", "--node-label", "node-0:daemon=logs", "--components",
		"etcd,apiserver,controller-manager,scheduler,kwok")
}

// A thing is a kind Thing in a group of its own, in a root that it may share.
type thing struct {
	*testing.T
	group, root, ns string
}

func newThing(t *testing.T, group, root, template string) *thing {
	t.Helper()
	k := &thing{t, group, root, cluster.Namespace(t)}
	kit.Write(t, root, map[string]string{"crds/" + k.name() + ".yaml": kit.ThingCRD(group)})
	k.write(template)
	t.Cleanup(func() { k.deleteCRD() })
	return k
}

func (k *thing) name() string       { return "things." + k.group }
func (k *thing) apiVersion() string { return k.group + "/v1" }

// write writes the one template of the folder.
func (k *thing) write(template string) {
	k.Helper()
	kit.Write(k, k.root, map[string]string{"templates/" + k.name() + "/child.yaml": template})
}

func (k *thing) deleteCRD() {
	k.Helper()
	cluster.Delete(k, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name())
}

func (k *thing) crd() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("apiextensions.k8s.io/v1")
	o.SetKind("CustomResourceDefinition")
	o.SetName(k.name())
	return o
}

// annotate sets an annotation, or takes it off if the value is "".
func (k *thing) annotate(o *unstructured.Unstructured, key, value string) {
	k.Helper()
	text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if value == "" {
		text = fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, key)
	}
	if err := cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
		k.Fatal(err)
	}
}

// object is one of the kind's resources, or an object in their namespace.
func (k *thing) object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(k.ns)
	o.SetName(name)
	return o
}

func (k *thing) apply(name, text string) {
	k.Helper()
	cluster.Apply(k, k.ns, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s}\nspec: {text: %s}\n", k.apiVersion(), name, text))
}

func (k *thing) ready(names ...string) {
	k.Helper()
	for _, name := range names {
		kit.Eventually(k, k.group+" "+name+" is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", k.ns, name) })
	}
}

func (k *thing) says(name, kind, part string) {
	k.Helper()
	kit.Eventually(k, fmt.Sprintf("%s %s says %s %s", k.group, name, kind, part), func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
		if err != nil {
			return err
		}
		return kit.IsCondition(o, kind, "True", part)
	})
}

// served waits until the API server serves the kind.
func (k *thing) served() {
	k.Helper()
	cluster.Served(k, k.apiVersion(), "Thing")
}

func install(o *controller.Options) { o.InstallCRDs = true }

// address is a port of this machine that was free just now.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// configMap is a template that fails for one text.
const configMap = `{{ if eq .spec.text "bad" }}{{ fail "this text is not good" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text }}
`
