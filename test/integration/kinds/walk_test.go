package kinds

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

type uid = types.UID

// A walk is one way of several kinds down the whole road.
type walk struct {
	r          *rand.Rand
	root       string
	kinds      []*made
	resources  []*resource
	namespaces map[string]bool
	// bystanders are foreign objects of the same kinds, as they were.
	bystanders map[uid]*unstructured.Unstructured
	operator   *kit.Operator
}

// TestUnseenKinds: create, restart, edit, drift, prune, delete. It runs alone, since it lists
// every kind that is served.
func TestUnseenKinds(t *testing.T) {
	kit.Nightly(t, "kinds-unseen")
	w := &walk{r: rand.New(rand.NewPCG(seed(t), 0)), root: t.TempDir(), namespaces: map[string]bool{},
		bystanders: map[uid]*unstructured.Unstructured{}}
	for number := range 6 {
		w.kinds = append(w.kinds, makeUp(w.r, number))
	}
	w.begin(t)
	w.create(t)
	w.intrude(t)
	w.restart(t)
	w.edit(t, "tuned", func(r *resource) { r.set(r.made.tune, fmt.Sprintf("tuned %d", w.r.IntN(1000))) })
	w.edit(t, "gated and ranged", func(r *resource) {
		r.set(r.made.gate, false)
		r.set(r.made.many, int64(w.r.IntN(2)))
	})
	for range 2 {
		w.drift(t)
		w.edit(t, "edited", func(r *resource) { r.spec = r.made.newSpec(w.r) })
	}
	w.restart(t)
	w.delete(t)
}

// begin writes the kinds and starts the operator.
func (w *walk) begin(t *testing.T) {
	t.Helper()
	for _, m := range w.kinds {
		m.write(t, w.root)
		m.keep(t)
		if m.gadget != nil && !m.late {
			w.define(t, m)
		}
	}
	understand(t, w.root, w.kinds)
	w.operator = cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, w.root)
	for _, m := range w.kinds {
		cluster.Served(t, m.apiVersion(), m.kind)
		name := m.name()
		t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	}
}

// define installs the CRD of a kind of child.
func (w *walk) define(t *testing.T, m *made) {
	t.Helper()
	text, err := (&unstructured.Unstructured{Object: m.gadget}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	cluster.Apply(t, "", string(text))
	name, _, _ := unstructured.NestedString(m.gadget, "metadata", "name")
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
}

// create makes three resources of each kind. Where a kind of child comes
// later, the resource says that it waits for it.
func (w *walk) create(t *testing.T) {
	t.Helper()
	mark := cluster.Mark(t)
	for _, m := range w.kinds {
		ns := cluster.Namespace(t)
		w.namespaces[ns] = true
		for i := range 3 {
			r := &resource{made: m, ns: ns, name: fmt.Sprintf("%s%d", word(w.r), i), spec: m.newSpec(w.r)}
			r.set(m.gate, true)
			r.set(m.many, int64(2))
			w.resources = append(w.resources, r)
			cluster.Apply(t, ns, m.manifest(t, r.name, r.spec))
		}
	}
	for _, m := range w.kinds {
		if m.late {
			w.lateCRD(t, m)
		}
	}
	after := w.rests(t, "created")
	w.wrote(t, "created", mark, nil, w.desired(t, after))
}

func (w *walk) lateCRD(t *testing.T, m *made) {
	t.Helper()
	kind, _, _ := unstructured.NestedString(m.gadget, "spec", "names", "kind")
	for _, r := range w.resources {
		if r.made != m {
			continue
		}
		kit.Eventually(t, m.name()+" "+r.name+" waits for "+kind, func() error {
			o, err := cluster.Get(m.apiVersion(), m.kind, r.ns, r.name)
			if err != nil {
				return err
			}
			return kit.IsCondition(o, "Ready", "False", kind)
		})
	}
	w.define(t, m)
}

// restart stops the operator and starts another, which finds nothing to do. A
// new resource of each kind shows that it is at work.
func (w *walk) restart(t *testing.T) {
	t.Helper()
	w.operator.Stop(t)
	mark := cluster.Mark(t)
	w.operator = cluster.Run(t, nil, w.root)
	ns := cluster.Namespace(t)
	for _, m := range w.kinds {
		cluster.Apply(t, ns, m.manifest(t, m.plural, m.newSpec(w.r)))
	}
	for _, m := range w.kinds {
		kit.Eventually(t, m.name()+" is served", func() error { return cluster.Ready(m.apiVersion(), m.kind, ns, m.plural) })
		cluster.Delete(t, m.apiVersion(), m.kind, ns, m.plural)
	}
	w.rests(t, "restarted")
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		if w.namespaces[r.Namespace] {
			t.Fatalf("after a restart it sent %v", r)
		}
	}
}

func (r *resource) set(f *field, value any) { r.spec[f.name] = value }

// edit changes every resource and holds that just the children that differ
// were written, each once, and those not desired any more deleted.
func (w *walk) edit(t *testing.T, what string, change func(*resource)) {
	t.Helper()
	before := w.desired(t, takeInventory(t, w.namespaces))
	mark := cluster.Mark(t)
	for _, r := range w.resources {
		r.spec = maps.Clone(r.spec)
		change(r)
		r.update(t)
	}
	after := w.rests(t, what)
	w.wrote(t, what, mark, before, w.desired(t, after))
}

// update writes the resource's spec as a whole. Applying it would not do: the
// server makes null of a map that loses all its keys.
func (r *resource) update(t *testing.T) {
	t.Helper()
	kit.Eventually(t, r.name+" is updated", func() error {
		o, err := cluster.Get(r.made.apiVersion(), r.made.kind, r.ns, r.name)
		if err != nil {
			return err
		}
		o.Object["spec"] = runtime.DeepCopyJSON(r.spec)
		return cluster.Client.Update(context.Background(), o)
	})
}

// desired is every child of every resource, by namespace and id.
func (w *walk) desired(t *testing.T, in *inventory) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, r := range w.resources {
		children, err := r.desired(in)
		if err != nil {
			t.Fatalf("%s %s: %v", r.made.name(), r.name, err)
		}
		for id, o := range children {
			all[r.ns+"/"+id] = o
		}
	}
	return all
}

// drift changes a third of all children as somebody else would.
func (w *walk) drift(t *testing.T) {
	t.Helper()
	in := takeInventory(t, w.namespaces)
	how := map[uid]string{}
	for _, r := range w.resources {
		live, err := r.live(in)
		if err != nil {
			t.Fatal(err)
		}
		children := in.of(live)
		slices.SortFunc(children, func(a, b *unstructured.Unstructured) int { return strings.Compare(id(a), id(b)) })
		for _, o := range children {
			if w.r.IntN(3) == 0 {
				how[o.GetUID()] = drift(t, w.r, o)
				t.Logf("drift: %s of %s: %s", id(o), r.made.name(), how[o.GetUID()])
			}
		}
	}
	t.Logf("drift: %d of %d children", len(how), len(w.desired(t, in)))
	after := w.rests(t, "drifted")
	for id, by := range how {
		o := after.objects[id]
		if by == "deleted" && o != nil {
			t.Errorf("%s %s was deleted and is the same", o.GetKind(), o.GetName())
		}
		if was := in.objects[id]; by != "deleted" && (o == nil || o.GetLabels()["theirs"] != "x") {
			t.Errorf("%s %s lost another's label after %s", was.GetKind(), was.GetName(), by)
		}
	}
}
