package health

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// kindIn is a kind in a state, with its resources.
func kindIn(state verdict.State, ready, notReady int) *Kind {
	k := &Kind{Kind: heartbeat.Kind{Name: "webs.example.com", State: state}, Resources: &Counts{Total: ready + notReady, Ready: ready}}
	k.NotReady = make([]Resource, notReady)
	return k
}

// unread is a kind whose resources whoever asks cannot list.
func unread(state verdict.State) *Kind {
	k := kindIn(state, 0, 0)
	k.Resources, k.isResourcesUnread = nil, true
	return k
}

// TestVerdict: what is healthy, unhealthy and unknown, and the headline that says so and what
// was looked at. That no operator runs is said only where operators could be looked for.
func TestVerdict(t *testing.T) {
	served := func(kinds ...*Kind) Health {
		return Health{Installations: []*Installation{{Identity: "a/b", Leader: Leader{State: verdict.Leading}, Kinds: kinds}}}
	}
	for name, c := range map[string]struct {
		h        Health
		asked    Asked
		narrowed int
		want     verdict.Verdict
		headline string
	}{
		"nothing": {Health{}, Asked{}, 0, verdict.Unhealthy, "in all namespaces: 1 problem"},
		"nothing may be read": {Health{LeasesUnread: "forbidden"}, Asked{}, 0, verdict.Unknown,
			"in all namespaces: it is not known whether everything is healthy; the operators could not be read"},
		"it starts": {Health{Starting: []string{"a/b"}}, Asked{}, 0, verdict.Unknown, "in all namespaces: it is not known whether everything is healthy"},
		"well": {served(kindIn(verdict.Serving, 3, 0)), Asked{Namespace: "shop"}, 0, verdict.Healthy,
			"in namespace shop: everything is healthy; 1 kind with 3 resources"},
		"of one": {served(kindIn(verdict.Serving, 3, 0)), Asked{Identity: "a/b"}, 0, verdict.Healthy,
			"in all namespaces, of a/b: everything is healthy; 1 kind with 3 resources"},
		"of the operators of a namespace": {Health{}, Asked{OperatorNamespace: "ops"}, 0, verdict.Unhealthy,
			"in all namespaces, of operators in namespace ops: 1 problem"},
		"in the context's namespace": {served(kindIn(verdict.Serving, 3, 0)), Asked{Fallback: "shop"}, 1, verdict.Healthy,
			"in namespace shop: everything is healthy; 1 kind with 3 resources"},
		"a part in the context's namespace": {served(kindIn(verdict.Serving, 3, 0), kindIn(verdict.Serving, 2, 0)), Asked{Fallback: "shop"}, 1, verdict.Healthy,
			"in all namespaces: everything is healthy; 2 kinds with 5 resources; 1 kind looked at in namespace shop only"},
		"may list nothing": {served(unread(verdict.Serving), unread(verdict.Serving)), Asked{}, 0, verdict.Unknown,
			"in all namespaces: it is not known whether everything is healthy; 2 kinds could not be read"},
		"unhealthy and unknown": {served(kindIn(verdict.Serving, 1, 1), unread(verdict.Serving)), Asked{}, 0, verdict.Unhealthy,
			"in all namespaces: 1 problem; 1 kind could not be read"},
		"paused as planned": {served(kindIn(verdict.RolloutPaused, 1, 0), kindIn(verdict.Paused, 1, 0)), Asked{}, 0, verdict.Healthy,
			"in all namespaces: everything is healthy; 2 kinds with 2 resources; 1 kind paused; 1 kind paused after a wave"},
		"rolling out":        {served(kindIn(verdict.RollingOut, 1, 0)), Asked{}, 0, verdict.Healthy, "in all namespaces: everything is healthy; 1 kind with 1 resource; 1 kind rolling out"},
		"starting":           {served(kindIn(verdict.Starting, 0, 0)), Asked{}, 0, verdict.Unknown, "in all namespaces: it is not known whether everything is healthy; 1 kind starting"},
		"hangs":              {served(kindIn(verdict.RolloutStuck, 1, 0)), Asked{}, 0, verdict.Unhealthy, "in all namespaces: 1 problem"},
		"rolled back":        {served(kindIn(verdict.RolledBack, 1, 0)), Asked{}, 0, verdict.Unhealthy, "in all namespaces: 1 problem"},
		"folder gone":        {served(kindIn(verdict.FolderRemoved, 24, 0)), Asked{}, 0, verdict.Unhealthy, "in all namespaces: 1 problem"},
		"of a newer program": {served(kindIn("Dreaming", 1, 0)), Asked{}, 0, verdict.Unknown, "in all namespaces: it is not known whether everything is healthy; 1 kind Dreaming"},
	} {
		l := &look{Health: &c.h, Asked: c.asked, narrowed: c.narrowed}
		l.decideVerdict()
		if l.State != c.want || l.Headline != c.headline {
			t.Errorf("%s: %s, %q, want %s, %q (problems %q, unknown %q)", name, l.State, l.Headline, c.want, c.headline, l.Problems, l.Unknown)
		}
		if (len(l.Problems) > 0) != (c.want == verdict.Unhealthy) {
			t.Errorf("%s: %s with the problems %q", name, c.want, l.Problems)
		}
	}
}

// TestKindMeaning: a kind means what the worst means that is so of it.
func TestKindMeaning(t *testing.T) {
	h := Health{Installations: []*Installation{{Leader: Leader{State: verdict.Leading}, Kinds: []*Kind{
		kindIn(verdict.Serving, 1, 0), kindIn(verdict.Serving, 1, 1), unread(verdict.RollingOut), kindIn(verdict.RolloutStopped, 1, 0)}}}}
	(&look{Health: &h}).decideVerdict()
	for n, want := range []string{"serving", "serving, resources not ready", "rolling out, could not be read", "rollout stopped"} {
		if k := h.Installations[0].Kinds[n]; k.Word != want {
			t.Errorf("kind %d is %q, want %q", n, k.Word, want)
		}
	}
}
