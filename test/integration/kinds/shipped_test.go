package kinds

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// kinds are those that ship.
var kinds = []string{"App", "Foo", "Genericdaemon", "Milvus", "Podroute", "PrometheusJmxExporter"}

// versions are the kinds that the tests speak of.
var versions = map[string]string{
	"Foo": "samplecontroller.k8s.io/v1alpha1", "Genericdaemon": "mydomain.com/v1beta1", "Podroute": "quay.io/v1alpha1",
	"Milvus": "zilliz.com/v1", "App": "app.huolala.cn/v1", "PrometheusJmxExporter": "banzaicloud.com/v1alpha1", "ConfigMap": "v1",
	"Deployment": "apps/v1", "DaemonSet": "apps/v1", "Service": "v1", "Pod": "v1", "ReplicaSet": "apps/v1",
	"Node": "v1", "Route": "route.openshift.io/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1", "Event": "events.k8s.io/v1",
}

// root is the repository's root.
func root(t testing.TB) string {
	t.Helper()
	dir, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestShipped runs the operator over the kinds of this repository: those that ship, those
// of the patterns, and those of examples/kinds. What takes away an API that others need
// comes first; all else runs side by side.
func TestShipped(t *testing.T) {
	t.Parallel()
	installRoutes(t)
	more := exampleRoots(t)
	roots := append([]string{root(t), filepath.Join(root(t), "examples", "patterns")}, more...)
	for _, dir := range more {
		installSchemas(t, dir)
	}
	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, roots...)
	for _, kind := range kinds {
		cluster.Served(t, versions[kind], kind)
	}
	t.Run("RouteAPI", testRouteAPI)
	t.Run("Kinds", func(t *testing.T) {
		t.Run("Cases", func(t *testing.T) { t.Parallel(); testCases(t, roots) })
		t.Run("Examples", func(t *testing.T) { t.Parallel(); testExamples(t) })
		for _, dir := range more {
			t.Run(filepath.Base(dir), func(t *testing.T) { t.Parallel(); testMoreExamples(t, dir) })
		}
		for name, test := range map[string]func(*site){
			"Foo": testFoo, "FooForeign": testFooForeign, "Genericdaemon": testGenericdaemon, "Podroute": testPodroute,
			"PodrouteTwice": testPodrouteTwice, "Milvus": testMilvus, "MilvusPods": testMilvusPods, "App": testApp, "AppPorts": testAppPorts,
			"Scale": testScale, "Refused": testRefused, "Exporter": testExporter,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(&site{T: t, ns: cluster.Namespace(t)})
			})
		}
	})
	for _, r := range cluster.AllRequests(t, 0) {
		if strings.HasPrefix(r.Resource, "endpoint") {
			t.Errorf("the operator sent %s", r)
		}
	}
}

// exampleRoots are the roots of examples/kinds.
func exampleRoots(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), "examples", "kinds", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no examples of kinds (%v): this test looks in the wrong place", err)
	}
	return found
}

// installRoutes installs OpenShift's CRD.
func installRoutes(t *testing.T) {
	t.Helper()
	cluster.Apply(t, "", text(t, filepath.Join(root(t), "schemas", "routes.route.openshift.io.yaml")))
	cluster.Served(t, versions["Route"], "Route")
}

// installSchemas installs the CRDs of others that the kinds of a root need.
func installSchemas(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "schemas", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cluster.Apply(t, "", text(t, file))
	}
}

// A site is a namespace of one test.
type site struct {
	*testing.T
	ns string
}

// apply applies a resource with this spec, in flow style.
func (s *site) apply(kind, name, spec string) {
	s.Helper()
	cluster.Apply(s, s.ns, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s}, spec: {%s}}", versions[kind], kind, name, spec))
}

func (s *site) get(kind, name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(versions[kind], kind, s.ns, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// at follows a path of names and indices, such as spec.ports.0.port; nil where
// there is nothing.
func at(o *unstructured.Unstructured, path string) any {
	var v any = o.Object
	for _, step := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[strings.ReplaceAll(step, "|", ".")]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// has waits until an object has these values: pairs of path and value. A dot
// in a key is written as |.
func (s *site) has(kind, name string, pairs ...any) *unstructured.Unstructured {
	s.Helper()
	var o *unstructured.Unstructured
	kit.Eventually(s, fmt.Sprintf("%s %s has %v", kind, name, pairs), func() (err error) {
		if o, err = cluster.Get(versions[kind], kind, s.ns, name); err != nil {
			return err
		}
		for i := 0; i < len(pairs); i += 2 {
			if got := at(o, pairs[i].(string)); fmt.Sprint(got) != fmt.Sprint(pairs[i+1]) {
				return fmt.Errorf("%s is %v", pairs[i], got)
			}
		}
		return nil
	})
	return o
}

// ready waits until a resource is Ready for its present generation.
func (s *site) ready(kind, name string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" is Ready", func() error { return cluster.Ready(versions[kind], kind, s.ns, name) })
}

// says waits until a resource has a condition: type, status, and parts of its
// reason and message.
func (s *site) says(kind, name, condition, status string, parts ...string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s %s says %s=%s %q", kind, name, condition, status, parts), func() error {
		o, err := cluster.Get(versions[kind], kind, s.ns, name)
		for _, part := range append(parts, "") {
			if err == nil {
				err = kit.IsCondition(o, condition, status, part)
			}
		}
		return err
	})
}

// gone waits until an object is gone.
func (s *site) gone(kind, name string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" is gone", func() error { return cluster.Gone(versions[kind], kind, s.ns, name) })
}

// anew waits until an object is another one of the same name, and returns it.
func (s *site) anew(old *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	var now *unstructured.Unstructured
	kit.Eventually(s, old.GetKind()+" "+old.GetName()+" is recreated", func() (err error) {
		if now, err = cluster.Get(old.GetAPIVersion(), old.GetKind(), s.ns, old.GetName()); err == nil && now.GetUID() == old.GetUID() {
			err = fmt.Errorf("it is the old one")
		}
		return err
	})
	return now
}

// list lists the objects of a kind.
func (s *site) list(kind string) []unstructured.Unstructured {
	s.Helper()
	return cluster.List(s, versions[kind], kind, client.InNamespace(s.ns))
}

// kubectl runs the real one in the site's namespace.
func (s *site) kubectl(args ...string) string {
	s.Helper()
	args = append([]string{"--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"), "--cache-dir", filepath.Join(cluster.Dir, "kubectl"),
		"--namespace", s.ns}, args...)
	out, err := exec.Command(filepath.Join(root(s), ".bin", "kubectl"), args...).CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl %q: %v: %s", args, err, out)
	}
	return string(out)
}
