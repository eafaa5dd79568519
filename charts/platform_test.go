package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

// platform are the objects of ci/platform-values.yaml.
func platform(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return rendered(t, values(t, string(read(t, dir+"/ci/platform-values.yaml"))))
}

// TestCommon: all objects of the chart have the common labels and annotations, beside
// their own; objects of yours are as they were given.
func TestCommon(t *testing.T) {
	t.Parallel()
	given := values(t, string(read(t, dir+"/ci/platform-values.yaml")))
	maps.Copy(given, samples(t))
	maps.Copy(given, values(t, "{networkPolicy: {enabled: true}, flowControl: {enabled: true}, kinds: {enabled: [apps.app.huolala.cn], apps.app.huolala.cn: {config: {a: b}}}}"))
	given["metrics"].(map[string]any)["dashboard"] = map[string]any{"enabled": true}
	for _, o := range rendered(t, given) {
		if o.GetName() == "beside" || o.GetName() == "jacquard-beside" {
			if len(o.GetLabels())+len(o.GetAnnotations()) > 0 {
				t.Errorf("%s: has %v and %v", title(o), o.GetLabels(), o.GetAnnotations())
			}
			continue
		}
		if o.GetLabels()["example.com/owner"] != "platform" || o.GetLabels()["app.kubernetes.io/instance"] != "jacquard" {
			t.Errorf("%s: its labels are %v", title(o), o.GetLabels())
		}
		if o.GetAnnotations()["example.com/contact"] != "platform@example.org" {
			t.Errorf("%s: its annotations are %v", title(o), o.GetAnnotations())
		}
	}
	own := rendered(t, values(t, "commonLabels: {app.kubernetes.io/name: other, app.kubernetes.io/version: x}"))
	if got := ofKind(own, "Deployment")[0].GetLabels()["app.kubernetes.io/name"]; got != "jacquard" {
		t.Errorf("a label of the chart's own became %s", got)
	}
}

// TestPlatform: what a platform asks of the Pod.
func TestPlatform(t *testing.T) {
	t.Parallel()
	var d appsv1.Deployment
	into(t, ofKind(platform(t), "Deployment")[0], &d)
	pod := d.Spec.Template.Spec
	liveness := pod.Containers[0].LivenessProbe
	for what, is := range map[string]bool{
		"a registry of its own":   pod.Containers[0].Image == "registry.example.org:5000/jacquard-operator/jacquard:v0.1.0",
		"its strategy":            d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() == 1,
		"a limit of the history":  cmp.Equal(d.Spec.RevisionHistoryLimit, ptr.To[int32](2)),
		"a RuntimeClass":          cmp.Equal(pod.RuntimeClassName, ptr.To("gvisor")),
		"a slower liveness probe": liveness.InitialDelaySeconds == 30 && liveness.FailureThreshold == 5 && liveness.HTTPGet.Path == "/healthz",
		"a readiness probe":       pod.Containers[0].ReadinessProbe.TimeoutSeconds == 3,
		"a container beside":      len(pod.Containers) == 2 && pod.Containers[1].Name == "proxy",
	} {
		if !is {
			t.Errorf("the Deployment has not %s: %+v", what, d.Spec)
		}
	}
	want := []corev1.LocalObjectReference{{Name: "mirror"}, {Name: "registry"}}
	if diff := cmp.Diff(want, pod.ImagePullSecrets); diff != "" {
		t.Errorf("secrets to pull with: %s", diff)
	}
}

// TestMonitoring: alerts that are switched off are not there, all others have the
// labels; a ServiceMonitor asks with the credentials that it is given.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	objects := platform(t)
	groups, _, _ := unstructured.NestedSlice(ofKind(objects, "PrometheusRule")[0].Object, "spec", "groups")
	names := []string{}
	for _, rule := range groups[0].(map[string]any)["rules"].([]any) {
		name := rule.(map[string]any)["alert"].(string)
		names = append(names, name)
		labels := rule.(map[string]any)["labels"].(map[string]any)
		if labels["team"] != "platform" || labels["severity"] == nil {
			t.Errorf("%s: its labels are %v", name, labels)
		}
	}
	if slices.Contains(names, "JacquardReadOnly") || !slices.Contains(names, "JacquardDown") {
		t.Errorf("the alerts are %v", names)
	}
	endpoints, _, _ := unstructured.NestedSlice(ofKind(objects, "ServiceMonitor")[0].Object, "spec", "endpoints")
	end := endpoints[0].(map[string]any)
	if end["bearerTokenFile"] != nil || end["authorization"] == nil || end["relabelings"] == nil || end["metricRelabelings"] == nil {
		t.Errorf("it asks by %v", end)
	}
	plain := rendered(t, values(t, "metrics: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}}"))
	groups, _, _ = unstructured.NestedSlice(ofKind(plain, "PrometheusRule")[0].Object, "spec", "groups")
	if all := len(groups[0].(map[string]any)["rules"].([]any)); all != len(names)+2 {
		t.Errorf("by default there are %d alerts, and %d without two", all, len(names))
	}
	endpoints, _, _ = unstructured.NestedSlice(ofKind(plain, "ServiceMonitor")[0].Object, "spec", "endpoints")
	if end := endpoints[0].(map[string]any); end["bearerTokenFile"] == nil || end["authorization"] != nil {
		t.Errorf("by default it asks by %v", end)
	}
}
