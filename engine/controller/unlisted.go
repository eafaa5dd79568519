package controller

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// countUnwatched says in metrics how much of what a kind needs watched may not be, and
// how much cannot be. A kind that has ended has no such metrics.
func (o *Operator) countUnwatched(r *kindController) {
	o.counting.Lock()
	defer o.counting.Unlock()
	forbidden, failing := r.resources.counts()
	for _, state := range o.watched(r) {
		switch {
		case isForbidden(state):
			forbidden++
		case isFailing(state):
			failing++
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen(r.name).controller == r {
		metrics.Kind(r.name).Unwatched(forbidden)
		metrics.Kind(r.name).Failing(failing)
	}
}

// watched are the states of all that a kind needs watched besides its resources, by what
// it is.
func (o *Operator) watched(r *kindController) map[string]live.State {
	all := map[string]live.State{}
	for gvk := range r.versions.children() {
		all["children of kind "+gvk.Kind] = o.children.State(gvk)
	}
	for _, scope := range r.versions.scopes() {
		all["what is read or patched of kind "+scope.Kind] = o.reads.State(scope)
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

// unlisted says what of a kind, and of what it needs watched, cannot be listed or watched
// now, and why. Of missing rights, those that resources report are left out.
func (o *Operator) unlisted(r *kindController) []string {
	texts := r.resources.troubles(false)
	states := o.watched(r)
	for _, what := range slices.Sorted(maps.Keys(states)) {
		if isFailing(states[what]) {
			texts = append(texts, fmt.Sprintf("%s are not known: %v", what, states[what].Err))
		}
	}
	return texts
}

// allUnlisted says it of all kinds, for /readyz.
func (o *Operator) allUnlisted() string {
	var b strings.Builder
	running := o.running()
	slices.SortFunc(running, func(a, b *kindController) int { return strings.Compare(a.name, b.name) })
	for _, r := range running {
		for _, text := range o.unlisted(r) {
			fmt.Fprintf(&b, "%s: %s\n", r.name, text)
		}
	}
	return b.String()
}
