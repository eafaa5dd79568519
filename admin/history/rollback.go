package history

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Plan is what Rollback would write, and the revision that would serve: to is what a
// person means, and "" the revision that served before. It is an error if the revision
// cannot be used.
func (h *History) Plan(to string) (rollout.Rollback, *revision.Revision, error) {
	r, err := h.before()
	if to != "" {
		r, err = h.Find(to)
	}
	if err != nil {
		return rollout.Rollback{}, nil, err
	}
	switch h.folder() {
	case "":
		return rollout.Rollback{}, nil, fmt.Errorf("rolling back %s: it is not on record which folder serves it", h.Kind)
	case r.Digest:
		return rollout.Rollback{}, nil, fmt.Errorf("rolling back %s: revision %d is the present folder; to end a rollback, use --release",
			h.Kind, r.Number)
	}
	crd, err := schema.FromObject(h.kind.CRD)
	if err != nil {
		return rollout.Rollback{}, nil, fmt.Errorf("rolling back %s: %w", h.Kind, err)
	}
	if _, err := r.Compile(crd); err != nil {
		return rollout.Rollback{}, nil, fmt.Errorf("rolling back %s: %w", h.Kind, err)
	}
	return rollout.Rollback{To: r.Digest, From: h.folder()}, r, nil
}

// Rollback writes on the CRD that a revision serves in place of the present folder, as
// Plan says. It is an error if the CRD has changed since the history was read.
func (h *History) Rollback(ctx context.Context, cfg *rest.Config, to string) (*revision.Revision, error) {
	planned, r, err := h.Plan(to)
	if err != nil {
		return nil, err
	}
	return r, h.annotate(ctx, cfg, planned.String())
}

// Present is the rollback that holds; the zero value is none.
func (h *History) Present() rollout.Rollback { return h.back }

// Release takes a rollback off, so that the folder is rolled out again.
func (h *History) Release(ctx context.Context, cfg *rest.Config) error {
	if h.back == (rollout.Rollback{}) {
		return fmt.Errorf("%s is not rolled back", h.Kind)
	}
	return h.annotate(ctx, cfg, nil)
}

func (h *History) annotate(ctx context.Context, cfg *rest.Config, value any) error {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("making an HTTP client: %w", err)
	}
	writer, err := apply.NewWriter(cfg, client)
	if err != nil {
		return err
	}
	crd, err := writer.CRD(ctx, h.Kind)
	if err != nil {
		return fmt.Errorf("reading CRD %s: %w", h.Kind, err)
	}
	changed := rollout.Read(crd.GetAnnotations()[h.kind.Share.Key(api.AnnotationRollout)]).Digest != h.now.Digest
	for _, key := range []string{api.AnnotationRolledOut, api.AnnotationRollback} {
		key := h.kind.Share.Key(key)
		changed = changed || crd.GetAnnotations()[key] != h.kind.CRD.Annotations[key]
	}
	if changed {
		return errors.New("the CRD changed meanwhile: look at jacquard history " + h.Kind + " again")
	}
	if _, err := writer.Annotate(ctx, crd, map[string]any{h.kind.Share.Key(api.AnnotationRollback): value}); err != nil {
		return fmt.Errorf("writing on CRD %s: %w", h.Kind, err)
	}
	return nil
}
