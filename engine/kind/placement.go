package kind

import (
	"errors"
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Scopes reports whether a kind lives in no namespace; known is false if that
// cannot be told. What it says of built-in kinds is not asked for.
type Scopes func(apischema.GroupVersionKind) (clusterScoped, known bool)

// A Site is what a kind must know of the cluster that it runs in.
type Site struct {
	// Namespace is the operator's own, in which nothing may be made; "" if it is
	// not known.
	Namespace string
	// Namespaces are those that the operator is limited to; none means all.
	Namespaces []string
	// Scopes knows kinds that are not built in; it may be nil.
	Scopes Scopes
}

// At returns the kind as it is in a cluster.
func (k *Kind) At(s Site) *Kind {
	at := *k
	at.site = s
	return &at
}

// OperatorNamespace is the namespace that the operator runs in; "" if it is not
// known.
func (k *Kind) OperatorNamespace() string { return k.site.Namespace }

// Within reports whether the operator watches a namespace: it may be limited to
// some.
func (k *Kind) Within(namespace string) bool {
	return len(k.site.Namespaces) == 0 || slices.Contains(k.site.Namespaces, namespace)
}

// ClusterScoped reports whether a kind lives in no namespace, as far as that is
// known.
func (k *Kind) ClusterScoped(gvk apischema.GroupVersionKind) bool {
	clusterScoped, _ := k.scopeOf(gvk, k.site.Scopes)
	return clusterScoped
}

// scopeOf reports whether a kind is cluster-scoped, if that is known.
func (k *Kind) scopeOf(gvk apischema.GroupVersionKind, scopes Scopes) (clusterScoped, known bool) {
	switch {
	case schema.ClusterScoped(gvk.GroupKind()):
		return true, true
	case schema.BuiltIn(gvk):
		return false, true
	case gvk == k.GVK:
		return !k.CRD.Namespaced, true
	}
	if scopes != nil {
		if clusterScoped, known := scopes(gvk); known {
			return clusterScoped, true
		}
	}
	// Nobody knows the kind, but a rule without namespaces says it of a read.
	unplaced := slices.ContainsFunc(k.readRules(gvk), func(r ReadRule) bool { return r.Namespaces == nil })
	return unplaced, unplaced
}

// GVK is the kind that the rule is about.
func (r ChildRule) GVK() apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// Placement says where objects of a kind may be besides the resource's own
// namespace; declared is false if kind.yaml does not name the kind.
func (k *Kind) Placement(gvk apischema.GroupVersionKind) (where Namespaces, declared bool) {
	i := slices.IndexFunc(k.Settings.Children, func(r ChildRule) bool { return r.GVK() == gvk })
	if i < 0 {
		return Namespaces{}, false
	}
	return k.Settings.Children[i].Namespaces, true
}

// CheckScopes finds out, with what is known of kinds that are not built in,
// what Compile could not: children and reads of cluster-scoped kinds that are
// not declared.
func (k *Kind) CheckScopes(scopes Scopes) error {
	return errors.Join(k.checkPlaces(scopes), k.checkAsks(scopes))
}

// checkPlaces refuses documents whose place must be declared and is not; with
// scopes only those of kinds that are not built in.
func (k *Kind) checkPlaces(scopes Scopes) error {
	var errs []error
	for _, d := range k.Documents {
		if _, known := k.scopeOf(d.GroupVersionKind, nil); known && scopes != nil || d.GroupKind() == k.GVK.GroupKind() {
			continue
		}
		if wrong := k.placementError(d.GroupVersionKind, scopes); wrong != "" {
			errs = append(errs, &template.Error{Place: d.Place, Err: errors.New(wrong)})
		}
	}
	for i, rule := range k.Settings.Children {
		clusterScoped, known := k.scopeOf(rule.GVK(), scopes)
		if scopes == nil || !known || !clusterScoped || !rule.Namespaces.Elsewhere() {
			continue
		}
		path := fmt.Sprintf("children[%d].namespaces", i)
		errs = append(errs, &template.Error{Place: k.written[path], Err: fmt.Errorf("%s is cluster-scoped: it has no namespaces", rule.Kind)})
	}
	return errors.Join(errs...)
}

var namespace = apischema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// checkRendered refuses rules about rendered namespaces of a folder that makes
// none.
func (k *Kind) checkRendered() error {
	var errs []error
	for i, rule := range k.Settings.Children {
		if rule.Namespaces.Rendered && !k.Creates(namespace) {
			path := fmt.Sprintf("children[%d].namespaces", i)
			errs = append(errs, &template.Error{Place: k.written[path], Err: errors.New("the folder makes no Namespace, so none is rendered")})
		}
	}
	return errors.Join(errs...)
}

// placementError says what must be declared of a document's kind and is not.
func (k *Kind) placementError(gvk apischema.GroupVersionKind, scopes Scopes) string {
	clusterScoped, known := k.scopeOf(gvk, scopes)
	where, declared := k.Placement(gvk)
	rule := fmt.Sprintf("- {apiVersion: %s, kind: %s}", gvk.GroupVersion(), gvk.Kind)
	switch {
	case clusterScoped && !declared:
		return fmt.Sprintf("%s is cluster-scoped and must be declared: write in kind.yaml, under children: %s", gvk.Kind, rule)
	case known && !clusterScoped && !k.CRD.Namespaced && !where.Elsewhere():
		return fmt.Sprintf("%s is cluster-scoped and so has no namespace for %s: write in kind.yaml, under children: %s, namespaces: rendered} (or a list of names)",
			k.GVK.Kind, gvk.Kind, rule[:len(rule)-1])
	}
	return ""
}
