package operator

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/rollout"
)

// Approve lets the stopped rollout of a kind go on, and returns what it said of
// itself. It is an error if none is stopped.
func Approve(ctx context.Context, cfg *rest.Config, name string) (rollout.Record, error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return rollout.Record{}, err
	}
	writer, err := apply.NewWriter(cfg, client)
	if err != nil {
		return rollout.Record{}, err
	}
	crd, err := writer.CRD(ctx, name)
	if err != nil {
		return rollout.Record{}, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	record := rollout.Read(crd.GetAnnotations()[api.AnnotationRollout])
	if record.State != rollout.Stopped {
		return record, fmt.Errorf("approving %s: no rollout of it is stopped", name)
	}
	if _, err := writer.Annotate(ctx, crd, map[string]any{api.AnnotationApproved: record.Approval()}); err != nil {
		return record, fmt.Errorf("approving %s: %w", name, err)
	}
	return record, nil
}
