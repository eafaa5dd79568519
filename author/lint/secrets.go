package lint

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// secrets finds values of Secrets in a document that is none, where more people
// may read them.
func (l *linter) secrets(gvk apischema.GroupVersionKind, n *typecheck.Node) {
	if n == nil || gvk.GroupKind() == (apischema.GroupKind{Kind: "Secret"}) {
		return
	}
	l.secret(gvk, n, n.Value)
	for _, v := range n.Text {
		l.secret(gvk, n, v)
	}
	for _, v := range n.Beside {
		l.secret(gvk, n, v)
	}
	for _, e := range n.Keys {
		l.secrets(gvk, e.Key)
		l.secrets(gvk, e.Node)
	}
	for _, item := range n.Items {
		l.secrets(gvk, item)
	}
}

// secret checks where one value comes from.
func (l *linter) secret(gvk apischema.GroupVersionKind, n *typecheck.Node, v *typecheck.Value) {
	if v == nil {
		return
	}
	for _, source := range v.Sources {
		if !source.Confidential() {
			continue
		}
		where := "the status"
		if gvk.Kind != "" {
			where = "a " + gvk.Kind
		}
		l.add(typecheck.Secret, n.Place, "a value of a Secret would stand in "+where+
			", where more people may read it: refer to the Secret, as with secretKeyRef or a volume, or print a checksum with sha256sum")
		return
	}
}
