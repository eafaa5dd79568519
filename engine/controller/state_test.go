package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestStateChange: a state is written when it changes, together with the Lease that shows
// whether its operator lives, and never to confirm it.
func TestStateChange(t *testing.T) {
	const key, lease = "jacquard.dev/state", "jacquard.dev/state-lease"
	ours := map[string]string{key: "Serving", lease: "ops/shop.jacquard.dev"}
	for name, c := range map[string]struct {
		options Options
		have    map[string]string
		state   verdict.State
		want    map[string]any
	}{
		"new":             {state: verdict.Serving, want: map[string]any{key: "Serving", lease: "ops/shop.jacquard.dev"}},
		"the same":        {have: ours, state: verdict.Serving},
		"another state":   {have: ours, state: verdict.RolloutStopped, want: map[string]any{key: "RolloutStopped", lease: "ops/shop.jacquard.dev"}},
		"without a Lease": {options: Options{Identity: "ops/shop"}, have: ours, state: verdict.Serving, want: map[string]any{key: "Serving", lease: nil}},
		"another installation's": {have: map[string]string{key: "Serving", lease: "jacquard/jacquard.jacquard.dev"}, state: verdict.Serving,
			want: map[string]any{key: "Serving", lease: "ops/shop.jacquard.dev"}},
	} {
		if c.options.Identity == "" {
			c.options = Options{Namespace: "ops", Identity: "ops/shop"}
		}
		o, crd := assembleParts(&process{options: c.options}), &apiextensionsv1.CustomResourceDefinition{}
		crd.Name, crd.Annotations = "things", c.have
		o.kinds[crd.Name] = &kindState{crd: crd}
		var got map[string]any
		o.report.recordStates(t.Context(), []heartbeat.Kind{{Name: crd.Name, State: c.state}},
			func(_ context.Context, crd metav1.Object, mine shard.Shard, w kinds.Writes) error {
				got = w.Annotations(crd, mine, time.Now())
				return nil
			})
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestStateOfRefusedCRD: a CRD that the operator may not write is tried again after half a
// minute, and the states of other kinds are not recorded later because of it.
func TestStateOfRefusedCRD(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assembleParts(&process{options: Options{Namespace: "ops", Identity: "ops/shop"}})
		defer o.names.ShutDown()
		for _, name := range []string{"refused", "well"} {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Name = name
			o.kinds[name] = &kindState{crd: crd}
		}
		r := o.report
		var tried []string
		write := func(_ context.Context, crd metav1.Object, _ shard.Shard, w kinds.Writes) error {
			tried = append(tried, crd.GetName())
			if crd.GetName() == "refused" {
				return errors.New("forbidden")
			}
			crd.SetAnnotations(map[string]string{"jacquard.dev/state": string(w.State.State), "jacquard.dev/state-lease": w.State.Lease})
			return nil
		}
		for _, c := range []struct {
			after time.Duration
			well  verdict.State
			want  []string
		}{
			{0, verdict.Serving, []string{"refused", "well"}},
			{time.Second, verdict.Serving, nil},
			{time.Second, verdict.RolloutStopped, []string{"well"}},
			{reportWait, verdict.RolloutStopped, []string{"refused"}},
		} {
			time.Sleep(c.after)
			tried = nil
			wrote := r.recordStates(t.Context(), []heartbeat.Kind{{Name: "refused", State: verdict.Serving}, {Name: "well", State: c.well}}, write)
			if !slices.Equal(tried, c.want) || wrote != (c.want != nil) {
				t.Errorf("after %s: tried %v, want %v", c.after, tried, c.want)
			}
		}
	})
}
