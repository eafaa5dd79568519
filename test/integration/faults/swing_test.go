package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestOscillating: a folder that reads what it writes is found out, says file and
// field, and does not keep the API server busy; another generation heals it.
func TestOscillating(t *testing.T) {
	for name, c := range map[string]struct{ file, text, healed, because string }{
		"a child that is in itself": {"map.yaml",
			configMap + "  sum: {{ if .spec.turn }}{{ child \"map\" | toJson | sha256sum }}{{ end }}\n", "turn: false", "map.yaml"},
		"a status that is in itself": {"status.yaml",
			"conditions:\n- type: Summed\n  status: \"True\"\n  reason: {{ if .spec.turn }}S{{ .status | toJson | sha256sum }}{{ else }}None{{ end }}\n", "turn: false", "reason changes again"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"map.yaml": configMap, c.file: c.text}
			s := build(t, files)
			s.web("text: one, turn: true")
			s.is("Ready", "False", c.because)
			s.is("Stalled", "True", "Oscillating")
			t.Log(s.message())
			if n := len(kit.Writes(s.sent(0))); n > 60 {
				t.Errorf("%d writes until it was found out", n)
			}
			s.web("text: one, " + c.healed)
			s.ready()
		})
	}
}

// TestCopiedBack: so is a folder that reads what a controller copies of what it
// wrote, be that of a child or of the status.
func TestCopiedBack(t *testing.T) {
	const flips = `{{ if and .spec.turn (eq ((lookup "v1" "ConfigMap" "" "copy").data.said | default "Tick") "Tick") }}Tock{{ else }}Tick{{ end }}`
	for name, c := range map[string]struct {
		file, text, because string
		said                func(s *site) (string, error)
	}{
		"of a child": {"map.yaml", configMap + "  said: " + flips + "\n", "map.yaml", func(s *site) (string, error) {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
			said, _, _ := unstructured.NestedString(o.Object, "data", "said")
			return said, err
		}},
		"of the status": {"status.yaml", "conditions:\n- type: Said\n  status: \"True\"\n  reason: " + flips + "\n", "reason changes again",
			func(s *site) (string, error) {
				o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
				said, _ := status.Condition(o.Object, "Said")["reason"].(string)
				return said, err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, map[string]string{"map.yaml": configMap, c.file: c.text})
			s.copies(func() (string, error) { return c.said(s) })
			s.web("text: one, turn: true")
			s.is("Stalled", "True", "Oscillating")
			s.is("Ready", "False", c.because)
			if n := len(kit.Writes(s.sent(0))); n > 60 {
				t.Errorf("%d writes until it was found out", n)
			}
			s.web("text: one, turn: false")
			s.ready()
		})
	}
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
