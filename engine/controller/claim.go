package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// crd is the metadata of a CRD as last seen or as our last write answered it,
// or nil.
func (t *kindTable) crd(name string) metav1.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, answer := t.seen(name).crd, t.seen(name).answer
	switch {
	case seen == nil:
		return nil
	case answer == nil || answer.GetUID() != seen.UID:
		return seen
	}
	if c, err := resourceversion.CompareResourceVersion(answer.GetResourceVersion(), seen.ResourceVersion); err != nil || c <= 0 {
		t.state(name).answer = nil
		return seen
	}
	return answer
}

// annotate changes annotations of a CRD.
func (t *kindTable) annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) error {
	answer, err := apply.CRDsOf(t.writer).Annotate(ctx, crd, annotations)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.state(crd.GetName())
	k.answer = answer
	if k.controller != nil { // else it is just being claimed
		metrics.Kind(crd.GetName()).Wrote(metrics.Record)
	}
	return nil
}

// hasRecord reports whether children were ever made for a kind.
func hasRecord(crd metav1.Object) bool {
	return crd.GetAnnotations()[api.AnnotationChildKinds] != "" || crd.GetAnnotations()[api.AnnotationPatchedKinds] != ""
}

// shardOf is the part of a kind's resources that this installation serves.
func (t *kindTable) shardOf(crd *apiextensionsv1.CustomResourceDefinition) shard.Shard {
	all := shard.Shard{Identity: t.options.Identity, Namespaces: t.options.Namespaces, Selector: t.options.Selector}
	return all.OfKind(crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
}

// recordElsewhere tells once that another installation serves a kind, or the part of it that we
// would; "" is nobody.
func (n *kindReporter) recordElsewhere(ctx context.Context, p *kindPass, text string) {
	n.mu.Lock()
	k := n.state(p.name)
	before := k.elsewhere
	k.elsewhere = text
	n.mu.Unlock()
	if before == text {
		return
	}
	metrics.Kind(p.name).Elsewhere(text != "")
	if text == "" {
		return
	}
	log.FromContext(ctx).Info("kind not served", "kind", p.name, "message", text)
	n.mgr.GetEventRecorder("jacquard").Eventf(p.definition, nil, corev1.EventTypeWarning, api.ReasonServedElsewhere, "Claim", "%s", cut(text))
}

// elsewhere says why a kind is not served here, and how to take it over.
func elsewhere(name string, mine shard.Shard, other shard.Claim) string {
	why := fmt.Sprintf("operator %s serves this kind, so %s does not", other.Identity, mine.Identity)
	if !mine.Whole() || !other.Whole() {
		why = fmt.Sprintf("operator %s serves %s of this kind; %s, which is to serve %s, does not, since a resource could be of both",
			other.Identity, other.Shard, mine.Identity, mine)
	}
	return fmt.Sprintf("%s; to take it over, stop that operator or remove its folder, then: kubectl annotate crd %s %s-", why, name, other.Key)
}
