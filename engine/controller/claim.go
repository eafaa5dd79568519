package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// crd is the metadata of a CRD as last seen or as our last write answered it,
// or nil.
func (o *Operator) crd(name string) metav1.Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen, answer := o.seen(name).crd, o.seen(name).answer
	switch {
	case seen == nil:
		return nil
	case answer == nil || answer.GetUID() != seen.UID:
		return seen
	}
	if c, err := resourceversion.CompareResourceVersion(answer.GetResourceVersion(), seen.ResourceVersion); err != nil || c <= 0 {
		o.state(name).answer = nil
		return seen
	}
	return answer
}

// annotate changes annotations of a CRD.
func (o *Operator) annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) error {
	answer, err := apply.CRDsOf(o.writer).Annotate(ctx, crd, annotations)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.state(crd.GetName())
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
func (o *Operator) shardOf(crd *apiextensionsv1.CustomResourceDefinition) shard.Shard {
	all := shard.Shard{Identity: o.options.Identity, Namespaces: o.options.Namespaces, Selector: o.options.Selector}
	return all.OfKind(crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
}

// claimKind makes the kind, or our share of it, ours before it is first served, and,
// where no child of it was ever made, puts its folder on record as rolled out.
// It never takes what another installation serves, nor a kind that this one has
// no folder for.
func (h *history) claimKind(ctx context.Context, v *observe.Version, mine shard.Shard) (ours bool, err error) {
	o, name := h.o, v.Name
	crd := o.crd(name)
	if crd == nil {
		return false, nil
	}
	claims, write := shard.Claims(crd), map[string]any{}
	key, text := mine.Claim()
	if v.Removed && !mine.Holds(claims) { // others have the folder
		o.recordClaim(ctx, name, mine, nil)
		return false, nil
	}
	if other := mine.Conflict(claims); other != nil {
		o.recordClaim(ctx, name, mine, other)
		return false, nil
	}
	o.recordClaim(ctx, name, mine, nil)
	// A kind that is served already was claimed: whoever takes the claim off hands it over.
	began := crd.GetAnnotations()[key] != text && o.kindController(name) == nil
	if began {
		maps.Copy(write, mine.ClaimAnnotation(crd))
	}
	if record := readRecord(crd, mine); v.Kind != nil && !hasRecord(crd) && record.Target().Digest != v.Digest && !o.settled(name) {
		maps.Copy(write, recordAnnotations(mine, rollout.Record{State: rollout.Complete, Began: time.Now().UTC(),
			Revisions: []rollout.Revision{{Number: h.nextNumber(v.Digest, record), Digest: v.Digest}}}))
	}
	if len(write) == 0 || o.options.ReadOnly {
		return true, nil
	}
	if err := o.annotate(ctx, crd, write); err != nil {
		return false, fmt.Errorf("claiming CRD %s: %w", name, err)
	}
	return true, nil
}

// settled reports whether a folder of the kind serves resources already.
func (o *Operator) settled(name string) bool {
	r := o.kindController(name)
	return r != nil && r.versions.hasFolder()
}

// recordAnnotations are the annotations of a CRD that hold a record.
func recordAnnotations(mine shard.Shard, record rollout.Record) map[string]any {
	write := map[string]any{mine.Key(api.AnnotationRollout): record.String()}
	if record.State == rollout.Complete {
		write[mine.Key(api.AnnotationRolledOut)] = record.Target().Digest
	}
	return write
}

// recordClaim tells once who else serves a kind, or the part of it that we would;
// nil is nobody.
func (o *Operator) recordClaim(ctx context.Context, name string, mine shard.Shard, other *shard.Claim) {
	text := ""
	if other != nil {
		text = elsewhere(name, mine, *other)
	}
	o.mu.Lock()
	k := o.state(name)
	before := k.elsewhere
	k.elsewhere = text
	o.mu.Unlock()
	if before == text {
		return
	}
	if other == nil {
		metrics.Kind(name).Elsewhere(false)
		return
	}
	metrics.Kind(name).Elsewhere(true)
	log.FromContext(ctx).Info("kind not served", "kind", name, "message", text)
	if crd := o.seenCRD(name); crd != nil {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, api.ReasonServedElsewhere, "Claim", "%s", cut(text))
	}
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
