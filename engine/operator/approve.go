package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/rollout"
	"github.com/jacquard-operator/jacquard/engine/share"
)

// Approve lets the stopped rollout of a kind go on, and returns what it said of
// itself. It is an error if none is stopped. Where installations serve a share of
// the kind each, identity says whose rollout is meant; "" is the one that is
// stopped.
func Approve(ctx context.Context, cfg *rest.Config, name, identity string) (rollout.Record, error) {
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
	of, record, err := stopped(crd, identity)
	if err == nil {
		_, err = writer.Annotate(ctx, crd, map[string]any{of.Key(api.AnnotationApproved): record.Approval()})
	}
	if err != nil {
		return record, fmt.Errorf("approving %s: %w", name, err)
	}
	return record, nil
}

// stopped finds the rollout of a kind that is stopped, of this installation or,
// if identity is "", of any.
func stopped(crd metav1.Object, identity string) (of share.Share, record rollout.Record, err error) {
	claims := share.Claims(crd)
	if len(claims) == 0 { // whoever served it is to serve it again
		claims = []share.Claim{{}}
	}
	var whose []string
	for _, c := range claims {
		r := rollout.Read(crd.GetAnnotations()[c.Share.Key(api.AnnotationRollout)])
		if identity != "" && c.Identity != identity {
			continue
		}
		if r.State == rollout.Stopped {
			of, record, whose = c.Share, r, append(whose, c.Identity)
		} else if len(whose) == 0 {
			record = r
		}
	}
	switch {
	case len(whose) == 0 && identity != "":
		return of, record, fmt.Errorf("no rollout of it by %s is stopped", identity)
	case len(whose) == 0:
		return of, record, errors.New("no rollout of it is stopped")
	case len(whose) > 1:
		return of, rollout.Record{}, fmt.Errorf("rollouts of several installations are stopped: say --identity %s", strings.Join(whose, " or "))
	}
	return of, record, nil
}
