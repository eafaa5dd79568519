package diff

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Try tells what a custom resource would be if a person applied this document:
// by a dry run, with the API server's defaults, as the templates see it. It is
// nil where the server refuses the document, or the caller may not ask; the
// change then says why. live is the resource as it is, or nil.
func (s Sight) Try(ctx context.Context, doc, live *unstructured.Unstructured) (*unstructured.Unstructured, *Change) {
	gvk := doc.GroupVersionKind()
	c := newChange(gvk, doc, Created)
	if live != nil {
		c.Verb = Changed
	}
	r, served := s.Served().Resource(gvk)
	if !served {
		c.Verb, c.Why = Refused, fmt.Sprintf("the cluster does not serve %s %s", gvk.GroupVersion(), gvk.Kind)
		return nil, &c
	}
	doc = prepareDocument(doc, r.Namespaced)
	answer, err := apply.Person{Writer: s.Writer()}.TryFile(ctx, r, doc, live)
	if err != nil {
		c.Verb, c.Why = verbOf(err), err.Error()
		return nil, &c
	}
	if err := convertAnswer(s.Folder, answer); err != nil {
		c.Verb, c.Why = Refused, err.Error()
		return nil, &c
	}
	var before map[string]any
	if live != nil {
		before = live.Object
	}
	if c.Diff, err = diffStates(before, answer.Object, false); err != nil {
		c.Why = err.Error()
	}
	if live != nil && c.Diff == "" {
		c.Verb = Kept
	}
	return answer, &c
}

// prepareDocument returns a copy of a document as a person writes it: without what the server notes
// on objects, and without a namespace if its kind is cluster-scoped.
func prepareDocument(doc *unstructured.Unstructured, namespaced bool) *unstructured.Unstructured {
	doc = &unstructured.Unstructured{Object: copyWithoutNotes(doc.Object, false)}
	if !namespaced {
		doc.SetNamespace("")
	}
	return doc
}

// convertAnswer converts an answer to the version that the templates see, as the server would.
func convertAnswer(folder *kind.Kind, o *unstructured.Unstructured) error {
	if o.GroupVersionKind() == folder.GVK {
		return nil
	}
	how := folder.CRD.Object.Spec.Conversion
	if how != nil && how.Strategy != apiextensionsv1.NoneConverter && how.Strategy != "" {
		return fmt.Errorf("only the server can convert %s, and not what it has not stored; write it as %s", o.GetAPIVersion(),
			folder.GVK.GroupVersion())
	}
	o.SetAPIVersion(folder.GVK.GroupVersion().String())
	folder.Version.Prune(o.Object)
	apiserver.Default(folder.Version, o.Object)
	return nil
}
