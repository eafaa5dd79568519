package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// Unused are the kinds on record on a CRD that no version makes, or patches, by
// annotation. While a version is not known, each may be in use.
func Unused(crd metav1.Object, versions []*observe.Version) map[string][]schema.GroupKind {
	if slices.ContainsFunc(versions, func(v *observe.Version) bool { return v.Kind == nil }) || len(versions) == 0 {
		return nil
	}
	unused := map[string][]schema.GroupKind{}
	for key, patched := range records {
		for _, gk := range observe.Recorded(crd.GetAnnotations()[key]) {
			if !slices.ContainsFunc(versions, func(v *observe.Version) bool { return v.WritesKind(gk, patched) }) {
				unused[key] = append(unused[key], gk)
			}
		}
	}
	return unused
}

// Forget takes off the record what no version in use makes or patches, once the
// server itself shows no object that is ours. Resources are those that there are.
// What is returned are the kinds that went; none, where others may have made some
// that we do not see, or where something may be under way.
//
// Turns that write one of the kinds meanwhile wait, and put it on record again.
func (r *Reconciler) Forget(ctx context.Context, versions []*observe.Version, resources []*live.Packed) (went []string, err error) {
	return forgetter{r}.forgetKinds(ctx, versions, resources)
}

// A forgetter takes kinds off the record of their CRD.
type forgetter struct{ *Reconciler }

func (r forgetter) forgetKinds(ctx context.Context, versions []*observe.Version, resources []*live.Packed) (went []string, err error) {
	crd, unused := r.toForget(versions)
	if len(unused) == 0 {
		return nil, nil
	}
	var answer metav1.Object
	defer func() { r.recorded.endWrite(answer) }()
	write, rest := map[string]any{}, false
	for key, patched := range records {
		have := observe.Recorded(crd.GetAnnotations()[key])
		left := slices.Clone(have)
		for _, gk := range unused[key] {
			there, err := r.existsAny(ctx, gk, patched, resources)
			if err != nil {
				return nil, fmt.Errorf("looking for what is left of kind %s: %w", gk.Kind, err)
			}
			if !there {
				left = slices.DeleteFunc(left, func(k schema.GroupKind) bool { return k == gk })
				went = append(went, gk.String())
			}
		}
		rest = rest || len(left) > 0
		if len(left) < len(have) {
			if write[key] = recordText(left); len(left) == 0 {
				write[key] = nil
			}
		}
	}
	if len(write) == 0 {
		return nil, nil
	}
	// Without a record nobody would take the finalizer off once the folder is gone.
	if !rest && slices.ContainsFunc(resources, hasOurFinalizer) {
		return nil, nil
	}
	written, err := apply.CRDsOf(r.cluster.Writer).Annotate(ctx, crd, write)
	if err != nil {
		return nil, fmt.Errorf("taking kinds off the record on CRD %s: %w", r.name, err)
	}
	answer = written
	metrics.Kind(r.name).Wrote(metrics.Record)
	slices.Sort(went)
	return slices.Compact(went), nil
}

// hasOurFinalizer reports whether our finalizer is on a resource.
func hasOurFinalizer(o *live.Packed) bool {
	return slices.Contains(o.GetFinalizers(), api.Finalizer)
}

// toForget begins to write the record, if there is anything to take off; endWrite must follow
// then. What an operator before this one, or a write without
// answer, may still bring about, stays on record for a while; and for as long as
// other installations may make it, or nothing is known of some namespaces.
func (r forgetter) toForget(versions []*observe.Version) (metav1.Object, map[string][]schema.GroupKind) {
	r.recorded.mu.Lock()
	defer r.recorded.mu.Unlock()
	crd := r.newestCRD()
	if crd == nil || r.recorded.busy != nil || r.now().Sub(r.leadsSince) < recent || !r.servesAlone(crd) {
		return nil, nil
	}
	unused := Unused(crd, versions)
	for key := range unused {
		unused[key] = slices.DeleteFunc(unused[key], r.recorded.isUnsettled)
		if len(unused[key]) == 0 {
			delete(unused, key)
		}
	}
	if len(unused) > 0 {
		r.recorded.busy, r.recorded.forgetting = make(chan struct{}), unused
	}
	return crd, unused
}

// servesAlone reports whether this installation alone serves all resources of the kind, and
// sees all namespaces.
func (r forgetter) servesAlone(crd metav1.Object) bool {
	claims := shard.Claims(crd)
	return r.cluster.Shard.Whole() && len(r.cluster.Namespaces) == 0 && len(claims) == 1 && r.cluster.Shard.Holds(claims)
}

// recent is for how long a write of the operator before this one, or a write without a
// response, may still come into effect.
const recent = 5 * time.Minute

// isUnsettled reports whether a write of a kind is under way, or may be. The caller must hold
// the mutex.
func (r *record) isUnsettled(gk schema.GroupKind) bool {
	lost, doubtful := r.doubtful[gk]
	return r.using[gk] > 0 || doubtful && time.Since(lost) < recent
}

// recordDoubt records that a write of a kind got no response.
func (r *record) recordDoubt(gk schema.GroupKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubtful == nil {
		r.doubtful = map[schema.GroupKind]time.Time{}
	}
	r.doubtful[gk] = time.Now()
}

// existsAny asks the server itself whether there is a child, or an object with a
// patch, of any resource of the kind. What the cluster does not serve may be
// there. A child says itself whose it is, and one that does not may be ours; of a
// patch only the resource's uid tells.
func (r forgetter) existsAny(ctx context.Context, gk schema.GroupKind, patched bool, resources []*live.Packed) (bool, error) {
	served, found := r.cluster.Served().Preferred(gk)
	if !found {
		return true, nil
	}
	if !patched {
		return r.cluster.Writer.Some(ctx, served, api.LabelOwnerUID, func(o metav1.Object) bool {
			owner, named := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
			return !named || owner.Kind == r.name
		})
	}
	uids := map[types.UID]bool{}
	for i := range resources {
		uids[resources[i].GetUID()] = true
	}
	return r.cluster.Writer.Some(ctx, served, "", func(o metav1.Object) bool {
		return slices.ContainsFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
			return uids[types.UID(strings.TrimPrefix(m.Manager, api.PatchManager("")))]
		})
	})
}

// Forgot reports whether a kind went off the record from one state of a CRD to the
// next. Who makes it is to put it there again, whoever took it off.
func Forgot(before, after metav1.Object) bool {
	for key := range records {
		now := observe.Recorded(after.GetAnnotations()[key])
		isLeftOut := func(gk schema.GroupKind) bool { return !slices.Contains(now, gk) }
		if slices.ContainsFunc(observe.Recorded(before.GetAnnotations()[key]), isLeftOut) {
			return true
		}
	}
	return false
}
