package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var errNoHome = errors.New("this operator has no namespace to keep revisions of folders in")

// A history is what is kept of the folder of one kind. It is listed when it is first
// needed.
type history struct {
	o    *Operator
	crd  *apiextensionsv1.CustomResourceDefinition
	list func() ([]*revision.Revision, error)
}

func (o *Operator) history(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) *history {
	return &history{o, crd, sync.OnceValues(func() ([]*revision.Revision, error) { return o.revisions(ctx, crd.Name) })}
}

// revisions lists the revisions of a kind that this installation keeps, the last first.
func (o *Operator) revisions(ctx context.Context, name string) ([]*revision.Revision, error) {
	found, err := o.controllerRevisions(ctx, name, revision.Selector(o.options.Identity, name))
	if err != nil {
		return nil, fmt.Errorf("listing revisions of %s: %w", name, err)
	}
	return revision.Read(found), nil
}

// controllerRevisions lists the ControllerRevisions that this installation keeps of a kind.
func (o *Operator) controllerRevisions(ctx context.Context, name, selects string) ([]appsv1.ControllerRevision, error) {
	home := o.options.home()
	if home == "" {
		return nil, errNoHome
	}
	selector, err := labels.Parse(selects)
	if err != nil {
		return nil, err
	}
	var found appsv1.ControllerRevisionList
	if err := o.mgr.GetAPIReader().List(ctx, &found, client.InNamespace(home), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found.Items, func(r appsv1.ControllerRevision) bool {
		return r.Annotations[api.AnnotationKind] != name || r.Annotations[api.AnnotationOperator] != o.options.Identity
	}), nil
}

// find is the revision with a digest.
func (h *history) find(digest string) (*revision.Revision, error) {
	all, err := h.list()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Digest == digest {
			return r, nil
		}
	}
	return nil, fmt.Errorf("revision %s of its folder is not kept", digest)
}

// version is the version that a revision makes with the CRD.
func (h *history) version(digest string) (*observe.Version, error) {
	r, err := h.find(digest)
	if err != nil {
		return nil, err
	}
	return h.compiled(r)
}

func (h *history) compiled(r *revision.Revision) (*observe.Version, error) {
	live, err := schema.FromObject(h.crd)
	if err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", h.crd.Name, err)
	}
	k, err := r.Compile(live)
	if err == nil {
		k, err = h.o.placed(k)
	}
	if err != nil {
		return nil, err
	}
	v := &observe.Version{Name: r.Kind, Kind: k}
	h.o.complete(v, h.crd)
	return v, nil
}

// keep stores a version as a revision before it serves anything, once, and deletes
// those that nobody needs. f is nil if a revision makes the version.
func (o *Operator) keep(ctx context.Context, h *history, v *observe.Version, f *folder.Folder) {
	o.mu.Lock()
	k := o.state(v.Name)
	done := v.Kind == nil || o.options.ReadOnly || k.kept == v.Digest
	o.mu.Unlock()
	if done {
		return
	}
	err := o.store(ctx, h, v, f)
	switch {
	case errors.Is(err, errNoHome):
		o.noHome.Do(func() {
			log.FromContext(ctx).Info("no revisions of folders are kept, since the operator has no namespace: after a restart with a changed folder, resources are held that its rollout has not reached")
		})
	case err != nil:
		log.FromContext(ctx).Error(err, "folder not kept as a revision; it is tried again", "kind", v.Name)
		o.names.AddAfter(v.Name, time.Minute)
		return
	}
	o.mu.Lock()
	o.state(v.Name).kept = v.Digest
	o.mu.Unlock()
}

func (o *Operator) store(ctx context.Context, h *history, v *observe.Version, f *folder.Folder) error {
	all, err := h.list()
	if err != nil {
		return err
	}
	now, err := h.find(v.Digest)
	if f == nil && err != nil {
		return err
	}
	if f != nil {
		made, err := revision.Of(v.Kind, f)
		if err != nil {
			return err
		}
		if now != nil && !now.Holds(made) { // somebody changed it, or packed it otherwise
			if err := o.deleteRevisions(ctx, now.Stored()); err != nil {
				return err
			}
			now = nil
		}
		if now == nil {
			now = made
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(r *revision.Revision) bool { return r.Digest == v.Digest })
	last := int64(0)
	for _, r := range all {
		last = max(last, r.Number)
	}
	if now.Number <= last {
		now.Number = last + 1
		if err := o.write(ctx, now); err != nil {
			return err
		}
	}
	for _, r := range revision.Superfluous(all, h.used(v)) {
		if err := o.deleteRevisions(ctx, r.Stored()); err != nil {
			return err
		}
	}
	return nil
}

// write creates the ControllerRevisions of a revision, or gives those that are there
// its number.
func (o *Operator) write(ctx context.Context, r *revision.Revision) error {
	stored := r.Stored()
	for i, doc := range r.Objects(o.options.home(), o.options.Identity) {
		var err error
		if i < len(stored) {
			_, err = o.writer.Update(ctx, revision.Resource, doc, stored[i].GetUID())
		} else {
			_, err = o.writer.Create(ctx, revision.Resource, doc)
		}
		if err != nil {
			return fmt.Errorf("writing ControllerRevision %s: %w", doc.GetName(), err)
		}
	}
	return nil
}

// deleteRevisions deletes ControllerRevisions.
func (o *Operator) deleteRevisions(ctx context.Context, all []metav1.Object) error {
	for _, stored := range all {
		if err := o.writer.Delete(ctx, revision.Resource, stored, metav1.DeletePropagationBackground); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting ControllerRevision %s: %w", stored.GetName(), err)
		}
	}
	return nil
}

// used are the digests of all that serves some resource, or may soon.
func (h *history) used(v *observe.Version) map[string]bool {
	mine := h.o.shardOf(h.crd)
	used := map[string]bool{v.Digest: true}
	for _, r := range readRecord(h.crd, mine).Revisions {
		used[r.Digest] = true
	}
	back := readRollback(h.crd, mine)
	used[back.To], used[back.From] = true, true
	if r := h.o.kindController(v.Name); r != nil {
		for _, v := range r.versions.versions() {
			used[v.Digest] = true
		}
	}
	return used
}

// nextNumber returns the number of the revision of a folder that begins to serve: that
// under which it is stored, if none has served since, or one more than any other's.
func (h *history) nextNumber(digest string, record rollout.Record) int64 {
	last := int64(0)
	for _, r := range record.Revisions {
		last = max(last, r.Number)
	}
	all, _ := h.list() // where none is stored, the record counts alone
	for i, r := range all {
		if i == 0 && r.Digest == digest && r.Number > last {
			return r.Number
		}
		last = max(last, r.Number)
	}
	return last + 1
}

// loadRevisions adds the versions of the revisions on record to what is known of a kind.
func (h *history) loadRevisions(before past, v *observe.Version) past {
	if v.Kind == nil || before.isSettled(v) {
		return before
	}
	before.versions = map[string]*observe.Version{}
	if base := before.record.Base().Digest; base == "" || base == rollout.Unknown {
		before.versions[base], before.lost = nil, "it is not on record which folder served it"
	}
	for _, r := range before.record.Revisions {
		if _, isKnown := before.versions[r.Digest]; isKnown || r.Digest == v.Digest {
			continue
		}
		found, err := h.version(r.Digest)
		if err != nil {
			before.lost = err.Error()
		}
		before.versions[r.Digest] = found
	}
	return before
}

// lastGood is the version that was served last, where an operator begins with a folder
// that does not load: it runs on, as it would have without a restart. An error says
// that it cannot be told whether there is one.
func (h *history) lastGood(ctx context.Context, v *observe.Version, crd metav1.Object, mine shard.Shard) (*observe.Version, error) {
	if v.Kind != nil || v.Removed {
		return v, nil
	}
	digest := recordedDigest(crd, mine)
	if digest == "" {
		return v, nil
	}
	if _, err := h.list(); err != nil && !errors.Is(err, errNoHome) {
		return nil, err
	}
	found, err := h.version(digest)
	if err != nil {
		log.FromContext(ctx).Info("the folder does not load, and there is no revision to serve", "kind", v.Name, "error", err.Error())
		return v, nil
	}
	log.FromContext(ctx).Info("the folder does not load; its last revision is served", "kind", v.Name, "revision", digest)
	return found, nil
}

// recordedDigest returns the digest of the version that was rolled out last, as far as
// that went, or "".
func recordedDigest(crd metav1.Object, mine shard.Shard) string {
	return readRecord(crd, mine).Target().Digest
}

// renew makes the versions again that a rollout has not replaced yet, for a CRD that
// changed, and reports whether it did. One that does not fit the CRD serves nothing any
// more.
func (h *history) renew(c *versionTracker) bool {
	fit, lost := map[string]*observe.Version{}, ""
	for _, digest := range c.outdated(h.crd.Generation) {
		r, err := h.find(digest)
		if err != nil { // what is in memory goes on
			lost = err.Error()
			continue
		}
		if fit[digest], err = h.compiled(r); err != nil {
			lost = err.Error()
		}
	}
	return len(fit) > 0 && c.replace(fit, lost)
}

func readRollback(crd metav1.Object, mine shard.Shard) rollout.Rollback {
	return rollout.ParseRollback(crd.GetAnnotations()[mine.Key(api.AnnotationRollback)])
}

// rolledBack is the version that serves in place of the folder's, if a person rolled back
// from this very folder. A folder that does not load is, as for lastGood, the version that
// was rolled out last. Where the revision cannot be used, the error comes with a version
// that serves nothing: to go forward is what nobody wants then.
func (h *history) rolledBack(ctx context.Context, v *observe.Version, crd metav1.Object, mine shard.Shard) (*observe.Version, error) {
	back, present := readRollback(crd, mine), v.Digest
	switch {
	case v.Removed:
		return v, nil
	case v.Kind == nil:
		present = recordedDigest(crd, mine)
	case back.EndsWith(present):
		log.FromContext(ctx).Info("the folder changed, so the rollback ends", "kind", v.Name, "digest", v.Digest)
		if h.o.options.ReadOnly {
			return v, nil
		}
		return v, h.o.annotate(ctx, crd, map[string]any{mine.Key(api.AnnotationRollback): nil})
	}
	if !back.AppliesTo(present) {
		return v, nil
	}
	to, err := h.version(back.To)
	if _, unlisted := h.list(); unlisted != nil && err != nil {
		return nil, fmt.Errorf("rolling back: %w", err)
	}
	if err != nil {
		err = fmt.Errorf("rolled back, and %w; to serve the folder: jacquard rollback %s --release", err, v.Name)
		to = &observe.Version{Name: v.Name, Broken: err}
		h.o.complete(to, h.crd)
	}
	return to, err
}
