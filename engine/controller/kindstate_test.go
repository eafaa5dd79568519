package controller

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// gauge is a metric of a kind.
func gauge(t *testing.T, name, kind string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == kind {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s of %s", name, kind)
	return 0
}

// TestExportKindState: a kind counts as paused only if a person paused it, not because
// the whole operator is read-only; and as rolled back while a revision serves it.
func TestExportKindState(t *testing.T) {
	const name = "exported.example.com"
	for what, c := range map[string]struct {
		readOnly               bool
		annotation, back       string
		isPaused, isRolledBack float64
	}{
		"serving":   {},
		"read-only": {readOnly: true},
		"paused":    {annotation: "true", isPaused: 1},
		"both":      {readOnly: true, annotation: "true", isPaused: 1},
		"back":      {back: "9f86d081884c7d65", isRolledBack: 1},
	} {
		t.Run(what, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Annotations = map[string]string{api.AnnotationPaused: c.annotation}
			o := &Operator{options: Options{ReadOnly: c.readOnly}, kinds: map[string]*kindState{name: {crd: crd, rolledBack: c.back}}}
			o.exportKindState(name)
			if got := gauge(t, "jacquard_kind_paused", name); got != c.isPaused {
				t.Errorf("it is paused: %v", got)
			}
			if got := gauge(t, "jacquard_kind_rolled_back", name); got != c.isRolledBack {
				t.Errorf("it is rolled back: %v", got)
			}
			if got := o.paused(name); got != (c.readOnly || c.annotation != "") {
				t.Errorf("it is only looked at: %v", got)
			}
		})
	}
}

// TestFollowerIsNotRolledBack: a replica that led when a kind was rolled back, and leads no
// more, does not go on to count it as rolled back: it would not notice the end of that.
func TestFollowerIsNotRolledBack(t *testing.T) {
	const name = "followed.example.com"
	mine := shard.Shard{Identity: "home/jacquard"}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Annotations = map[string]string{api.AnnotationOperator: mine.Identity,
		mine.Key(api.AnnotationRollout): rollout.Record{Digest: "1", State: rollout.Running}.String()}
	o := &Operator{options: Options{Identity: mine.Identity}, kinds: map[string]*kindState{name: {crd: crd, rolledBack: "0"}}}
	o.exportKindState(name)
	v := versionOf("1")
	v.Name = name
	if err := o.follow(context.Background(), &history{o: o, crd: crd}, &kindController{}, v); err != nil {
		t.Fatal(err)
	}
	if got := gauge(t, "jacquard_kind_rolled_back", name); got != 0 {
		t.Errorf("it is rolled back: %v", got)
	}
}
