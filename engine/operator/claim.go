package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// crd is the metadata of a CRD as last seen or as our last write answered it,
// or nil.
func (o *Operator) crd(name string) metav1.Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen, answer := o.crds[name], o.answers[name]
	switch {
	case seen == nil:
		return nil
	case answer == nil || answer.GetUID() != seen.UID:
		return seen
	}
	if c, err := resourceversion.CompareResourceVersion(answer.GetResourceVersion(), seen.ResourceVersion); err != nil || c <= 0 {
		delete(o.answers, name)
		return seen
	}
	return answer
}

// annotate changes annotations of a CRD.
func (o *Operator) annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) error {
	answer, err := o.writer.Annotate(ctx, crd, annotations)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers[crd.GetName()] = answer
	return nil
}

// hasRecord says whether children were ever made for a kind.
func hasRecord(crd metav1.Object) bool {
	return crd.GetAnnotations()[api.AnnotationChildKinds] != "" || crd.GetAnnotations()[api.AnnotationPatchedKinds] != ""
}

// claim makes the kind ours before it is first served, and, where no child of
// it was ever made, puts its folder on record as rolled out. It never takes a
// kind that another installation serves, nor one that it has no folder for.
func (o *Operator) claim(ctx context.Context, v *reconcile.Version) (ours bool, err error) {
	name := v.Name
	crd := o.crd(name)
	if crd == nil {
		return false, nil
	}
	holder, write := crd.GetAnnotations()[api.AnnotationOperator], map[string]any{}
	switch {
	case holder == o.options.Identity:
	case v.Removed: // others have the folder
		return false, nil
	case holder != "":
		o.noteClaim(ctx, name, holder)
		return false, nil
	case !o.serves(name): // one that is served already was claimed; whoever takes the claim off hands it over
		write[api.AnnotationOperator] = o.options.Identity
	}
	o.noteClaim(ctx, name, "")
	if v.Kind != nil && !hasRecord(crd) && crd.GetAnnotations()[api.AnnotationRolledOut] != v.Digest && !o.settled(name) {
		write[api.AnnotationRolledOut] = v.Digest
	}
	if len(write) == 0 {
		return true, nil
	}
	if err := o.annotate(ctx, crd, write); err != nil {
		return false, fmt.Errorf("claiming CRD %s: %w", name, err)
	}
	return true, nil
}

// serves says whether the kind runs.
func (o *Operator) serves(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs[name] != nil
}

// settled says whether a folder of the kind serves resources already.
func (o *Operator) settled(name string) bool {
	o.mu.Lock()
	r := o.runs[name]
	o.mu.Unlock()
	return r != nil && r.course.good()
}

// noteClaim tells once who else serves a kind; holder "" is nobody.
func (o *Operator) noteClaim(ctx context.Context, name, holder string) {
	o.mu.Lock()
	before := o.holders[name]
	o.holders[name] = holder
	o.mu.Unlock()
	if before == holder {
		return
	}
	if holder == "" {
		kindsElsewhere.DeleteLabelValues(name)
		return
	}
	kindsElsewhere.WithLabelValues(name).Set(1)
	text := fmt.Sprintf("operator %s serves this kind, so %s does not; to take it over, stop that operator or remove its folder, then: kubectl annotate crd %s %s-",
		holder, o.options.Identity, name, api.AnnotationOperator)
	log.FromContext(ctx).Info("kind not served", "kind", name, "why", text)
	if crd := o.object(name); crd != nil {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, "ServedElsewhere", "Claim", "%s", cut(text))
	}
}
