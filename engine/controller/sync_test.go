package controller

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// TestUnlisted: no kind starts before all CRDs were seen, since those of its
// children report whether they are ready.
func TestUnlisted(t *testing.T) {
	const name = "things.example.com"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = name
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established,
		Status: apiextensionsv1.ConditionTrue}}
	o := defining(t)
	o.read, o.mapsRead = true, true
	o.kinds[name] = &kindState{crd: crd, source: chosenSource{folder: &folder.Folder{Name: name}}}
	if _, err := o.manager.syncKind(t.Context(), name); err != nil {
		t.Error(err)
	}
	if o.readState(name).report.loadResult() != "" {
		t.Error("its folder was taken up")
	}
}

// TestKindIsTriedEachMinute: a kind that could not be settled for long is settled a minute after
// what was in the way is gone.
func TestKindIsTriedEachMinute(t *testing.T) {
	limiter, last := newKindLimiter(), time.Duration(0)
	for range 30 {
		last = limiter.When("things.example.com")
	}
	if last != time.Minute {
		t.Errorf("it waits for %s", last)
	}
}
