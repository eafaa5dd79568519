package kinds

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/scaffold"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestMade runs the operator over kinds of every origin.
func TestMade(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	examples := map[string]string{}
	for _, draft := range drafts(t) {
		files := map[string]string{}
		for _, f := range draft.Files {
			files[f.Path] = string(f.Data)
		}
		kit.Write(t, root, files)
		examples[draft.Name] = files[draft.Example]
	}
	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, root)
	for name, example := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs(t, example)
		})
	}
}

// drafts are kinds of each form, of a CRD, and of manifests.
func drafts(t *testing.T) []*scaffold.Draft {
	t.Helper()
	names := func(kind string) scaffold.Names {
		n, err := scaffold.ParseNames(kind, scaffold.Names{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	source := func(file string) scaffold.Source {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return scaffold.Source{Name: file, Data: data}
	}
	var all []*scaffold.Draft
	add := func(d *scaffold.Draft, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	add(scaffold.Form(scaffold.FormConfigMap, names("Note.made.example.com")))
	add(scaffold.Form(scaffold.FormDeployment, names("Website.made.example.com")))
	add(scaffold.FromCRD(source("testdata/crd.yaml"), "", nil))
	add(scaffold.FromCRD(source("testdata/clustercrd.yaml"), "", nil))
	add(scaffold.FromManifests(names("Store.made.example.com"), []scaffold.Source{source("testdata/manifests.yaml")}))
	return all
}

// runs applies an example and a second resource beside it, waits until both
// are ready.
func runs(t *testing.T, example string) {
	o := kit.Parse(t, example)[0]
	cluster.Served(t, o.GetAPIVersion(), o.GetKind())
	ns := cluster.Namespace(t)
	if o.GetKind() == "Region" { // it lives in no namespace
		ns = ""
	}
	cluster.Apply(t, ns, example)
	cluster.Apply(t, ns, strings.Replace(example, "  name: "+o.GetName()+"\n", "  name: another\n", 1))
	for _, name := range []string{o.GetName(), "another"} {
		kit.Eventually(t, o.GetKind()+" "+name+" is ready", func() error {
			if err := cluster.Ready(o.GetAPIVersion(), o.GetKind(), ns, name); err != nil {
				return err
			}
			live, err := cluster.Get(o.GetAPIVersion(), o.GetKind(), ns, name)
			if err != nil {
				return err
			}
			return counted(live)
		})
	}
}

// counted reports whether the status of a resource that runs Pods counts them.
func counted(o *unstructured.Unstructured) error {
	wanted, runs, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
	if runs && ready != wanted {
		return fmt.Errorf("%d of %d replicas are ready", ready, wanted)
	}
	return nil
}
