package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// countUnwatched counts in metrics how much of what a kind needs watched may not be, and how much
// cannot be. A kind that has ended has no such metrics. Only the pass over the kind calls it, so no
// count replaces a later one.
func (w *watchTroubles) countUnwatched(r *kindController) {
	forbidden, failing := r.resources.listPlaces().countTroubles()
	for _, watched := range w.listWatched(r) {
		switch {
		case isForbidden(watched.State):
			forbidden++
		case isFailing(watched.State):
			failing++
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readState(r.name).controller == r {
		metrics.Kind(r.name).Unwatched(forbidden)
		metrics.Kind(r.name).Failing(failing)
	}
}

// A watchedState is the state of what is watched for a kind, and what that is, for people.
type watchedState struct {
	what string
	live.State
}

// listWatched returns the states of all that a kind needs watched besides its resources.
func (w *watchTroubles) listWatched(r *kindController) (all []watchedState) {
	for gvk := range r.versions.listVersions().childKinds() {
		all = append(all, watchedState{"children of kind " + gvk.GroupKind().String(), w.children.State(gvk)})
	}
	for scope := range r.versions.listVersions().readScopes() {
		all = append(all, watchedState{"what is read or patched of kind " + scope.GroupKind().String(), w.reads.State(scope)})
	}
	return all
}

// isForbidden reports whether no right allows a kind to be listed or watched.
func isForbidden(s live.State) bool {
	var rule *live.RuleError
	return errors.As(s.Err, &rule)
}

// isFailing reports whether something else keeps a kind from being listed or watched.
func isFailing(s live.State) bool {
	return s.Err != nil && !isForbidden(s) && !errors.Is(s.Err, live.ErrNotServed) && !errors.Is(s.Err, live.ErrNotYet)
}

// describeUnlisted says what of a kind, and of what it needs watched, cannot be listed or watched
// now, and why. Of missing rights, those that resources report are left out.
func (w *watchTroubles) describeUnlisted(r *kindController) []string {
	var texts []string
	for _, watched := range w.listWatched(r) {
		if isFailing(watched.State) {
			texts = append(texts, fmt.Sprintf("%s are not known: %v", watched.what, watched.Err))
		}
	}
	slices.Sort(texts)
	return append(r.resources.listPlaces().describeTroubles(false), texts...)
}

// allUnlisted says it of all kinds, for /readyz.
func (w *watchTroubles) allUnlisted() string {
	var b strings.Builder
	running := w.runningKinds()
	slices.SortFunc(running, func(a, b *kindController) int { return strings.Compare(a.name, b.name) })
	for _, r := range running {
		for _, text := range w.describeUnlisted(r) {
			fmt.Fprintf(&b, "%s: %s\n", r.name, text)
		}
	}
	return b.String()
}
