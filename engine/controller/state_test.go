package controller

import (
	"maps"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestStateChange: a state is written when it changes, together with the Lease that shows
// whether its operator lives, and never to confirm it.
func TestStateChange(t *testing.T) {
	const key, lease = "jacquard.dev/state", "jacquard.dev/state-lease"
	o := &Operator{options: Options{Namespace: "ops", Identity: "ops/shop"}}
	for name, c := range map[string]struct {
		have  map[string]string
		state verdict.State
		want  map[string]any
	}{
		"new": {nil, verdict.Serving, map[string]any{key: "Serving", lease: "ops/shop.jacquard.dev"}},
		"the same": {map[string]string{key: "Serving", lease: "ops/shop.jacquard.dev", "jacquard.dev/rolled-out": "a"},
			verdict.Serving, nil},
		"another state": {map[string]string{key: "Serving", lease: "ops/shop.jacquard.dev"}, verdict.Stopped,
			map[string]any{key: "Stopped", lease: "ops/shop.jacquard.dev"}},
		"another installation's": {map[string]string{key: "Serving", lease: "jacquard/jacquard.jacquard.dev"}, verdict.Serving,
			map[string]any{key: "Serving", lease: "ops/shop.jacquard.dev"}},
		"an earlier version's": {map[string]string{key: "Serving"}, verdict.Serving,
			map[string]any{key: "Serving", lease: "ops/shop.jacquard.dev"}},
	} {
		if got := o.stateChange(c.have, shard.Shard{Identity: "ops/shop"}, c.state); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
