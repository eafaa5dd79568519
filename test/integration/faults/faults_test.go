// Package faults does to running resources what people, controllers and
// admission do to them, and looks at what the cluster says afterwards;
// docs/reliability.md names the test of each case.
package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Main(m, &cluster, "--nodes", "2", "--components", "etcd,apiserver,controller-manager,scheduler,kwok")
}

// A site is one test's own kind Web, its folder, and an operator that serves
// it in a namespace of its own.
type site struct {
	*testing.T
	group, namespace, root string
	operator               *kit.Operator
}

var sites atomic.Int64

// build writes a folder and starts an operator over it.
func build(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, group: fmt.Sprintf("site%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t), root: t.TempDir()}
	kit.Write(t, s.root, map[string]string{"crds/webs." + s.group + ".yaml": strings.ReplaceAll(kit.WebCRD, "GROUP", s.group)})
	s.write(files)
	s.start()
	cluster.Served(t, s.apiVersion(), "Web")
	return s
}

func (s *site) apiVersion() string { return s.group + "/v1" }

// write writes files of the folder.
func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/webs."+s.group+"/"+name] = text
	}
	kit.Write(s, s.root, placed)
}

func (s *site) start() {
	s.Helper()
	s.operator = cluster.Run(s.T, func(o *controller.Options) { o.InstallCRDs = true }, s.root)
}

func (s *site) restart() {
	s.Helper()
	s.operator.Stop(s)
	s.start()
}

// web applies the custom resource "a" with this spec, in flow style.
func (s *site) web(spec string) {
	s.Helper()
	cluster.Apply(s, s.namespace, fmt.Sprintf("apiVersion: %s\nkind: Web\nmetadata: {name: a}\nspec: {%s}\n", s.apiVersion(), spec))
}

// is waits until a condition of "a" is so for its present generation.
func (s *site) is(kind, status, part string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s is %q: %s", kind, status, part), func() error {
		o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
		if err != nil {
			return err
		}
		return kit.IsCondition(o, kind, status, part)
	})
}

func (s *site) ready() { s.Helper(); s.is("Ready", "True", "") }

// owner reads the custom resource "a".
func (s *site) owner() *unstructured.Unstructured {
	s.Helper()
	return s.get(s.apiVersion(), "Web", "a")
}

func (s *site) get(apiVersion, kind, name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(apiVersion, kind, s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// says waits until an object has these fields: a document, of which more may
// be in the object.
func (s *site) says(text string) {
	s.Helper()
	for _, want := range kit.Parse(s, text) {
		kit.Eventually(s, "the object is as it should be", func() error {
			o, err := cluster.Get(want.GetAPIVersion(), want.GetKind(), s.namespace, want.GetName())
			if err != nil {
				return err
			}
			return within(want.Object, o.Object, "")
		})
	}
}

// within says where got does not have what want has. Lists are equal in
// length, and compared item by item.
func within(want, got any, path string) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want a map", path, got)
		}
		for k, v := range w {
			if err := within(v, g[k], path+"."+k); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Errorf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if err := within(w[i], g[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return fmt.Errorf("%s is %v, want %v", path, got, want)
	}
	return nil
}

// patch changes an object as the field manager by does: a JSON patch if it
// begins with a bracket, else a merge patch.
func (s *site) patch(apiVersion, kind, name, by, patch string, subresource ...string) {
	s.Helper()
	o := ref(apiVersion, kind, s.namespace, name)
	how := types.MergePatchType
	if strings.HasPrefix(patch, "[") {
		how = types.JSONPatchType
	}
	var err error
	if len(subresource) > 0 {
		err = cluster.Client.SubResource(subresource[0]).Patch(context.Background(), o, client.RawPatch(how, []byte(patch)),
			client.FieldOwner(by))
	} else {
		err = cluster.Client.Patch(context.Background(), o, client.RawPatch(how, []byte(patch)), client.FieldOwner(by))
	}
	if err != nil {
		s.Fatalf("patching %s %s: %v", kind, name, err)
	}
}

// apply server-side applies documents with force under a manager's name.
func (s *site) apply(by, text string) {
	s.Helper()
	for _, o := range kit.Parse(s, text) {
		o.SetNamespace(s.namespace)
		if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(by),
			client.ForceOwnership); err != nil {
			s.Fatalf("applying %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// create creates an object as a person does by kubectl create.
func (s *site) create(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	o.SetResourceVersion("")
	o.SetUID("")
	if err := cluster.Client.Create(context.Background(), o, client.FieldOwner("kubectl-create")); err != nil {
		s.Fatal(err)
	}
	return o
}

func ref(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// sent is what the operator sent about this namespace since mark.
func (s *site) sent(mark int64) []kit.Request {
	s.Helper()
	return slices.DeleteFunc(cluster.Requests(s, mark), func(r kit.Request) bool { return r.Namespace != s.namespace })
}
