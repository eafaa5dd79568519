package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestUpgradeTakesNothingAway: a release of a chart that enabled kinds by default
// is not upgraded to one without them unless it is said that they are to go.
func TestUpgradeTakesNothingAway(t *testing.T) {
	t.Parallel()
	ensure(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "earlier"}})
	objects, err := render(release{name: "earlier", namespace: "earlier", values: samples(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		switch o.GetKind() {
		case "ConfigMap":
			note(o, "meta.helm.sh/release-name", "earlier") // as Helm does
		case "Deployment":
			o.SetAnnotations(nil) // as earlier charts made it
		default:
			continue
		}
		apply(t, o)
	}
	upgrade := func(text string) error {
		_, err := render(release{name: "earlier", namespace: "earlier", values: values(t, text), live: cluster.Config})
		return err
	}
	want := "--set 'kinds.enabled={apps.app.huolala.cn,foos.samplecontroller.k8s.io,genericdaemons.mydomain.com,milvuses.zilliz.com,podroutes.quay.io}'"
	if err := upgrade("{}"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an upgrade without kinds: %v; want %s", err, want)
	}
	for _, text := range []string{"kinds: {enabled: [apps.app.huolala.cn]}", "kinds: {enabled: null}"} {
		if err := upgrade(text); err != nil {
			t.Errorf("an upgrade with %s: %v", text, err)
		}
	}
	again, err := render(release{name: "earlier", namespace: "earlier"})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, ofKind(again, "Deployment")[0])
	if err := upgrade("{}"); err != nil {
		t.Errorf("an upgrade of a release of this chart: %v", err)
	}
}

// note annotates an object.
func note(o *unstructured.Unstructured, key, value string) {
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	o.SetAnnotations(all)
}
