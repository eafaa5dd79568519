package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/memory"
)

const things = "things.example.com"

var (
	thingKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	mapKind   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	nodeKind  = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	// widgetKind is a kind of another operator.
	widgetKind = schema.GroupVersionKind{Group: "foreign.io", Version: "v1", Kind: "Widget"}
	crdKind    = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

// A world is a Reconciler of things over an API server in memory, which is also
// what its caches have.
type world struct {
	testing.TB
	server   *memory.Server
	r        *Reconciler
	now      time.Time
	choice   Choice
	outcome  Outcome
	events   *events.FakeRecorder
	resource *unstructured.Unstructured
	// cached are the objects that the caches have, by kind, where they are late;
	// nil: they are not.
	cached map[schema.GroupVersionKind][]*unstructured.Unstructured
	// read are the objects that the cache of what templates read has, where it is later
	// than the cache of children.
	read map[schema.GroupVersionKind][]*unstructured.Unstructured
	// unread is why objects of a kind cannot be read by templates.
	unread map[schema.GroupVersionKind]error
	// unknown are kinds whose children cannot be listed.
	unknown []schema.GroupVersionKind
	// sent is what the server got in this turn, and looked the kinds whose caches
	// were looked at after its first write, by how much was sent until then.
	sent   []memory.Request
	looked map[int]string
}

// newWorld has one thing, default/a, with this spec, and these files of its folder. more
// are kinds that the server has, too.
func newWorld(t testing.TB, files map[string]string, more ...live.Resource) *world {
	t.Helper()
	w := &world{TB: t, now: time.Unix(1e9, 0), events: events.NewFakeRecorder(99), server: memory.New(append(more,
		served(thingKind, "things", true), served(mapKind, "configmaps", true), served(nodeKind, "nodes", false),
		served(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "namespaces", false),
		served(crdKind, "customresourcedefinitions", false), served(plan.JobKind, "jobs", true),
		served(secretKind, "secrets", true),
		served(deploymentKind, "deployments", true), served(pod.GVK, "pods", true), served(roleKind, "clusterroles", false),
		served(applicationKind, "applications", true), served(bucketKind, "buckets", true), served(virtualKind, "virtualservices", true),
	)...)}
	w.server.Change(memory.Object(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+things+
		`"}}`), "installer", nil)
	w.resource = w.server.Change(memory.Object(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","namespace":"default"},"spec":{"name":"x"}}`), "person", nil)
	cfg, through := w.server.Client()
	found, err := cluster.NewDiscovery(cfg, through)
	if err == nil {
		err = found.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	writer, err := apply.NewWriter(cfg, through)
	if err != nil {
		t.Fatal(err)
	}
	w.r = New(things, thingKind, resources{w: w}, Cluster{Writer: writer, Resource: w.server.Served, Events: w.events, Caches: observe.Caches{
		Served: found.Served, Children: children{w}, Reads: reads{w},
		DeclaresConditions: func(schema.GroupKind) bool { return false },
		Defined:            func(gk schema.GroupKind) bool { return gk == thingKind.GroupKind() },
		Shard:              shard.Shard{Identity: "jacquard"},
		CRD: func(name string) metav1.Object {
			if crd := w.server.Get(crdKind, "", name); crd != nil {
				return crd
			}
			return nil
		},
	}})
	w.r.now = func() time.Time { return w.now }
	w.r.Follow(func(*unstructured.Unstructured) Choice { return w.choice }, func(_ *unstructured.Unstructured, o Outcome) { w.outcome = o })
	w.folder(files)
	return w
}

func served(gvk schema.GroupVersionKind, plural string, namespaced bool) live.Resource {
	return live.Resource{GVK: gvk, GVR: gvk.GroupVersion().WithResource(plural), Namespaced: namespaced,
		Verbs: sets.New("list", "watch", "get", "patch", "delete")}
}

// folder puts another folder in place.
func (w *world) folder(files map[string]string) {
	w.Helper()
	data := map[string][]byte{}
	for name, text := range files {
		data[name] = []byte(text)
	}
	text, err := os.ReadFile("../render/testdata/" + things + ".yaml")
	if err != nil {
		w.Fatal(err)
	}
	crd, err := crdfile.Parse(things+".yaml", text)
	if err != nil {
		w.Fatal(err)
	}
	f, err := folder.FromMap(things, "", data)
	if err != nil {
		w.Fatal(err)
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		w.Fatal(err)
	}
	w.choice = Choice{Version: &observe.Version{Name: things, Kind: k, Digest: fmt.Sprint(files), Schema: func() *crdschema.Version { return k.Version }}}
	w.putOnRecord(k)
}

// putOnRecord puts the kinds of a folder on record, and what deleting needs of its settings, as is
// done before it serves anything.
func (w *world) putOnRecord(k *kind.Kind) {
	crd := w.server.Get(crdKind, "", things)
	record := map[string]string{api.AnnotationLeaving: k.DeletionSettings().String()}
	add := func(key string, gk schema.GroupKind) {
		kinds := append(api.ParseKinds(record[key]), gk)
		var texts []string
		for _, gk := range kinds {
			texts = append(texts, gk.String())
		}
		record[key] = strings.Join(texts, ",")
	}
	for _, key := range []string{api.AnnotationChildKinds, api.AnnotationPatchedKinds} {
		record[key] = crd.GetAnnotations()[key]
	}
	for _, c := range k.Children {
		add(api.AnnotationChildKinds, c.GroupKind())
	}
	for _, p := range k.Patches() {
		add(api.AnnotationPatchedKinds, p.GroupKind())
	}
	w.server.Change(crd, "jacquard", func(o *unstructured.Unstructured) { o.SetAnnotations(record) })
}

// turn reconciles the thing once, and returns what was sent.
func (w *world) turn() []string {
	w.Helper()
	v := w.choice.Version
	v.Children, v.Patched = observe.Needs(v.Kind, w.r.cluster.CRD(things), observe.APIs{Served: w.r.cluster.Served(), Defined: w.r.cluster.Defined})
	w.server.Requests()
	var sent []memory.Request
	for again := true; again; {
		w.sent, w.looked = nil, map[int]string{}
		again = w.requeue() == replanAfter
		w.sent = append(w.sent, w.server.Requests()...)
		w.decidesFirst()
		sent = append(sent, w.sent...)
	}
	w.sent = sent
	var all []string
	for _, r := range w.sent {
		text := r.String()
		if r.DryRun {
			text += " (dry run)"
		}
		all = append(all, text)
	}
	return inOrder(all)
}

// requeue reconciles the thing once, and returns when it asks to be looked at again.
func (w *world) requeue() time.Duration {
	w.Helper()
	result, err := w.r.Reconcile(w.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}})
	if err != nil {
		w.Fatal(err)
	}
	return result.RequeueAfter
}

// looks notes that a cache is looked at.
func (w *world) looks(at string) {
	w.sent = append(w.sent, w.server.Requests()...)
	if slices.ContainsFunc(w.sent, memory.Request.Writes) {
		w.looked[len(w.sent)] = at
	}
}

// decidesFirst fails if a cache was looked at between two writes, but that of the
// status, which tells of what the caches have afterwards: what is written is decided
// before the first write.
func (w *world) decidesFirst() {
	w.Helper()
	for from, at := range w.looked {
		if i := slices.IndexFunc(w.sent[from:], func(r memory.Request) bool { return r.Writes() && r.String() != applyStatus }); i >= 0 {
			w.Errorf("the cache of %s is looked at after %s and before %s", at, w.sent[from-1], w.sent[from+i])
		}
	}
}

// inOrder sorts what is applied beside each other, which is sent at the same time.
func inOrder(all []string) []string {
	for from := 0; from < len(all); from++ {
		to := from
		for to < len(all) && strings.HasPrefix(all[to], "apply ") && all[to] != applyStatus {
			to++
		}
		slices.Sort(all[from:to])
		from = max(from, to)
	}
	return all
}

// sends reconciles once and compares what is sent with what is wanted.
func (w *world) sends(when string, want ...string) {
	w.Helper()
	if got := w.turn(); !slices.Equal(got, want) {
		w.Errorf("%s it sends\n\t%s\nwant\n\t%s", when, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// settle reconciles until nothing is sent.
func (w *world) settle() {
	w.Helper()
	for range 20 {
		if len(w.turn()) == 0 {
			return
		}
		w.now = w.now.Add(statusGap)
	}
	w.Fatal("it does not come to rest")
}

// says compares the reason of Ready.
func (w *world) says(when, reason string, parts ...string) {
	w.Helper()
	o := w.server.Get(thingKind, "default", "a")
	ready := status.Condition(o.Object, "Ready")
	text := fmt.Sprint(ready["message"])
	if ready["reason"] != reason || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
		w.Errorf("%s it says %v: %s, want %s %q", when, ready["reason"], text, reason, parts)
	}
}

// edit changes the thing as a person does.
func (w *world) edit(change func(*unstructured.Unstructured)) {
	w.server.Change(w.resource, "person", change)
}

// completes lets a Job succeed.
func (w *world) completes(name string) { w.completesIn("default", name) }

func (w *world) completesIn(namespace, name string) {
	w.server.Change(w.server.Get(plan.JobKind, namespace, name), "job-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	})
}

// late keeps the caches from seeing what happens from now on; seen ends it.
func (w *world) late() {
	w.cached = map[schema.GroupVersionKind][]*unstructured.Unstructured{}
	for _, gvk := range []schema.GroupVersionKind{mapKind, nodeKind, plan.JobKind} {
		w.cached[gvk] = w.server.All(gvk)
	}
}

func (w *world) seen() { w.cached = nil }

func (w *world) all(gvk schema.GroupVersionKind) []*unstructured.Unstructured {
	if found, late := w.cached[gvk]; late {
		return found
	}
	return w.server.All(gvk)
}

// resources reads things from the cache.
type resources struct {
	client.Reader
	w *world
}

func (r resources) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o := r.w.server.Get(r.w.r.gvk, key.Namespace, key.Name)
	if o == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: "example.com", Resource: "things"}, key.Name)
	}
	o.DeepCopyInto(into.(*unstructured.Unstructured))
	return nil
}

// children is the cache of children.
type children struct{ w *world }

func (c children) State(gvk schema.GroupVersionKind, _ ...string) live.State {
	c.w.looks(gvk.Kind)
	if slices.Contains(c.w.unknown, gvk) {
		return live.State{Err: errors.New("forbidden")}
	}
	return live.State{Phase: live.Synced, Holds: live.Body}
}

func (c children) Of(gvk schema.GroupVersionKind, uid types.UID, _ ...string) (all []live.Object, err error) {
	c.w.looks(gvk.Kind)
	for _, o := range c.w.all(gvk) {
		if o.GetLabels()[api.LabelOwnerUID] == string(uid) {
			all = append(all, live.Object{GVK: gvk, Meta: o, Body: o.Object})
		}
	}
	return all, nil
}

func (c children) RecordWrite(schema.GroupVersionKind, *unstructured.Unstructured) {}

func (c children) Resync(context.Context, schema.GroupVersionKind) error {
	c.w.seen()
	return nil
}

// reads answers what templates read.
type reads struct{ w *world }

func (r reads) State(s cluster.Scope) live.State {
	r.w.looks(s.Kind)
	return live.State{Phase: live.Synced, Holds: live.Body}
}

func (r reads) Lookup(q cluster.Query) (*live.Object, error) {
	r.w.looks(q.Scope.Kind)
	if err := r.w.unread[q.Scope.GroupVersionKind]; err != nil {
		return nil, err
	}
	all, late := r.w.read[q.Scope.GroupVersionKind]
	if !late {
		all = r.w.all(q.Scope.GroupVersionKind)
	}
	for _, o := range all {
		if o.GetNamespace() == q.Namespace && o.GetName() == q.Name {
			return &live.Object{GVK: q.Scope.GroupVersionKind, Meta: o, Body: o.Object}, nil
		}
	}
	return nil, nil
}

func (r reads) Select(q cluster.Query) (all []live.Object, err error) {
	r.w.looks(q.Scope.Kind)
	if err := r.w.unread[q.Scope.GroupVersionKind]; err != nil {
		return nil, err
	}
	for _, o := range r.w.all(q.Scope.GroupVersionKind) {
		if q.Selector.Matches(labels.Set(o.GetLabels())) && (q.Namespace == "" || q.Namespace == o.GetNamespace()) {
			all = append(all, live.Object{GVK: q.Scope.GroupVersionKind, Meta: o, Body: o.Object})
		}
	}
	return all, nil
}

func (r reads) Patched(gvk schema.GroupVersionKind, uid types.UID, _ ...string) (all []live.Object, err error) {
	r.w.looks(gvk.Kind)
	for _, o := range r.w.all(gvk) {
		if slices.ContainsFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == api.PatchManager(uid) }) {
			all = append(all, live.Object{GVK: gvk, Meta: o, Body: o.Object})
		}
	}
	return all, nil
}

func (r reads) Tick() uint64                                                    { return 1 }
func (r reads) Record(api.Owner, []cluster.Query)                               {}
func (r reads) RecordWrite(schema.GroupVersionKind, *unstructured.Unstructured) {}
func (r reads) Resync(context.Context, cluster.Scope) error                     { return nil }
