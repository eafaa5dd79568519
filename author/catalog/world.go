package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// For returns the cluster as the templates of one resource see it.
func (cl *Cluster) For(k *kind.Kind, resource *unstructured.Unstructured) *World {
	owner := api.Owner{Kind: k.Name, Namespace: resource.GetNamespace(), Name: resource.GetName()}
	return &World{cluster: cl, kind: k, resource: resource, owner: owner}
}

// A World is a Cluster seen from one resource. It is a template.World.
type World struct {
	cluster  *Cluster
	kind     *kind.Kind
	resource *unstructured.Unstructured
	owner    api.Owner
}

// HasAPI reports whether the cluster serves a kind.
func (w *World) HasAPI(apiVersion, kindName string) (bool, error) {
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false, fmt.Errorf("reading apiVersion %s: %w", apiVersion, err)
	}
	return w.cluster.served[gv.WithKind(kindName)], nil
}

// Children returns the objects that say by annotation that this file made them
// and do not say that they are another resource's, newest first.
func (w *World) Children(file string) ([]any, error) {
	var found []any
	for _, u := range w.listMade(file) {
		found = append(found, u.Object)
	}
	return found, nil
}

// listMade returns the objects that a file of the resource's kind made.
func (w *World) listMade(file string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, u := range w.cluster.objects {
		marks := u.GetAnnotations()
		owner, owned := marks[api.AnnotationOwner]
		where, _ := w.kind.Placement(u.GroupVersionKind())
		here := u.GetNamespace() == w.owner.Namespace || u.GetNamespace() == "" || where.Elsewhere()
		if marks[api.AnnotationFile] == file && (owned && owner == w.owner.String() || !owned && here) {
			found = append(found, u)
		}
	}
	return found
}

// Await returns the newest object that a file made, and what is waited for until all
// that it renders now are there, as the step before left them, and ready.
func (w *World) Await(file string, documents []*template.Document) (child any, waits string, err error) {
	rendered, err := render.OfFile(w.kind, w.resource, file, documents)
	if err != nil {
		return nil, "it cannot be rendered", nil // the file's own error says why
	}
	made := w.listMade(file)
	waits, err = render.Awaits(rendered, func(c render.Child) (string, error) { return w.unreadyReason(made, c) })
	if waits != "" || err != nil || len(made) == 0 {
		return nil, waits, err
	}
	return made[0].Object, "", nil
}

// unreadyReason returns why a rendered child is still waited for, or "" if it is not.
func (w *World) unreadyReason(made []*unstructured.Unstructured, c render.Child) (string, error) {
	i := slices.IndexFunc(made, func(u *unstructured.Unstructured) bool { return identityOf(u) == identityOf(c.Object) })
	if i < 0 {
		return render.NotThere, nil
	}
	if before := w.cluster.applied[identityOf(c.Object)]; before != nil {
		now, err := w.asApplied(c)
		if err != nil || !reflect.DeepEqual(before, now.Object) {
			return render.NotApplied, err
		}
	}
	u := made[i]
	gk := u.GroupVersionKind().GroupKind()
	verdict, err := readiness.Of(u.Object, readiness.RuleFor(w.kind.Health, gk), w.cluster.conditioned[gk])
	if err != nil {
		return "", err
	}
	if verdict = verdict.WithClass(w.storageClass(u)); verdict.IsReady() {
		return "", nil
	}
	return "is not ready: " + verdict.Message, nil
}

// storageClass returns the StorageClass of a claim.
func (w *World) storageClass(claim *unstructured.Unstructured) readiness.StorageClass {
	var all []map[string]any
	for _, u := range w.cluster.objects {
		if u.GroupVersionKind() == storageClassKind {
			all = append(all, u.Object)
		}
	}
	return readiness.SelectClass(readiness.ClassName(claim.Object), all)
}

var storageClassKind = apischema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}

// asApplied is a child as the operator applies it.
func (w *World) asApplied(c render.Child) (*unstructured.Unstructured, error) {
	now := c.Object.DeepCopy()
	marks := maps.Clone(now.GetAnnotations())
	if marks == nil {
		marks = map[string]string{}
	}
	marks[api.AnnotationFile], marks[api.AnnotationOwner] = c.File, w.owner.String()
	now.SetAnnotations(marks)
	if now.GroupVersionKind() == secretKind {
		return now, encodeSecret(&Object{Object: now.Object}, now)
	}
	return now, nil
}

// Lookup returns one object of the cluster, or nil.
func (w *World) Lookup(what template.Object) (any, error) {
	found, err := w.findObjects(what, labels.Everything())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// Select returns the objects that match, by namespace and name.
func (w *World) Select(what template.Object, selector labels.Selector) ([]any, error) {
	return w.findObjects(what, selector)
}

// findObjects returns the objects that are meant, as far as the kind may read them. If the cluster
// is not known to have the kind, there is no answer, and so the file waits.
func (w *World) findObjects(what template.Object, selector labels.Selector) ([]any, error) {
	gvk := apischema.FromAPIVersionAndKind(what.APIVersion, what.Kind)
	clusterScoped := w.kind.ClusterScoped(gvk) || w.cluster.wide[gvk.GroupKind()]
	if !clusterScoped {
		what.Namespace = cmp.Or(what.Namespace, w.owner.Namespace)
	}
	if err := w.kind.MayRead(gvk, w.owner.Namespace, what.Namespace, what.Name, clusterScoped); err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	known := w.cluster.served[gvk]
	for _, u := range w.cluster.objects {
		if u.GroupVersionKind() != gvk {
			continue
		}
		known = true
		if (clusterScoped || u.GetNamespace() == what.Namespace) && (what.Name == "" || u.GetName() == what.Name) &&
			selector.Matches(labels.Set(u.GetLabels())) {
			found = append(found, u)
		}
	}
	if !known {
		return nil, &template.Wait{Message: fmt.Sprintf("the cluster has no %s %s to read; ask hasAPI first", what.APIVersion, what.Kind)}
	}
	slices.SortStableFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	objects := make([]any, len(found))
	for i, u := range found {
		objects[i] = u.Object
	}
	return objects, nil
}

// Config returns a setting of the installation.
func (w *World) Config(key string) (any, error) { return w.kind.Config[key], nil }

// Stable returns data.<key> of the newest Secret that a file made; without one
// a stand-in of that length that is the same on every run.
func (w *World) Stable(file, key string, length int) (string, error) {
	for _, u := range w.listMade(file) {
		if u.GroupVersionKind() != secretKind {
			continue
		}
		coded, found, _ := unstructured.NestedString(u.Object, "data", key)
		if !found {
			break
		}
		plain, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return "", fmt.Errorf("reading data.%s of Secret %s: it is not in base64", key, u.GetName())
		}
		return string(plain), nil
	}
	return standIn(file, key, length), nil
}

var notAlphanumeric = regexp.MustCompile(`[^A-Za-z0-9]`)

// standIn stands for a text that a cluster would draw: it begins with "stable"
// and consists of letters and digits, as a drawn one does.
func standIn(file, key string, length int) string {
	text := "stable" + notAlphanumeric.ReplaceAllString(key, "")
	for sum := sha256.Sum256([]byte(file + "/" + key)); len(text) < length; sum = sha256.Sum256(sum[:]) {
		text += hex.EncodeToString(sum[:])
	}
	return text[:length]
}
