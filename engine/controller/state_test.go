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
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestStateChange: a state is written when it changes, together with the Lease that shows
// whether its operator lives, and never to confirm it.
func TestStateChange(t *testing.T) {
	const key, lease = "jacquard.dev/state", "jacquard.dev/state-lease"
	o := assembleParts(&process{options: Options{Namespace: "ops", Identity: "ops/shop"}})
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
		if got := o.report.stateChange(c.have, shard.Shard{Identity: "ops/shop"}, c.state); !maps.Equal(got, c.want) {
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
		annotate := func(_ context.Context, crd metav1.Object, change map[string]any) error {
			tried = append(tried, crd.GetName())
			if crd.GetName() == "refused" {
				return errors.New("forbidden")
			}
			crd.SetAnnotations(map[string]string{"jacquard.dev/state": change["jacquard.dev/state"].(string),
				"jacquard.dev/state-lease": change["jacquard.dev/state-lease"].(string)})
			return nil
		}
		for _, c := range []struct {
			after time.Duration
			well  verdict.State
			want  []string
		}{
			{0, verdict.Serving, []string{"refused", "well"}},
			{time.Second, verdict.Serving, nil},
			{time.Second, verdict.Stopped, []string{"well"}},
			{reportWait, verdict.Stopped, []string{"refused"}},
		} {
			time.Sleep(c.after)
			tried = nil
			wrote := r.recordStates(t.Context(), []heartbeat.Kind{{Name: "refused", State: verdict.Serving}, {Name: "well", State: c.well}}, annotate)
			if !slices.Equal(tried, c.want) || wrote != (c.want != nil) {
				t.Errorf("after %s: tried %v, want %v", c.after, tried, c.want)
			}
		}
	})
}
