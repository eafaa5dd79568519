package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var errNoHome = errors.New("this operator has no namespace to keep revisions of folders in")

// A history is what is kept of the folder of one kind. It is listed when it is first
// needed.
type history struct {
	o    *revisionStore
	crd  *apiextensionsv1.CustomResourceDefinition
	list func() ([]*revision.Revision, error)
	// archives are revisions in use, by digest.
	archives map[string]*revision.Revision
	// unlisted is why a revision could not be looked for, or nil.
	unlisted error
}

// newHistory returns what is kept of the folder of the kind of a CRD. It also knows the archives, by digest.
func (s *revisionStore) newHistory(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition,
	archives map[string]*revision.Revision) *history {
	h := &history{o: s, crd: crd, archives: archives}
	h.list = sync.OnceValues(func() ([]*revision.Revision, error) { return s.listRevisions(ctx, crd.Name) })
	return h
}

// lookupError returns why a revision could not be looked for, or nil. Without a namespace to keep them
// in, there are none.
func (h *history) lookupError() error {
	if h == nil || errors.Is(h.unlisted, errNoHome) {
		return nil
	}
	return h.unlisted
}

// listRevisions lists the revisions of a kind that this installation keeps, the last first.
func (s *revisionStore) listRevisions(ctx context.Context, name string) ([]*revision.Revision, error) {
	found, err := s.controllerRevisions(ctx, name, revision.Selector(s.options.Identity, name))
	if err != nil {
		return nil, fmt.Errorf("listing revisions of %s: %w", name, err)
	}
	return revision.Read(found), nil
}

// controllerRevisions lists the ControllerRevisions that this installation keeps of a kind.
func (s *revisionStore) controllerRevisions(ctx context.Context, name, selects string) ([]appsv1.ControllerRevision, error) {
	home := s.options.reportNamespace()
	if home == "" {
		return nil, errNoHome
	}
	selector, err := labels.Parse(selects)
	if err != nil {
		return nil, err
	}
	var found appsv1.ControllerRevisionList
	if err := s.mgr.GetAPIReader().List(ctx, &found, client.InNamespace(home), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found.Items, func(r appsv1.ControllerRevision) bool {
		return r.Annotations[api.AnnotationKind] != name || r.Annotations[api.AnnotationOperator] != s.options.Identity
	}), nil
}

// findRevision returns the revision with a digest.
func (h *history) findRevision(digest string) (*revision.Revision, error) {
	if r := h.archives[digest]; r != nil {
		return r, nil
	}
	all, err := h.list()
	if err != nil {
		h.unlisted = err
		return nil, err
	}
	for _, r := range all {
		if r.Digest == digest {
			return r, nil
		}
	}
	return nil, fmt.Errorf("revision %s of its folder is not kept", digest)
}

// compileRevision returns the folder of a revision, compiled for the CRD.
func (h *history) compileRevision(digest string) (*kind.Kind, error) {
	r, err := h.findRevision(digest)
	if err != nil {
		return nil, err
	}
	live, err := schema.FromObject(h.crd)
	if err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", h.crd.Name, err)
	}
	k, err := r.Compile(live)
	if err != nil {
		return nil, err
	}
	return h.o.apis.placeKind(k)
}

// keepRevisions stores the versions of a kind that serve resources, unless they are stored, and
// deletes the revisions that nobody needs. Whether they are still there is looked at now and then.
func (s *revisionStore) keepRevisions(ctx context.Context, p *kindPass, d kinds.Desired) error {
	if s.options.ReadOnly || d.Mode != kinds.Serve || p.in.Role != kinds.Leader {
		return nil
	}
	s.mu.Lock()
	before, kept := s.stateOf(p.name).archives, s.stateOf(p.name).kept
	s.mu.Unlock()
	archives, isKept := map[string]*revision.Revision{}, true
	for _, v := range d.Versions {
		if v.Kind == nil {
			continue
		}
		r, err := before[v.Revision.Digest], error(nil)
		switch {
		case r != nil:
		case v.Kind == p.in.Folder.Kind:
			r, err = revision.Of(v.Kind, p.folder)
		default:
			r, err = p.history.findRevision(v.Revision.Digest)
		}
		if errors.Is(err, errNoHome) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keeping revision %s: %w", v.Revision, err)
		}
		archives[v.Revision.Digest] = r
		isKept = isKept && kept[v.Revision]
	}
	s.mu.Lock()
	s.stateOf(p.name).archives = archives
	s.mu.Unlock()
	if isKept {
		return nil
	}
	switch err := p.storeRevisions(ctx, d, archives); {
	case errors.Is(err, errNoHome):
		s.noHome.Do(func() {
			log.FromContext(ctx).Info("no revisions of folders are kept, since the operator has no namespace: after a restart with a changed folder, resources are held that its rollout has not reached")
		})
	case err != nil:
		return fmt.Errorf("keeping revisions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateOf(p.name).kept = map[rollout.Revision]bool{}
	for _, v := range d.Versions {
		s.stateOf(p.name).kept[v.Revision] = true
	}
	return nil
}

// storeRevisions stores the revisions that serve resources, where they are not stored as they are.
// The target gets the greatest number.
func (p *kindPass) storeRevisions(ctx context.Context, d kinds.Desired, archives map[string]*revision.Revision) error {
	all, err := p.history.list()
	if err != nil {
		return err
	}
	target, last := d.Versions[len(d.Versions)-1].Revision, int64(0)
	for _, r := range all {
		if r.Digest != target.Digest {
			last = max(last, r.Number)
		}
	}
	for _, v := range d.Versions {
		made := archives[v.Revision.Digest]
		if made == nil {
			continue
		}
		number := max(v.Revision.Number, 1)
		if v.Revision == target {
			number = max(number, last+1)
		}
		if err := p.storeRevision(ctx, all, *made, number); err != nil {
			return err
		}
	}
	others := slices.DeleteFunc(slices.Clone(all), func(r *revision.Revision) bool { return archives[r.Digest] != nil })
	for _, r := range revision.Superfluous(others, p.usedDigests(archives)) {
		if err := p.o.revisions.deleteRevisions(ctx, r.Stored()); err != nil {
			return err
		}
	}
	return nil
}

// storeRevision stores a revision, unless it is among those that are stored, with at least that
// number.
func (p *kindPass) storeRevision(ctx context.Context, all []*revision.Revision, made revision.Revision, number int64) error {
	made.Number = number
	for _, r := range all {
		switch {
		case r.Digest != made.Digest:
			continue
		case !r.Holds(&made): // somebody changed it, or packed it otherwise
			if err := p.o.revisions.deleteRevisions(ctx, r.Stored()); err != nil {
				return err
			}
		case r.Number >= number:
			return nil
		default:
			return p.o.revisions.write(ctx, &made, r.Stored())
		}
	}
	return p.o.revisions.write(ctx, &made, nil)
}

// write creates the ControllerRevisions of a revision, or gives those that are stored its number.
func (s *revisionStore) write(ctx context.Context, r *revision.Revision, stored []metav1.Object) error {
	for i, doc := range r.Objects(s.options.reportNamespace(), s.options.Identity) {
		var err error
		if i < len(stored) {
			_, err = s.writer.Update(ctx, revision.Resource, doc, stored[i].GetUID())
		} else {
			_, err = s.writer.Create(ctx, revision.Resource, doc)
		}
		if err != nil {
			return fmt.Errorf("writing ControllerRevision %s: %w", doc.GetName(), err)
		}
	}
	return nil
}

// deleteRevisions deletes ControllerRevisions.
func (s *revisionStore) deleteRevisions(ctx context.Context, all []metav1.Object) error {
	for _, stored := range all {
		if err := s.writer.Delete(ctx, revision.Resource, stored, metav1.DeletePropagationBackground); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting ControllerRevision %s: %w", stored.GetName(), err)
		}
	}
	return nil
}

// usedDigests returns the digests of all that serves some resource, or may soon.
func (p *kindPass) usedDigests(archives map[string]*revision.Revision) map[string]bool {
	back := p.in.Record.Rollback
	used := map[string]bool{back.To: true, back.From: true}
	for digest := range archives {
		used[digest] = true
	}
	for _, r := range p.in.Record.Rollout.Revisions {
		used[r.Digest] = true
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
