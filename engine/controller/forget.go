package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// forgetAgain is how soon the server is asked again for what is left of kinds
// that nothing makes any more. It doubles each time, up to the slow periodic look.
const forgetAgain = 5 * time.Second

// A forgetting is when to ask for what is left of kinds that are on record and
// that no version in use makes.
type forgetting struct {
	kinds string
	tries int
	next  time.Time
}

// forget takes off the record what nothing makes any more and of which nothing is
// left, once no rollout is under way. It says when to look again; 0 means never.
func (o *Operator) forget(ctx context.Context, r *kindController) time.Duration {
	crd, versions, f := o.crd(r.name), r.versions.versions(), &r.forgets
	if crd == nil || o.paused(r.name) || !r.listed() {
		return 0
	}
	unused := reconcile.Unused(crd, versions)
	if kinds := fmt.Sprint(unused); kinds != f.kinds {
		*f = forgetting{kinds: kinds}
	}
	if len(unused) == 0 {
		return 0
	}
	if wait := time.Until(f.next); wait > 0 {
		return wait
	}
	went, err := r.reconciler.Forget(ctx, versions, r.resources.all())
	switch {
	case apierrors.IsConflict(err): // the CRD changed; the cache tells how
	case err != nil && ctx.Err() == nil:
		log.FromContext(ctx).Error(err, "record not looked through", "kind", r.name)
	case len(went) > 0:
		log.FromContext(ctx).Info("nothing is left of kinds that are not made any more; they are off the record", "kind", r.name, "kinds",
			strings.Join(went, ","))
	}
	wait := min(forgetAgain<<min(f.tries, 10), r.versions.resyncInterval())
	f.tries, f.next = f.tries+1, time.Now().Add(wait)
	return wait
}
