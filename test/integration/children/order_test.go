package children

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// A site is one test's own copy of a folder of testdata/, whose API group is
// the test's own, and an operator that serves it.
type site struct {
	*testing.T
	group, namespace, root string
	// kind is that of the resource, which is named like the namespace.
	kind     string
	scoped   bool // the resource has no namespace
	operator *kit.Operator
}

var sites atomic.Int64

// build copies testdata/<folder>, adds files to it, by path below its root, and
// starts an operator over it. Everywhere example.com becomes the test's group.
func build(t *testing.T, folder, kind string, files map[string]string) *site {
	t.Helper()
	t.Parallel()
	s := &site{T: t, scoped: kind == "Team", group: fmt.Sprintf("order%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t),
		root: t.TempDir(), kind: kind}
	from := os.DirFS(filepath.Join("testdata", folder))
	err := fs.WalkDir(from, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, file)
		s.write(map[string]string{file: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write(files)
	s.start()
	cluster.Served(t, s.apiVersion(), kind)
	return s
}

func (s *site) apiVersion() string { return s.group + "/v1" }

// ours puts the test's own group and namespace into a text.
func (s *site) ours(text string) string {
	return strings.NewReplacer("example.com", s.group, "NAMESPACE", s.namespace).Replace(text)
}

// write writes files below the root.
func (s *site) write(files map[string]string) {
	s.Helper()
	own := map[string]string{}
	for name, text := range files {
		own[s.ours(name)] = s.ours(text)
	}
	kit.Write(s, s.root, own)
}

// text reads a file below the root.
func (s *site) text(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, s.ours(name)))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

func (s *site) start() {
	s.Helper()
	s.operator = cluster.Run(s.T, func(o *controller.Options) { o.InstallCRDs = true }, s.root)
}

// again stops the operator and starts it again, and waits until the folder has loaded: before,
// it rests too.
func (s *site) again() {
	s.Helper()
	s.operator.Stop(s.T)
	s.start()
	kit.Eventually(s, "the folder has loaded", s.operator.Ready)
}

// home is the resource's namespace.
func (s *site) home() string {
	if s.scoped {
		return ""
	}
	return s.namespace
}

// apply applies the resource "a" with this spec, in flow style.
func (s *site) apply(spec string) {
	s.Helper()
	o := kit.Parse(s, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s}, spec: {%s}}", s.apiVersion(), s.kind, s.name(),
		s.ours(spec)))[0]
	o.SetNamespace(s.home())
	if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
		client.ForceOwnership); err != nil {
		s.Fatal(err)
	}
}

// name is that of the resource: "a", or one of the test's own where there is no
// namespace.
func (s *site) name() string {
	if s.scoped {
		return s.namespace
	}
	return "a"
}

// annotate sets an annotation of the resource; "" takes it off.
func (s *site) annotate(key, value string) {
	s.Helper()
	said := fmt.Sprintf("%q", value)
	if value == "" {
		said = "null"
	}
	s.patch(s.owner(), fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, said))
}

// ordered builds a site for a kind Thing with these templates: namespaced, with a
// free spec.
func ordered(t *testing.T, templates map[string]string) *site {
	t.Helper()
	return build(t, "things", "Thing", inFolder(templates))
}

// change changes files of the folder of kind Thing.
func (s *site) change(templates map[string]string) { s.Helper(); s.write(inFolder(templates)) }

func inFolder(templates map[string]string) map[string]string {
	files := map[string]string{}
	for name, text := range templates {
		files["templates/things.example.com/"+name] = text
	}
	return files
}

// patch merges into an object as a person does.
func (s *site) patch(o client.Object, patch string, subresource ...string) {
	s.Helper()
	way := client.RawPatch(types.MergePatchType, []byte(patch))
	if strings.HasPrefix(patch, "[") {
		way = client.RawPatch(types.JSONPatchType, []byte(patch))
	}
	var err error
	if len(subresource) > 0 {
		err = cluster.Client.SubResource(subresource[0]).Patch(context.Background(), o, way, client.FieldOwner("person"))
	} else {
		err = cluster.Client.Patch(context.Background(), o, way, client.FieldOwner("person"))
	}
	if err != nil {
		s.Fatal(err)
	}
}

// is waits until a condition of the resource is so for its present generation.
func (s *site) is(condition, status, part string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s is %q: %s", condition, status, part), func() error {
		o, err := cluster.Get(s.apiVersion(), s.kind, s.home(), s.name())
		if err != nil {
			return err
		}
		return kit.IsCondition(o, condition, status, s.ours(part))
	})
}

func (s *site) ready() { s.Helper(); s.is("Ready", "True", "") }

// owner reads the resource.
func (s *site) owner() *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(s.apiVersion(), s.kind, s.home(), s.name())
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// get reads an object of the test's namespace, or one without namespace.
func (s *site) get(apiVersion, kind, name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(apiVersion, kind, s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// goes deletes the resource and waits until it is gone.
func (s *site) goes() {
	s.Helper()
	s.leave()
	s.gone()
}

// leave deletes the resource.
func (s *site) leave() { s.Helper(); cluster.Delete(s, s.apiVersion(), s.kind, s.home(), s.name()) }

// gone waits until the resource is gone.
func (s *site) gone() { s.Helper(); s.away(s.apiVersion(), s.kind, s.home(), s.name()) }

// away waits until an object is gone.
func (s *site) away(apiVersion, kind, namespace, name string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" is gone", func() error { return cluster.Gone(apiVersion, kind, namespace, name) })
}

// sent is what the operator sent about the test's namespace and resource since
// mark.
func (s *site) sent(mark int64) []kit.Request {
	s.Helper()
	return slices.DeleteFunc(cluster.Requests(s, mark), func(r kit.Request) bool {
		return !strings.Contains(r.Namespace+" "+r.Name, s.namespace)
	})
}
