package rights

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestShipped: the same of each kind of this repository. Its example is applied,
// a child of it taken away, its names found taken, and its folder emptied.
func TestShipped(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	schemas, _ := filepath.Glob(filepath.Join(root, "schemas", "*.yaml"))
	for _, file := range schemas {
		text := read(t, file)
		cluster.Apply(t, "", text)
		crd, err := crdfile.Parse(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		cluster.Served(t, crd.Group+"/"+crd.Versions[0].Name, crd.Kind) // by its plural it is asked for once
	}
	dirs, _ := filepath.Glob(filepath.Join(root, "templates", "*.*"))
	if len(dirs) == 0 {
		t.Fatal("there are no kinds")
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			ship(t, root, filepath.Base(dir))
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A shipped is a kind of this repository, alone in a root of its own.
type shipped struct {
	*testing.T
	name, root string
	example    []*unstructured.Unstructured
	// makes are the kinds of its children.
	makes []schema.GroupVersionKind
	// narrowed is when the rights began to shrink with the folder, and served when
	// the operator had taken the change: between, it may ask for what it no longer may.
	narrowed, served time.Time
}

func ship(t *testing.T, root, name string) {
	s := &shipped{T: t, name: name, root: t.TempDir()}
	for _, part := range []string{"templates/" + name, "templates/_lib"} {
		if err := os.CopyFS(filepath.Join(s.root, part), os.DirFS(filepath.Join(root, part))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	kit.Write(t, s.root, map[string]string{"crds/" + name + ".yaml": read(t, filepath.Join(root, "crds", name+".yaml"))})
	s.example = kit.Parse(t, read(t, filepath.Join(root, "examples", name+".yaml")))
	mark := cluster.Mark(t)
	op := cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, s.root)
	roles := op.Access.Roles(t)
	s.makes = made(t, roles)
	s.live()
	of := func(r rbac.Role) bool { return r.Name != "jacquard" }
	sent := func() []kit.Request {
		return slices.DeleteFunc(cluster.AllRequests(t, mark), func(r kit.Request) bool {
			return r.User != op.Access.User() || r.Code == 403 && r.Received.After(s.narrowed) && r.Received.Before(s.served)
		})
	}
	kit.Eventually(t, "every verb is needed", func() error { return proof(name, unwatched(roles), of, sent()) })
	op.Stop(t)
	proven(t, name, roles, of, sent)
	t.Logf("each of %d verbs is needed", verbs(slices.DeleteFunc(roles, func(r rbac.Role) bool { return !of(r) })))
}

// unwatched are the roles without the verb watch: a watch is in the audit log
// once it has ended.
func unwatched(roles []rbac.Role) []rbac.Role {
	var all []rbac.Role
	for _, role := range roles {
		role.Rules = slices.Clone(role.Rules)
		for i, rule := range role.Rules {
			role.Rules[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == "watch" })
		}
		all = append(all, role)
	}
	return all
}

// made are the kinds that roles let make.
func made(t *testing.T, roles []rbac.Role) []schema.GroupVersionKind {
	t.Helper()
	var all []schema.GroupVersionKind
	for _, role := range roles {
		for _, rule := range role.Rules {
			if !slices.Contains(rule.Verbs, "create") || rule.Resource == "events" || len(rule.Names) > 0 {
				continue
			}
			gvk, err := cluster.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: rule.Group, Resource: rule.Resource})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, gvk)
		}
	}
	return all
}

// live leads a resource of the kind through its life, and another one whose
// names are taken.
func (s *shipped) live() {
	s.Helper()
	here, there := cluster.Namespace(s), cluster.Namespace(s)
	s.apply(here)
	before := s.children(here)
	for _, o := range before {
		s.another(o, there)
	}
	s.apply(there)
	if len(before) == 0 {
		s.patched(here)
		r := s.example[len(s.example)-1]
		cluster.Delete(s, r.GetAPIVersion(), r.GetKind(), here, r.GetName())
		s.gone(r, here)
		return
	}
	s.taken(there)
	if err := cluster.Client.Delete(s.Context(), before[0]); err != nil {
		s.Fatal(err)
	}
	kit.Eventually(s, "the child is recreated", func() error {
		o, err := cluster.Get(before[0].GetAPIVersion(), before[0].GetKind(), here, before[0].GetName())
		if err == nil && o.GetUID() == before[0].GetUID() {
			return fmt.Errorf("it is there still")
		}
		return err
	})
	was := s.rolledOut()
	s.narrowed = time.Now()
	s.empty()
	for _, o := range before {
		s.gone(o, here)
	}
	// A resource that the rollout has not reached is still served by the folder
	// that may do more.
	kit.Eventually(s, "the emptied folder serves every resource", func() error {
		if now := s.rolledOut(); now == was || now == "" {
			return fmt.Errorf("%q does, and %q did before", now, was)
		}
		return nil
	})
	s.served = time.Now()
}

// rolledOut is the digest of the folder that serves every resource.
func (s *shipped) rolledOut() string {
	s.Helper()
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name)
	if err != nil {
		s.Fatal(err)
	}
	return crd.GetAnnotations()[api.AnnotationRolledOut]
}

func (s *shipped) gone(o *unstructured.Unstructured, namespace string) {
	s.Helper()
	kit.Eventually(s, o.GetKind()+" "+o.GetName()+" is gone", func() error {
		return cluster.Gone(o.GetAPIVersion(), o.GetKind(), namespace, o.GetName())
	})
}

// another makes an object like this one that is nobody's in another namespace.
func (s *shipped) another(like *unstructured.Unstructured, namespace string) {
	s.Helper()
	other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": like.GetAPIVersion(), "kind": like.GetKind(),
		"spec": like.DeepCopy().Object["spec"]}}
	for _, drawn := range []string{"clusterIP", "clusterIPs", "nodeName", "volumes"} {
		unstructured.RemoveNestedField(other.Object, "spec", drawn)
	}
	containers, _, _ := unstructured.NestedSlice(other.Object, "spec", "containers")
	for _, c := range containers {
		delete(c.(map[string]any), "volumeMounts")
	}
	if containers != nil {
		other.Object["spec"].(map[string]any)["containers"] = containers
	}
	other.SetName(like.GetName())
	other.SetNamespace(namespace)
	if err := cluster.Client.Create(s.Context(), other); err != nil {
		s.Fatal(err)
	}
}

// taken waits until the operator warned that names in a namespace are taken, so
// that nothing which it sends there is still to come when the rights change.
func (s *shipped) taken(namespace string) {
	s.Helper()
	kit.Eventually(s, "names in "+namespace+" are found taken", func() error {
		items, err := s.list(schema.GroupVersionKind{Version: "v1", Kind: "Event"}, namespace)
		for _, e := range items {
			if kind, _, _ := unstructured.NestedString(e.Object, "involvedObject", "kind"); e.Object["type"] == "Warning" &&
				kind == s.example[len(s.example)-1].GetKind() {
				return nil
			}
		}
		return fmt.Errorf("no warning among %d Events (%w)", len(items), err)
	})
}

// apply applies the example to a namespace.
func (s *shipped) apply(namespace string) {
	s.Helper()
	_, group, _ := strings.Cut(s.name, ".")
	for _, o := range s.example {
		if o.GetKind() == "Namespace" {
			continue
		}
		o := o.DeepCopy()
		o.SetNamespace(namespace)
		if o.GroupVersionKind().Group == group {
			cluster.Served(s, o.GetAPIVersion(), o.GetKind())
		}
		if err := cluster.Client.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
			client.ForceOwnership); err != nil {
			s.Fatal(err)
		}
	}
}

// children waits until there is a child of every kind, and returns them.
func (s *shipped) children(namespace string) (all []*unstructured.Unstructured) {
	s.Helper()
	kit.Eventually(s, "there are children of every kind", func() error {
		all = nil
		for _, gvk := range s.makes {
			items, err := s.list(gvk, namespace, client.HasLabels{api.LabelOwnerUID})
			if err != nil || len(items) == 0 {
				return fmt.Errorf("there is no %s: %w", gvk.Kind, err)
			}
			all = append(all, &items[0])
		}
		return nil
	})
	return all
}

func (s *shipped) list(gvk schema.GroupVersionKind, namespace string, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := cluster.Client.List(s.Context(), list, append(options, client.InNamespace(namespace))...)
	return list.Items, err
}

// patched waits until a Pod bears what the kind patches.
func (s *shipped) patched(namespace string) {
	s.Helper()
	kit.Eventually(s, "a Pod is patched", func() error {
		items, err := s.list(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, namespace)
		if err != nil {
			return err
		}
		for _, o := range items {
			if slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
				return strings.HasPrefix(e.Manager, api.PatchManager("")) && e.Subresource != ""
			}) {
				return nil
			}
		}
		return fmt.Errorf("none of %d is", len(items))
	})
}

// empty makes the folder one that makes a ConfigMap and nothing else.
func (s *shipped) empty() {
	s.Helper()
	files, _ := filepath.Glob(filepath.Join(s.root, "templates", s.name, "*.yaml"))
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			s.Fatal(err)
		}
	}
	settings := "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nretired:\n"
	for _, gvk := range s.makes {
		if gvk.Kind != "ConfigMap" {
			settings += fmt.Sprintf("- {apiVersion: %s, kind: %s}\n", gvk.GroupVersion(), gvk.Kind)
		}
	}
	kit.Write(s, s.root, map[string]string{
		"templates/" + s.name + "/kind.yaml": settings,
		"templates/" + s.name + "/left.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n",
	})
}
