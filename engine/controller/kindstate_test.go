package controller

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
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
