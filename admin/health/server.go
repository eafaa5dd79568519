package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Server is the replica that serves a resource, where replicas divide them, or why none
// does.
type Server struct {
	// Replica is its Pod, or else its Lease; "" is nobody at the moment.
	Replica string `json:"replica"`
	// Of is how many replicas there are.
	Of int `json:"replicaCount"`
	// State is that of the kind, or of the leader, if therefore no replica serves the
	// resource, or it is not known whether one does; else "".
	State verdict.State `json:"state,omitempty"`
	// Text is all of this in words.
	Text string `json:"text"`
}

// composeText returns in words who serves the resource.
func (s *Server) composeText() string {
	switch word := s.State.Meaning().Word; {
	case s.State == verdict.NotServed, s.State == verdict.ServedElsewhere:
		return word
	case s.State == "" && s.Replica == "":
		return "no replica serves it at the moment"
	case s.State == "":
		return fmt.Sprintf("served by %s (1 of %s)", s.Replica, formatCount(s.Of, "replica"))
	case s.State == verdict.ServingFailed, s.State.Verdict() == verdict.Unknown: // other namespaces of an unsettled kind are served
		return "it is not known whether it is served: " + word
	default:
		return "not served: " + word
	}
}

// ServerOf finds the replica that serves a resource. It returns nil if the kind is served
// and replicas do not divide the resources, or if that may not be read.
func ServerOf(ctx context.Context, s *liveview.Survey, k *liveview.Kind, resource *unstructured.Unstructured) *Server {
	l := &look{Survey: s, Asked: Asked{Identity: k.Whose(resource).Identity, Now: time.Now()}, Health: &Health{}}
	if l.Identity == "" {
		return nil
	}
	l.findInstallations(ctx)
	for _, i := range l.Installations {
		if i.report == nil {
			continue
		}
		l.readLeader(ctx, i)
		return i.describeServer(k.Name, resource.GetUID())
	}
	return nil
}

// describeServer returns the replica that serves a resource of a kind, or why none does; nil if
// one process serves all.
func (i *Installation) describeServer(kind string, uid types.UID) *Server {
	s := &Server{State: i.stateWithoutServer(kind)}
	if s.State == "" && i.Members == nil {
		return nil
	}
	for _, m := range i.Members {
		if m.Late {
			continue
		}
		if s.Of++; s.State == "" && m.Name == i.division.Owner(kind, uid) {
			s.Replica = cmp.Or(m.Pod, m.Name)
		}
	}
	s.Text = s.composeText()
	return s
}

// stateWithoutServer returns the state of a kind, or of the leader, by which no replica
// serves its resources, or it is not known whether one does; else "".
func (i *Installation) stateWithoutServer(kind string) verdict.State {
	state := verdict.NotServed
	if n := slices.IndexFunc(i.report.Kinds, func(k heartbeat.Kind) bool { return k.Name == kind }); n >= 0 {
		state = i.report.Kinds[n].State
	} else if i.Cut > 0 { // the report has no place for it
		state = verdict.Serving
	}
	switch {
	case state.HasNoResources():
		return state
	case i.Leader.isDead():
		return verdict.NotServed
	case i.Leader.State == verdict.LeaseOverdue:
		return verdict.LeaseOverdue
	case state == verdict.NotServed, state == verdict.FolderRemoved, state == verdict.ServingFailed, state.Verdict() == verdict.Unknown:
		return state
	}
	return ""
}
