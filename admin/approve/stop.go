package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// A Stop is the rollout of a kind that waits for a person.
type Stop struct {
	// Kind is the name of the CRD.
	Kind string
	// Record is what the rollout says of itself.
	Record rollout.Record
	of     shard.Shard
	crd    metav1.Object
	writer *apply.Writer
}

// Find finds the stopped rollout of a kind. It is an error if none is stopped.
// Where installations serve a share of the kind each, identity says whose rollout
// is meant; "" is the one that is stopped.
func Find(ctx context.Context, cfg *rest.Config, name, identity string) (*Stop, error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	s := &Stop{Kind: name}
	if s.writer, err = apply.NewWriter(cfg, client); err != nil {
		return nil, err
	}
	if s.crd, err = s.writer.CRD(ctx, name); err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	if s.of, s.Record, err = stopped(s.crd, identity); err != nil {
		return nil, fmt.Errorf("approving %s: %w", name, err)
	}
	return s, nil
}

// Approve writes an approval of this very stop. It is an error if the rollout has
// gone on, or has stopped for something else, since it was found.
func (s *Stop) Approve(ctx context.Context, approval rollout.Approval) error {
	if approval.AllWaves && !s.Record.Reason.MayAllWaves() {
		return fmt.Errorf("approving %s: it stopped for %s, which is approved for what it names alone, not for all waves", s.Kind,
			s.Record.Reason)
	}
	approval.Stop = s.Record.Stop()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		_, err := s.writer.Annotate(ctx, s.crd, map[string]any{s.of.Key(api.AnnotationApproved): approval.String()})
		if !apierrors.IsConflict(err) {
			return err
		}
		return cmp.Or(s.again(ctx), err)
	})
	if err != nil {
		return fmt.Errorf("approving %s: %w", s.Kind, err)
	}
	return nil
}

// again reads the CRD again, on which the stop is to be the one that was found.
func (s *Stop) again(ctx context.Context) error {
	crd, err := s.writer.CRD(ctx, s.Kind)
	if err != nil {
		return err
	}
	now := rollout.Read(crd.GetAnnotations()[s.of.Key(api.AnnotationRollout)])
	switch {
	case now.State != rollout.Stopped:
		return errors.New("the rollout is not stopped any more")
	case now.Stop() != s.Record.Stop():
		return fmt.Errorf("the rollout stopped again meanwhile: %s", now.Text(s.Kind))
	}
	s.crd = crd
	return nil
}

// stopped finds the rollout of a kind that is stopped, of this installation or,
// if identity is "", of any.
func stopped(crd metav1.Object, identity string) (of shard.Shard, record rollout.Record, err error) {
	claims := shard.Claims(crd)
	if len(claims) == 0 { // whoever served it is to serve it again
		claims = []shard.Claim{{}}
	}
	var whose []string
	for _, c := range claims {
		r := rollout.Read(crd.GetAnnotations()[c.Shard.Key(api.AnnotationRollout)])
		if identity != "" && c.Identity != identity {
			continue
		}
		if r.State == rollout.Stopped {
			of, record, whose = c.Shard, r, append(whose, c.Identity)
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
	case !record.Reason.MayApprove():
		return of, record, errors.New(record.Message)
	}
	return of, record, nil
}
