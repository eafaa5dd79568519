package controller

import (
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// readOperator returns an operator that has read all roots and ConfigMaps, and has listed all CRDs.
func readOperator(options Options) *Operator {
	o := assembleParts(&process{options: options})
	o.read, o.mapsRead, o.listed = true, true, true
	return o
}

// defining is an operator that has seen some CRDs.
func defining(t *testing.T, crds ...*apiextensionsv1.CustomResourceDefinition) *Operator {
	t.Helper()
	discovery, err := cluster.NewDiscovery(&rest.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := assembleParts(&process{})
	o.mapsRead, o.apis.discovery = false, discovery
	for _, crd := range crds {
		o.watcher.crdCame(nil, crd)
	}
	return o
}

// defines is a CRD of a kind of example.com, served as v1.
func defines(plural, kind string, isEstablished bool) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Spec.Group, crd.Spec.Names.Plural, crd.Spec.Names.Kind = plural+".example.com", "example.com", plural, kind
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}
	if isEstablished {
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established,
			Status: apiextensionsv1.ConditionTrue}}
	}
	return crd
}

// TestDefinitionsAreIndexed: what is asked for every snapshot, write and child
// needs neither the operator's mutex nor a look at all CRDs.
func TestDefinitionsAreIndexed(t *testing.T) {
	const many = 1000
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i := range many {
		crds = append(crds, defines(fmt.Sprint("things", i), fmt.Sprint("Thing", i), true))
	}
	at := metav1.Unix(1, 0)
	crds[0].DeletionTimestamp = &at
	o := defining(t, crds...)
	asked := func() {
		o.apis.servedKinds()
		o.apis.declaresConditions(schema.GroupKind{Group: "example.com", Kind: "Thing1"})
		if !o.apis.isDefined(schema.GroupKind{Group: "example.com", Kind: "Thing999"}) ||
			o.apis.isDefined(schema.GroupKind{Group: "example.com", Kind: "Thing1000"}) {
			t.Error("not what the CRDs define")
		}
	}
	if n := testing.AllocsPerRun(100, asked); n > 0 {
		t.Errorf("%g allocations where nothing changed", n)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	done := make(chan struct{})
	go func() { asked(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("who asks about a kind waits for the operator's mutex")
	}
}

// TestDefinitionsOverlap: of two CRDs of one kind the established one defines it,
// until it is gone or has another name.
func TestDefinitionsOverlap(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Thing"}
	first, second := defines("things", "Thing", true), defines("others", "Thing", false)
	is := func(when string, o *Operator, want *apiextensionsv1.CustomResourceDefinition) {
		t.Helper()
		for range 100 {
			if got := o.apis.definitions.findCRD(kind); got != want {
				t.Fatalf("%s: %v, want %v", when, got, want)
			}
		}
	}
	o := defining(t, first, second)
	is("both are there", o, first)
	renamed := defines("things", "Object", true)
	o.watcher.crdCame(first, renamed)
	is("one has another kind", o, second)
	o.watcher.crdWent(second)
	is("the other is gone", o, nil)
	o.watcher.crdCame(renamed, first)
	is("it has its kind again", o, first)
}

// TestPromisedIsNotAbsent: a kind that an established CRD serves and discovery
// does not show is in doubt, until the CRD serves it no more or goes.
func TestPromisedIsNotAbsent(t *testing.T) {
	v1 := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	at := metav1.Unix(1, 0)
	going, unserved := defines("things", "Thing", true), defines("things", "Thing", true)
	going.DeletionTimestamp = &at
	unserved.Spec.Versions[0].Served = false
	promised := defines("things", "Thing", true)
	for when, c := range map[string]struct {
		crd       *apiextensionsv1.CustomResourceDefinition
		doubtful  bool
		withdrawn int
	}{
		"established":         {promised, true, 0},
		"not yet established": {defines("things", "Thing", false), false, 1},
		"it goes":             {going, false, 1},
		"v1 is not served":    {unserved, false, 1},
	} {
		o := defining(t, c.crd)
		for what, served := range map[string]*cluster.Served{"to make": o.apis.servedKinds(), "to watch": o.apis.promisedKinds()} {
			if doubt := served.Doubt(v1); (doubt != nil) != c.doubtful {
				t.Errorf("%s: what is there %s: %v", when, what, doubt)
			}
			if err := served.Doubt(v1.GroupVersion().WithKind("Other")); err != nil {
				t.Errorf("%s: another kind: %v", when, err)
			}
		}
		o = defining(t, promised)
		o.apis.withdrawn = locks.NewSignal()
		if o.watcher.crdCame(promised, c.crd); len(o.apis.withdrawn) != c.withdrawn {
			t.Errorf("%s: told %d times that less is promised", when, len(o.apis.withdrawn))
		}
	}
}
