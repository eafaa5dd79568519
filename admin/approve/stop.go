package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/jacquard-operator/jacquard/admin/confirm"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/revision"
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
	if s.crd, err = liveview.ReadCRD(ctx, s.writer.Reader, name); err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	if s.of, s.Record, err = findStopped(s.crd, identity); err != nil {
		return nil, fmt.Errorf("looking at the rollout of %s: %w", name, err)
	}
	return s, nil
}

// ID names the stop: the digest of the folder, the reason, and a hash of what the rollout
// would delete. It stays the same while these do, whatever becomes of single resources.
func (s *Stop) ID() string { return s.Record.Stop }

// Identity is that of the installation whose rollout stopped, or "".
func (s *Stop) Identity() string { return s.of.Identity }

// Compare returns nil if the stop is the one that id names, and else what changed.
func (s *Stop) Compare(id string) error {
	if id == s.ID() {
		return nil
	}
	was, is := strings.SplitN(id, "/", 3), strings.SplitN(s.ID(), "/", 3)
	changed := ""
	switch {
	case len(was) < 2:
		changed = id + " is not the ID of a stop"
	case was[0] != is[0]:
		changed = fmt.Sprintf("the folder changed, from %s to %s", was[0], is[0])
	case was[1] != is[1]:
		changed = fmt.Sprintf("it stopped for %s, and now for %s", was[1], is[1])
	case s.Record.Reason == rollout.Deletes:
		changed = fmt.Sprintf("it would delete other children than then: now %d", s.Record.DeletionCount)
	default:
		changed = fmt.Sprintf("it stopped again: %s", s.Record.Why())
	}
	return fmt.Errorf("nothing was approved, since the stop is not the one that was displayed: %s; look at it again: jacquard approve %s",
		changed, s.Kind)
}

// Deletions returns what the rollout waits to delete. Where its record has no place for
// all of it, the rest is read in home, the operator's namespace; "" is the one that its
// identity names, or else any. The error says why only the first are returned.
func (s *Stop) Deletions(ctx context.Context, survey *liveview.Survey, home string) ([]string, error) {
	if s.Record.NamesAll() {
		return s.Record.DeletionNames, nil
	}
	if namespace, _, isNamed := strings.Cut(s.of.Identity, "/"); isNamed {
		home = cmp.Or(home, namespace)
	}
	found, err := survey.Objects(ctx, revision.Resource.GVK,
		liveview.Range{Namespace: home, Selector: revision.DeletionSelector(s.of.Identity, s.Kind)})
	if err != nil {
		return s.Record.DeletionNames, fmt.Errorf("reading the list of deletions: %w", err)
	}
	var items []appsv1.ControllerRevision
	for _, o := range found {
		var item appsv1.ControllerRevision
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &item); err != nil {
			return s.Record.DeletionNames, fmt.Errorf("reading ControllerRevision %s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
		items = append(items, item)
	}
	err = errors.New("the operator has not stored it")
	for _, list := range revision.ReadDeletionLists(items) {
		if !list.IsOf(s.ID()) {
			continue
		}
		var text []byte
		if text, err = list.Text(); err != nil {
			break
		}
		var names []string
		if names, err = s.Record.ReadDeletions(text); err == nil {
			return names, nil
		}
	}
	return s.Record.DeletionNames, fmt.Errorf("reading the list of deletions: %w", err)
}

// Plan describes what an approval does: why the rollout stopped, every deletion that is
// approved, and what follows. names and unread are what Deletions returns.
func (s *Stop) Plan(approval rollout.Approval, names []string, unread error) string {
	r := s.Record
	var text strings.Builder
	fmt.Fprintf(&text, "the rollout of %s to folder %s stopped (%s): %s\n", s.Kind, r.Target().Digest, r.Reason, r.Message)
	fmt.Fprintln(&text, r.Counts())
	text.WriteString(s.ListDeletions(names, unread))
	switch {
	case len(approval.Only) > 0:
		fmt.Fprintf(&text, "The folder serves only %s, and may delete what is listed of these; the rollout remains stopped.\n",
			strings.Join(approval.Only, ", "))
	case approval.AllWaves && r.Reason.MayApproveAllWaves():
		fmt.Fprintf(&text, "It risks %d resources that it has not reached yet: no wave stops for %s any more.\n", r.Total-r.Moved, r.Reason)
	case r.Reason == rollout.Paused:
		text.WriteString("It goes on with the next wave, and may stop again.\n")
	case r.Reason == rollout.Deletes && unread != nil:
		text.WriteString("It may delete all of these, also those that cannot be listed, and goes on; it stops again before it deletes others.\n")
	case r.Reason == rollout.Deletes:
		text.WriteString("It may delete the children that are listed, and goes on; it stops again before it deletes others.\n")
	default:
		text.WriteString("It no longer waits for the resources that stopped it, and goes on with the next wave; " +
			"it stops again if others have problems.\n")
	}
	return text.String()
}

// ListDeletions lists what Deletions returns, a line for each child; "" for none.
func (s *Stop) ListDeletions(names []string, unread error) string {
	text := confirm.Deletions(names)
	if unread != nil {
		text += fmt.Sprintf("and %d more that cannot be listed: %v\n", s.Record.DeletionCount-len(names), unread)
	}
	return text
}

// Approve writes an approval of this very stop. It is an error if the rollout has
// gone on, or has stopped for something else, since it was found.
func (s *Stop) Approve(ctx context.Context, approval rollout.Approval) error {
	if approval.AllWaves && !s.Record.Reason.MayApproveAllWaves() {
		return fmt.Errorf("approving %s: it stopped for %s, which is approved for what it names alone, not for all waves", s.Kind,
			s.Record.Reason)
	}
	approval.Stop = s.ID()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		_, err := apply.CRDsOf(s.writer).Annotate(ctx, s.crd, map[string]any{s.of.Key(api.AnnotationApproved): approval.String()})
		if !apierrors.IsConflict(err) {
			return err
		}
		return cmp.Or(s.rereadCRD(ctx), err)
	})
	if err != nil {
		return fmt.Errorf("approving %s: %w", s.Kind, err)
	}
	return nil
}

// rereadCRD reads the CRD again, and checks that the rollout is stopped as it was found.
func (s *Stop) rereadCRD(ctx context.Context) error {
	crd, err := liveview.ReadCRD(ctx, s.writer.Reader, s.Kind)
	if err != nil {
		return err
	}
	now := rollout.ReadRecord(crd.GetAnnotations(), s.of.Key)
	if now.State != rollout.Stopped {
		return errors.New("the rollout is not stopped any more: " + now.Text(s.Kind))
	}
	s.crd = crd
	return (&Stop{Kind: s.Kind, Record: now}).Compare(s.ID())
}

// findStopped finds the stopped rollout of a kind: that of an installation, or of any if identity
// is "".
func findStopped(crd metav1.Object, identity string) (of shard.Shard, record rollout.Record, err error) {
	claims := shard.Claims(crd)
	if len(claims) == 0 { // whoever served it is to serve it again
		claims = []shard.Claim{{}}
	}
	var whose []string
	for _, c := range claims {
		r := rollout.ReadRecord(crd.GetAnnotations(), c.Shard.Key)
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
	case len(whose) == 0 && record.State != "":
		return of, record, fmt.Errorf("no rollout of it is stopped; that of folder %s is %s", record.Target().Digest, record.State)
	case len(whose) == 0:
		return of, record, errors.New("no rollout of it is stopped")
	case len(whose) > 1:
		return of, rollout.Record{}, fmt.Errorf("rollouts of several installations are stopped: say --installation %s", strings.Join(whose, " or "))
	case !record.Reason.MayApprove():
		return of, record, errors.New(record.Message)
	}
	return of, record, nil
}
