package history

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Plan is a rollback, or the end of one, before anything is written.
type Plan struct {
	// Revision is the one that is to serve; nil if a rollback is to end.
	Revision *revision.Revision
	// Leaves is the digest of the folder that is to be left: the present one, or, if a
	// rollback is to end, that of the revision which serves in its place.
	Leaves string
	// Target is the digest of what is to serve then: that of Revision, or, if a rollback is
	// to end, that of the present folder, or "" if that is not known.
	Target string
	// Unknown says what could not be found out about the present folder and the revision.
	Unknown []string
	// present is the present folder where a rollback is to end, or nil: then it is a
	// revision, or undetermined says why it is not known.
	present      *kind.Kind
	undetermined error
	back         rollout.Rollback
}

// Plan plans a rollback: to is the revision that a person means, and "" the newest other
// one that was rolled out completely, as far as that is on record. It is an error if the
// revision cannot be used, or if it cannot be known which folder would be left.
func (h *History) Plan(ctx context.Context, to string) (*Plan, error) {
	p, err := h.planRollback(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("rolling back %s: %w", h.Kind, err)
	}
	return p, nil
}

func (h *History) planRollback(ctx context.Context, to string) (*Plan, error) {
	present := h.findPresent(ctx)
	leaves, _, err := h.compilePresent(present)
	if err != nil {
		return nil, err
	}
	if leaves == "" {
		return nil, errors.New("it is not on record which folder serves it")
	}
	var (
		r       *revision.Revision
		unsure  string
		unknown = slices.Clone(present.Unknown)
	)
	if to != "" {
		r, err = findRevision(h.kept, to)
	} else if r, unsure, err = h.chooseRevision(leaves); unsure != "" {
		unknown = append(unknown, unsure)
	}
	switch {
	case err != nil:
		return nil, err
	case r.Digest == leaves:
		return nil, fmt.Errorf("revision %d is the present folder; to end a rollback, use --end", r.Number)
	}
	crd, err := schema.FromObject(h.kind.CRD)
	if err != nil {
		return nil, err
	}
	if _, err := r.Compile(crd); err != nil {
		return nil, err
	}
	return &Plan{Revision: r, Leaves: leaves, Target: r.Digest, Unknown: unknown, back: rollout.Rollback{To: r.Digest, From: leaves}}, nil
}

// findPresent finds the folder that the kind has now.
func (h *History) findPresent(ctx context.Context) health.PresentFolder {
	asked := health.Asked{Identity: h.kind.Share.Identity, Fallback: h.place.Fallback, Now: time.Now()}
	return health.FindPresentFolder(ctx, h.survey, asked, h.Kind)
}

// compilePresent returns the digest of the present folder, and the folder for its CRD, or nil
// if only the digest is known. An operator that runs recorded it on the CRD, unless it has
// not loaded the folder yet. Where none runs, the folder itself must be known: a rollback
// from another one would end when the operator starts.
func (h *History) compilePresent(present health.PresentFolder) (string, *kind.Kind, error) {
	switch {
	case present.Source != nil && present.Source.Err != nil:
		return "", nil, fmt.Errorf("its present folder does not load, so that its last good version serves: %w", present.Source.Err)
	case present.Source == nil && present.Stopped != "":
		return "", nil, fmt.Errorf("%s, and its folder is in no ConfigMap that may be read, so it cannot be known which folder would be left: "+
			"an operator must run whose report may be read", present.Stopped)
	case present.Source == nil:
		return h.recordedDigest(), nil, nil
	}
	crd, err := schema.FromObject(h.kind.CRD)
	if err != nil {
		return "", nil, err
	}
	k, err := kind.Compile(present.Source.Folder, crd)
	if err == nil {
		k, err = h.recordedSettings().Apply(k)
	}
	if err != nil {
		return "", nil, fmt.Errorf("its present folder does not load, so that its last good version serves: %w", err)
	}
	return revision.Cut(k.Digest), k, nil
}

// CompareStopped returns nil if the present folder, or the revision that a rollback serves in
// its place, is the one with this digest, whose rollout stopped. Where the folder, or the
// settings of the installation for it, may not be read, unknown says why that is not known.
func (h *History) CompareStopped(ctx context.Context, digest string) (unknown string, err error) {
	found := h.findPresent(ctx)
	present, _, err := h.compilePresent(found)
	switch {
	case err != nil && found.Source == nil:
		return err.Error(), nil
	case err != nil:
		return "", err
	case h.back.AppliesTo(present):
		present = h.back.To
	}
	switch {
	case present == digest:
		return "", nil
	case h.indexRecorded() < 0:
		return "no revision of the folder is found, so the settings of its installation are not known", nil
	}
	return "", fmt.Errorf("the folder that is to serve changed, from %s to %s", digest, present)
}

// recordedSettings returns the settings of the installation by which it served the folder last, or
// nil.
func (h *History) recordedSettings() *kind.Config {
	n := max(0, h.indexRecorded())
	if n >= len(h.kept) {
		return nil
	}
	_, settings, err := h.kept[n].Folder()
	if err != nil { // nobody knows them
		return nil
	}
	return settings
}

// indexRecorded returns the index of the recorded folder among the revisions, or -1.
func (h *History) indexRecorded() int {
	recorded := h.recordedDigest()
	return slices.IndexFunc(h.kept, func(r *revision.Revision) bool { return r.Digest == recorded })
}

// PlanRelease plans the end of a rollback. It is an error if there is none.
func (h *History) PlanRelease(ctx context.Context) (*Plan, error) {
	if h.back == (rollout.Rollback{}) {
		return nil, fmt.Errorf("%s is not rolled back", h.Kind)
	}
	found := h.findPresent(ctx)
	p := &Plan{Leaves: h.back.To, Unknown: found.Unknown, back: h.back}
	p.Target, p.present, p.undetermined = h.compilePresent(found)
	return p, nil
}

// Write writes on the CRD what was planned, with the approval of deletions. It is an error
// if the CRD says something else of its folder since the history was read.
func (h *History) Write(ctx context.Context, cfg *rest.Config, p *Plan, approved string) error {
	if p.Revision == nil {
		return h.writeRollback(ctx, cfg, nil)
	}
	p.back.Request, p.back.Approved = rand.Text()[:8], approved
	return h.writeRollback(ctx, cfg, p.back.String())
}

// writeRollback sets the annotation of a rollback on the CRD; nil removes it. It is an error if the
// CRD changed since the history was read.
func (h *History) writeRollback(ctx context.Context, cfg *rest.Config, value any) error {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("making an HTTP client: %w", err)
	}
	writer, err := apply.NewWriter(cfg, client)
	if err != nil {
		return err
	}
	conflicts := apierrors.IsConflict // the operator writes on the CRD, too
	err = retry.OnError(retry.DefaultBackoff, conflicts, func() error {
		crd, err := liveview.ReadCRD(ctx, writer.Reader, h.Kind)
		if err != nil {
			return fmt.Errorf("reading CRD %s: %w", h.Kind, err)
		}
		key := h.kind.Share.Key(api.AnnotationRollback)
		now := rollout.ReadRecord(crd.GetAnnotations(), h.kind.Share.Key)
		if !slices.Equal(now.Revisions, h.now.Revisions) || crd.GetAnnotations()[key] != h.kind.CRD.Annotations[key] {
			return errors.New("the CRD changed meanwhile, and nothing was written: look at jacquard history " + h.Kind + " again")
		}
		_, err = apply.CRDsOf(writer).Annotate(ctx, crd, map[string]any{key: value})
		return err
	})
	if err != nil {
		return fmt.Errorf("rolling back %s: %w", h.Kind, err)
	}
	return nil
}
