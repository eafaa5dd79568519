package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A History is what is kept of a kind's folder, and what the CRD says of it.
type History struct {
	// Kind is the name of the CRD.
	Kind string `json:"kind"`
	// Revisions are the ones that are kept, that which was served last first.
	Revisions []Entry `json:"revisions"`
	// Notes say what is not known.
	Notes []string `json:"notes,omitempty"`

	survey *liveview.Survey
	place  Place
	kept   []*revision.Revision
	kind   *liveview.Kind
	now    rollout.Record
	back   rollout.Rollback
}

// An Entry is one revision.
type Entry struct {
	Number int64     `json:"number"`
	Digest string    `json:"digest"`
	Made   time.Time `json:"created"`
	// Serves says what it serves; "" for nothing.
	Serves string `json:"serving,omitempty"`
	// Trouble says why it cannot be used.
	Trouble string `json:"error,omitempty"`
}

// A Place is the namespace that the operator runs in; "" is the one that its identity
// names, or, if that names none, any. Then Fallback is looked at alone, if the caller may
// not look at all.
type Place struct{ Namespace, Fallback string }

// Of reads the history of a kind.
func Of(ctx context.Context, s *liveview.Survey, k *liveview.Kind, at Place) (*History, error) {
	if k.CRD == nil || k.Unread != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", k.Name, k.Unread)
	}
	h := &History{Kind: k.Name, Revisions: []Entry{}, survey: s, place: at, kind: k,
		now:  rollout.ReadRecord(k.CRD.Annotations, k.Share.Key),
		back: rollout.ParseRollback(k.CRD.Annotations[k.Share.Key(api.AnnotationRollback)])}
	if home, _, named := strings.Cut(k.Share.Identity, "/"); named {
		at.Namespace = cmp.Or(at.Namespace, home)
	}
	in := liveview.Range{Namespace: at.Namespace, Selector: revision.Selector(k.Share.Identity, k.Name)}
	found, err := s.Objects(ctx, revision.Resource.GVK, in)
	if err != nil && at.Namespace == "" && at.Fallback != "" {
		in.Namespace = at.Fallback
		h.Notes = append(h.Notes, fmt.Sprintf("%s; only namespace %s was looked at: give the operator's by --operator-namespace", err, at.Fallback))
		found, err = s.Objects(ctx, revision.Resource.GVK, in)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", k.Name, err)
	}
	var items []appsv1.ControllerRevision
	for _, o := range found {
		var item appsv1.ControllerRevision
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &item); err != nil {
			return nil, fmt.Errorf("reading ControllerRevision %s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
		keeper := item.Annotations[api.AnnotationOperator]
		if item.Annotations[api.AnnotationKind] != k.Name || keeper != cmp.Or(k.Share.Identity, keeper) {
			continue
		}
		if items = append(items, item); item.Namespace != items[0].Namespace {
			return nil, fmt.Errorf("reading the history of %s: there are revisions in the namespaces %s and %s: give the operator's by --operator-namespace",
				k.Name, items[0].Namespace, item.Namespace)
		}
	}
	h.kept = revision.Read(items)
	for _, r := range h.kept {
		_, err := h.compileRevision(s, r)
		e := Entry{Number: r.Number, Digest: r.Digest, Made: r.Made, Serves: h.describeServing(r.Digest, err == nil)}
		if err != nil {
			e.Trouble = err.Error()
		}
		h.Revisions = append(h.Revisions, e)
	}
	if len(h.kept) == 0 {
		h.Notes = append(h.Notes, "no revision of its folder is kept; an operator without a namespace of its own keeps none")
	}
	return h, nil
}

// describeServing says what a revision serves, or is to serve if it cannot be used.
func (h *History) describeServing(digest string, isUsable bool) string {
	var all []string
	verb := "serves"
	if !isUsable {
		verb = "is to serve"
	}
	runs := h.now.IsUnfinished()
	switch {
	case runs && digest == h.now.Target().Digest:
		all = append(all, fmt.Sprintf("is rolled out: %s, %s", h.now.State, h.now.Counts()))
	case runs && digest == h.now.Base().Digest:
		all = append(all, verb+" what the rollout has not reached")
	case digest == h.now.Target().Digest:
		all = append(all, verb+" all resources")
	}
	if h.now.IsAbandoned(digest) {
		all = append(all, verb+" what an earlier rollout had reached")
	}
	by := ""
	if h.back.IsByOperator() {
		by = ", by the operator"
	}
	switch digest {
	case h.back.To:
		all = append(all, "rolled back to"+by)
	case h.back.From:
		all = append(all, "rolled back from"+by)
	}
	if digest == h.now.Failed.Digest {
		all = append(all, "its rollout failed: "+h.now.Failed.Message)
	}
	return strings.Join(all, "; ")
}

// Find is the revision that a person means, by number or by the beginning of its digest.
func (h *History) Find(meant string) (*revision.Revision, error) {
	r, err := findRevision(h.kept, meant)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Kind, err)
	}
	return r, nil
}

// Compiled is the folder of that revision, for the cluster.
func (h *History) Compiled(s *liveview.Survey, meant string) (*kind.Kind, error) {
	r, err := h.Find(meant)
	if err != nil {
		return nil, err
	}
	return h.compileRevision(s, r)
}

// compileRevision returns the folder of a revision, for the cluster. What is an error here is one for
// the operator too.
func (h *History) compileRevision(s *liveview.Survey, r *revision.Revision) (*kind.Kind, error) {
	crd, err := schema.FromObject(h.kind.CRD)
	if err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", h.Kind, err)
	}
	compiled, err := r.Compile(crd)
	if err != nil {
		return nil, err
	}
	return placeFolder(s, compiled)
}

// placeFolder returns a compiled folder for the cluster.
func placeFolder(s *liveview.Survey, compiled *kind.Kind) (*kind.Kind, error) {
	if err := compiled.CheckScopes(s.Scopes); err != nil {
		return nil, err
	}
	return compiled.At(kind.Site{Scopes: s.Scopes}), nil
}

// recordedDigest returns the digest of the present folder, as the operator recorded it.
func (h *History) recordedDigest() string {
	return cmp.Or(h.back.From, h.now.Target().Digest)
}

// chooseRevision returns the revision to go back to from the present folder, which has this
// digest, where a person names none. Only the version that was rolled out last is on record
// as complete. If it is not that one, unsure says what is not known.
func (h *History) chooseRevision(present string) (r *revision.Revision, unsure string, err error) {
	skipped := map[string]bool{present: true}
	if h.back != (rollout.Rollback{}) {
		skipped[h.back.From] = true // a person left it
		skipped[h.back.To] = !h.back.EndsWith(present)
	}
	for _, r := range h.kept {
		if (r.Digest == h.now.Base().Digest || r.Digest == h.back.To) && !skipped[r.Digest] {
			return r, "", nil
		}
	}
	for _, r := range h.kept {
		if !skipped[r.Digest] && !h.isIncomplete(r.Digest) {
			return r, fmt.Sprintf("whether revision %d was ever rolled out completely; jacquard history %s lists the others", r.Number, h.Kind), nil
		}
	}
	return nil, "", fmt.Errorf("no earlier revision is kept that may have been rolled out completely: choose one with --to-revision; jacquard history %s lists them",
		h.Kind)
}

// isIncomplete reports whether a rollout of this digest is on record that did not complete.
func (h *History) isIncomplete(digest string) bool {
	return h.now.IsAbandoned(digest) || h.now.IsUnfinished() && digest == h.now.Target().Digest
}
