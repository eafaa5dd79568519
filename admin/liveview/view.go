package liveview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// A Kind is one kind as the cluster has it.
type Kind struct {
	Name     string
	GVK      schema.GroupVersionKind
	Resource live.Resource
	// CRD is nil if it may not be read and is not on file. Unread says why it
	// may not be read; CRD is then that on file, which has no record of the
	// children that there were.
	CRD    *apiextensionsv1.CustomResourceDefinition
	Unread error
	// Shard is whose resources are looked at, as Look chose.
	Share shard.Shard
}

// An UnknownKindError is about a kind that the cluster does not have, or of which several
// have that name.
type UnknownKindError struct {
	Name   string
	reason string
}

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("finding kind %s: %s", e.Name, e.reason)
}

// Kind finds a kind by the name of its CRD, or by kind, plural, singular or short
// name if these are clear.
func (s *Survey) Kind(ctx context.Context, name string) (*Kind, error) {
	named := s.served.Named(name)
	_, group, _ := strings.Cut(name, ".")
	switch len(named) {
	case 0:
		if err := s.served.Unknown(group); err != nil {
			return nil, fmt.Errorf("finding kind %s: %w", name, err)
		}
		return nil, &UnknownKindError{name, "the cluster has none of that name; give the name of its CRD, as in webs.example.com, or install it"}
	case 1:
	default:
		var all []string
		for _, r := range named {
			all = append(all, r.GVR.GroupResource().String())
		}
		return nil, &UnknownKindError{name, fmt.Sprintf("it may be %v; give one of these names", all)}
	}
	r := named[0]
	k := &Kind{Name: r.GVR.GroupResource().String(), Resource: r, GVK: r.GVK}
	k.CRD, k.Unread = s.lookUpCRD(ctx, k.Name)
	if k.CRD == nil && k.Unread == nil {
		return nil, &UnknownKindError{k.Name, "no CRD defines it, so it cannot have a folder"}
	}
	return k, nil
}

// HasNamespace reports whether the cluster has a namespace, as far as it may be read.
func (s *Survey) HasNamespace(ctx context.Context, name string) (bool, error) {
	found, err := s.Object(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", name)
	return found != nil, err
}

// As is the kind in another version that the cluster serves.
func (s *Survey) As(k *Kind, gvk schema.GroupVersionKind) (*Kind, error) {
	r, served := s.served.Resource(gvk)
	if !served {
		return nil, fmt.Errorf("reading %s: the cluster does not serve %s", k.Name, gvk.GroupVersion())
	}
	as := *k
	as.GVK, as.Resource = gvk, r
	return &as, nil
}

// Scopes reports whether a kind lives in no namespace, as the cluster serves it.
func (s *Survey) Scopes(gvk schema.GroupVersionKind) (clusterScoped, known bool) {
	r, found := s.served.Resource(gvk)
	return found && !r.Namespaced, found
}

// Resources lists the resources of a kind; namespace "" is all of them.
func (s *Survey) Resources(ctx context.Context, k *Kind, namespace string) ([]*unstructured.Unstructured, error) {
	objects, err := bodyLister(s.objects, k.Resource, namespace).listAll(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, classifyError("listing "+k.Name, err)
	}
	all := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		all[i] = o.(*unstructured.Unstructured)
	}
	return all, nil
}

// Get reads one resource of a kind; nil if there is none.
func (s *Survey) Get(ctx context.Context, k *Kind, namespace, name string) (*unstructured.Unstructured, error) {
	if !k.Resource.Namespaced {
		namespace = ""
	}
	found, err := readObject(ctx, s.objects, k.Resource, asked{namespace: namespace, name: name})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Meta.(*unstructured.Unstructured), nil
}

// A View is what is known of some resources of one kind. It reads what it is
// asked for, once.
type View struct {
	ctx       context.Context
	survey    *Survey
	kind      *Kind
	version   *observe.Version
	resources []*unstructured.Unstructured
	children  *children
	reads     *reads

	mu       sync.Mutex
	notes    []string
	troubles []string
}

// View looks at resources of a kind through its folder, nil if there is none.
// The context bounds all that it reads.
func (s *Survey) View(ctx context.Context, k *Kind, folder *kind.Kind, resources ...*unstructured.Unstructured) *View {
	v := &View{ctx: ctx, survey: s, kind: k, resources: resources}
	v.children, v.reads = &children{View: v}, &reads{View: v}
	v.version = &observe.Version{Name: k.Name, Kind: folder, Removed: folder == nil}
	if folder != nil {
		v.version.Digest = folder.Digest[:16]
		v.version.Schema = func() *crdschema.Version { return folder.Version }
	} else if k.CRD != nil {
		v.version.Schema = sync.OnceValue(func() *crdschema.Version { return schemaVersion(k.CRD, k.GVK.Version) })
	}
	v.version.Children, v.version.Patched = observe.Needs(folder, v.findCRD(k.Name), observe.APIs{
		Served: s.served, Defined: func(gk schema.GroupKind) bool { return s.definesKind(ctx, gk) },
	})
	if k.Unread != nil {
		v.addReportedKinds()
		v.addNote(fmt.Sprintf("%v; so of the kinds of children that were made before, only those that the resource's status tells of are known",
			k.Unread))
	}
	if len(resources) == 1 {
		if why := k.Unserved(resources[0]); why != "" {
			v.addNote(why)
		}
	}
	return v
}

// addReportedKinds adds the kinds of children that the statuses of resources list.
func (v *View) addReportedKinds() {
	for _, o := range v.resources {
		items, _, _ := unstructured.NestedSlice(o.Object, "status", "children")
		for _, item := range items {
			m, _ := item.(map[string]any)
			apiVersion, _ := m["apiVersion"].(string)
			name, _ := m["kind"].(string)
			gvk := schema.FromAPIVersionAndKind(apiVersion, name)
			if _, served := v.survey.served.Resource(gvk); served {
				v.version.Children[gvk] = live.Body
			}
		}
	}
}

// schemaVersion returns a version of a CRD, or nil if it cannot be read.
func schemaVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) *crdschema.Version {
	read, err := crdschema.FromObject(crd)
	if err != nil {
		return nil
	}
	as, err := read.Version(version)
	if err != nil {
		return nil
	}
	return as
}

// Version is what the resources are looked at with.
func (v *View) Version() *observe.Version { return v.version }

// Notes say what the view does not know, sorted.
func (v *View) Notes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	slices.Sort(v.notes)
	return slices.Compact(slices.Clone(v.notes))
}

// addNote adds a note for whoever reads the view.
func (v *View) addNote(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.notes = append(v.notes, text)
}

// Troubles say what could not be read, sorted: what depends on it is not known.
func (v *View) Troubles() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	slices.Sort(v.troubles)
	return slices.Compact(slices.Clone(v.troubles))
}

// addTrouble records an error and returns it. It is no trouble that a kind is not served.
func (v *View) addTrouble(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil && !errors.Is(err, live.ErrNotServed) {
		v.troubles = append(v.troubles, err.Error())
	}
	return err
}

// Whole reads an object, nil if there is none, as it is.
func (v *View) Whole(gvk schema.GroupVersionKind, namespace, name string) (*live.Object, error) {
	r, state := v.survey.stateOf(gvk)
	if state.Phase != live.Synced {
		return nil, state.Err
	}
	found, err := readObject(v.ctx, v.survey.objects, r, asked{namespace: namespace, name: name})
	if err != nil || len(found) == 0 {
		return nil, v.addTrouble(err)
	}
	return &found[0], nil
}

// ListChildren lists the kinds of children, at the same time.
func (v *View) ListChildren() {
	kinds := slices.Collect(maps.Keys(v.version.Children))
	Together(len(kinds), func(i int) { v.children.State(kinds[i]) })
}

// Reconciler is the operator's own road for these resources, over this view:
// what is written is only tried. It has listed the kinds of children first.
func (v *View) Reconciler() *reconcile.Reconciler {
	v.ListChildren()
	return reconcile.New(v.kind.Name, v.kind.GVK, nil, v.Cluster())
}

// Cluster answers what the operator asks of its caches.
func (v *View) Cluster() reconcile.Cluster {
	return reconcile.Cluster{Writer: v.survey.writer, Resource: v.survey.served.Resource, Caches: observe.Caches{
		Children: v.children, Reads: v.reads,
		Served:             v.survey.Served,
		DeclaresConditions: func(gk schema.GroupKind) bool { return v.survey.declaresConditions(v.ctx, gk) },
		Defined:            func(gk schema.GroupKind) bool { return v.survey.definesKind(v.ctx, gk) },
		CRD:                v.findCRD,
		Shard:              v.servingShare(),
	}}
}

// findCRD returns the metadata of the kind's CRD; that on file says nothing of the past. Those of
// its children matter only to writes that failed.
func (v *View) findCRD(name string) metav1.Object {
	if name != v.kind.Name || v.kind.CRD == nil || v.kind.Unread != nil {
		return nil
	}
	return v.kind.CRD
}
