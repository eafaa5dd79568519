package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/admin/approve"
	"github.com/jacquard-operator/jacquard/admin/confirm"
	"github.com/jacquard-operator/jacquard/admin/history"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// An Order is what a button of the page is to do.
type Order struct {
	// Action is approve, rollback or release, of a kind, or pause, resume or
	// reconcile, of a resource.
	Action string `json:"action"`
	Key
	// To is the revision to roll back to, as a person calls it; "" is the one before.
	To string `json:"to"`
	// Identity is the installation, if several serve a share of the kind each.
	Identity string `json:"identity"`
	// Digest is what the plan said.
	Digest string `json:"digest"`
}

// A Plan is what an order would do.
type Plan struct {
	Context string `json:"context"`
	Server  string `json:"server"`
	// Command does the same.
	Command string `json:"command"`
	Text    string `json:"text"`
	// Digest is of what the plan is about: if it is another one, nothing is done.
	Digest string `json:"digest"`

	do func(context.Context) (string, error)
}

// planOrder answers with the plan of an order.
func (s *Server) planOrder(r *http.Request) (any, error) {
	_, p, err := s.readOrder(r)
	return p, err
}

// executeOrder carries out an order, if its plan is the one that was displayed.
func (s *Server) executeOrder(r *http.Request) (any, error) {
	o, p, err := s.readOrder(r)
	if err != nil {
		return nil, err
	}
	if err := p.checkDigest(o.Digest); err != nil {
		return nil, err
	}
	text, err := p.do(r.Context())
	return map[string]string{"text": text}, err
}

// checkDigest returns an error if the plan is not the one that was displayed.
func (p *Plan) checkDigest(digest string) error {
	if digest != p.Digest {
		return &refusal{http.StatusConflict, fmt.Sprintf(
			"it is not as it was displayed, and nothing was done: it was %q and is %q: look at it again", digest, p.Digest)}
	}
	return nil
}

// readOrder reads an order, and plans it.
func (s *Server) readOrder(r *http.Request) (*Order, *Plan, error) {
	o := &Order{}
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		return nil, nil, &refusal{http.StatusBadRequest, fmt.Sprintf("reading the order: %v", err)}
	}
	plan, known := map[string]func(context.Context, *Order) (*Plan, error){
		"approve": s.planApproval, "rollback": s.planRollback, "release": s.planRelease,
		"pause": s.planAnnotation, "resume": s.planAnnotation, "reconcile": s.planAnnotation,
	}[o.Action]
	if !known {
		return nil, nil, &refusal{http.StatusBadRequest, fmt.Sprintf(
			"the action %q is unknown: approve, rollback, release, pause, resume or reconcile", o.Action)}
	}
	p, err := plan(r.Context(), o)
	if err != nil {
		return nil, nil, err
	}
	p.Context, p.Server = s.Context, s.Config.Host
	return o, p, nil
}

// formatCommand returns a command line for this cluster. Texts without a meaning to shells stay as
// they are.
func (s *Server) formatCommand(words ...string) string {
	if s.Context != "" {
		words = append(words, "--context", s.Context)
	}
	return confirm.CommandLine(words...)
}

// ofKind are the words of a command about a kind.
func (s *Server) ofKind(o *Order, words ...string) []string {
	if s.OperatorNamespace != "" {
		words = append(words, "--operator-namespace", s.OperatorNamespace)
	}
	if o.Identity != "" {
		words = append(words, "--installation", o.Identity)
	}
	return words
}

// planApproval plans to approve the stop of a rollout.
func (s *Server) planApproval(ctx context.Context, o *Order) (*Plan, error) {
	survey, err := liveview.Open(ctx, s.Config, nil)
	if err != nil {
		return nil, err
	}
	stop, err := approve.Find(ctx, s.Config, o.Kind, o.Identity)
	if err != nil {
		return nil, err
	}
	stopped := *o
	stopped.Identity = stop.Identity()
	if h, err := s.openHistory(ctx, &stopped); err == nil { // an approval does not need the history
		if _, err := h.CompareStopped(ctx, stop.Record.Target().Digest); err != nil {
			return nil, &refusal{http.StatusConflict, err.Error()}
		}
	}
	names, unread := stop.Deletions(ctx, survey, s.OperatorNamespace)
	return &Plan{
		Command: s.formatCommand(s.ofKind(o, "jacquard", "approve", stop.Kind, "--stop", stop.ID(), "--yes")...), Digest: stop.ID(),
		Text: stop.Plan(rollout.Approval{}, names, unread),
		do: func(ctx context.Context) (string, error) {
			if err := stop.Approve(ctx, rollout.Approval{}); err != nil {
				return "", err
			}
			return fmt.Sprintf("approved: %s of folder %s", stop.Record.Reason, stop.Record.Target().Digest), nil
		},
	}, nil
}

// openHistory reads the history of the kind of an order.
func (s *Server) openHistory(ctx context.Context, o *Order) (*history.History, error) {
	survey, err := liveview.Open(ctx, s.Config, nil)
	if err != nil {
		return nil, err
	}
	k, err := survey.Kind(ctx, o.Kind)
	if err != nil {
		return nil, err
	}
	if err := k.Look(o.Identity); err != nil {
		return nil, err
	}
	return history.Of(ctx, survey, k, s.operatorPlace())
}

// planRollback plans to roll a kind back to a revision.
func (s *Server) planRollback(ctx context.Context, o *Order) (*Plan, error) {
	h, err := s.openHistory(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := h.Plan(ctx, o.To)
	if err != nil {
		return nil, err
	}
	r := p.Revision
	text := fmt.Sprintf("%s goes back from its folder (%s) to revision %d (%s) until there is a third folder", h.Kind, p.Leaves, r.Number, r.Digest)
	return &Plan{
		Command: s.formatCommand(s.ofKind(o, "jacquard", "rollback", h.Kind, "--to-revision", r.Digest, "--digest", p.Leaves, "--yes")...),
		Text:    text,
		Digest:  r.Digest + " " + p.Leaves,
		do:      func(ctx context.Context) (string, error) { return text, h.Write(ctx, s.Config, p, "") },
	}, nil
}

// planRelease plans the end of a rollback.
func (s *Server) planRelease(ctx context.Context, o *Order) (*Plan, error) {
	h, err := s.openHistory(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := h.PlanRelease(ctx)
	if err != nil {
		return nil, &refusal{http.StatusConflict, err.Error()}
	}
	text := fmt.Sprintf("the present folder of %s is rolled out again", h.Kind)
	return &Plan{
		Command: s.formatCommand(s.ofKind(o, "jacquard", "rollback", h.Kind, "--end", "--digest", p.Leaves, "--yes")...), Text: text,
		Digest: p.Leaves,
		do:     func(ctx context.Context) (string, error) { return text, h.Write(ctx, s.Config, p, "") },
	}, nil
}

// isPaused reports whether a resource is paused, and whether its whole kind is.
func isPaused(l *look) (resource, kind bool) {
	return l.resource.GetAnnotations()[api.AnnotationPaused] == "true",
		l.kind.CRD != nil && l.kind.CRD.Annotations[api.AnnotationPaused] == "true"
}

// leadsTo says what comes of an order about a resource that is paused, or whose kind is.
func leadsTo(action string, paused, kind bool) string {
	switch {
	case action == "pause":
		return "the operator changes nothing of it until it is resumed"
	case action == "resume" && kind:
		return "the operator still changes nothing of it, since its kind is paused: its CRD has the annotation " + api.AnnotationPaused
	case action == "resume":
		return "the operator serves it again, and undoes what others changed meanwhile in fields that its folder sets"
	case kind:
		return "its kind is paused, so the operator changes nothing of it until the annotation " + api.AnnotationPaused + " of the CRD is taken off"
	case paused:
		return "it is paused, so the operator changes nothing of it until it is resumed"
	}
	return "the operator reconciles it now"
}

// planAnnotation plans to pause, resume or reconcile a resource.
func (s *Server) planAnnotation(ctx context.Context, o *Order) (*Plan, error) {
	l, err := s.findResource(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	paused, kind := isPaused(l)
	text := leadsTo(o.Action, paused, kind)
	key, value, word := api.AnnotationPaused, any("true"), "=true"
	switch o.Action {
	case "resume":
		value, word = nil, "-"
	case "reconcile":
		key, value, word = api.AnnotationReconcileAt, now, "="+now
	}
	words := []string{"kubectl", "annotate", l.kind.Name, l.resource.GetName(), key + word, "--overwrite"}
	if namespace := l.resource.GetNamespace(); namespace != "" {
		words = append(words, "--namespace", namespace)
	}
	return &Plan{
		Command: s.formatCommand(words...), Text: l.resource.GetKind() + " " + l.resource.GetName() + ": " + text,
		Digest: fmt.Sprintf("%s/%d/%t/%t", l.resource.GetUID(), l.resource.GetGeneration(), paused, kind),
		do: func(ctx context.Context) (string, error) {
			client, err := rest.HTTPClientFor(s.Config)
			if err != nil {
				return "", fmt.Errorf("making an HTTP client: %w", err)
			}
			writer, err := apply.NewWriter(s.Config, client)
			if err != nil {
				return "", err
			}
			_, err = writer.Metadata(ctx, l.kind.Resource, l.resource, map[string]any{"annotations": map[string]any{key: value}})
			if err != nil {
				return "", fmt.Errorf("writing on %s %s: %w", l.resource.GetKind(), l.resource.GetName(), refusals.Classify(err))
			}
			return l.resource.GetKind() + " " + l.resource.GetName() + ": " + text, nil
		},
	}, nil
}
