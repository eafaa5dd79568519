package lint

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// checkSecrets finds values of Secrets in a document that is no Secret, where more people may read
// them.
func (l *linter) checkSecrets(gvk apischema.GroupVersionKind, n *typecheck.Node) {
	if n == nil || gvk.GroupKind() == (apischema.GroupKind{Kind: "Secret"}) {
		return
	}
	l.checkSecretValue(gvk, n, n.Value)
	for _, v := range n.Text {
		l.checkSecretValue(gvk, n, v)
	}
	for _, v := range n.Beside {
		l.checkSecretValue(gvk, n, v)
	}
	for _, e := range n.Keys {
		l.checkSecrets(gvk, e.Key)
		l.checkSecrets(gvk, e.Node)
	}
	for _, item := range n.Items {
		l.checkSecrets(gvk, item)
	}
}

// checkSecretValue checks where one value comes from.
func (l *linter) checkSecretValue(gvk apischema.GroupVersionKind, n *typecheck.Node, v *typecheck.Value) {
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
		l.add(typecheck.SecretLeak, n.Place, "a value of a Secret would stand in "+where+
			", where more people may read it: refer to the Secret, as with secretKeyRef or a volume, or print a checksum with sha256sum")
		return
	}
}
