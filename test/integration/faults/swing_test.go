package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestOscillating: a folder that reads what it writes is found out, says file and
// field, and does not keep the API server busy; another generation heals it.
func TestOscillating(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap + "  sum: {{ if .spec.turn }}{{ child \"map\" | toJson | sha256sum }}{{ end }}\n"})
	s.web("text: one, turn: true")
	s.swings("map.yaml")
}

// TestCopiedBack: so is a folder that reads what a controller copies of what it
// wrote. The controller has to be quick, which it is not beside all other tests.
func TestCopiedBack(t *testing.T) {
	kit.Nightly(t, "integration")
	t.Parallel()
	const flips = `{{ if and .spec.turn (eq ((lookup "v1" "ConfigMap" "" "copy").data.said | default "Tick") "Tick") }}Tock{{ else }}Tick{{ end }}`
	s := build(t, map[string]string{"map.yaml": configMap, "status.yaml": "conditions:\n- type: Said\n  status: \"True\"\n  reason: " + flips + "\n"})
	s.copies(func() (string, error) {
		o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
		said, _ := status.Condition(o.Object, "Said")["reason"].(string)
		return said, err
	})
	s.web("text: one, turn: true")
	s.swings("reason changes again")
}

// swings waits until the folder is found out, and heals it.
func (s *site) swings(because string) {
	s.Helper()
	s.is("Stalled", "True", "Oscillating")
	s.is("Ready", "False", because)
	s.Log(s.message())
	if n := len(kit.Writes(s.sent(0))); n > 60 {
		s.Errorf("%d writes until it was found out", n)
	}
	s.web("text: one, turn: false")
	s.ready()
}

// copies copies what is said into a ConfigMap, as a controller does, until the
// test ends.
func (s *site) copies(said func() (string, error)) {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.Cleanup(func() { end(); <-done })
	go func() {
		defer close(done)
		for last := ""; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			if now, err := said(); err == nil && now != last && now != "" {
				cluster.Apply(s, s.namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: copy}, data: {said: %s}}", now))
				last = now
			}
		}
	}()
}
