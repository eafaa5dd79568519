package schema

import (
	"slices"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

func TestBuiltInType(t *testing.T) {
	for _, tt := range []struct {
		apiVersion, kind, path string
		want                   Kind
		format                 string
	}{
		{"apps/v1", "Deployment", "spec replicas", KindInteger, ""},
		{"apps/v1", "Deployment", "spec replica", missing, ""},
		{"apps/v1", "Deployment", "status readyReplicas", KindInteger, ""},
		{"apps/v1", "Deployment", "spec template metadata labels x", KindString, ""},
		{"apps/v1", "Deployment", "spec template spec containers [] resources limits cpu", KindString, FormatQuantity},
		{"apps/v1", "Deployment", "spec template spec containers [] livenessProbe httpGet port", KindIntOrString, ""},
		{"apps/v1", "Deployment", "spec template spec volumes [] configMap name", KindString, ""},
		{"apps/v1", "Deployment", "metadata creationTimestamp", KindString, "date-time"},
		{"v1", "Secret", "data x", KindString, "byte"},
		{"v1", "ConfigMap", "data x", KindString, ""},
		{"v1", "Service", "status loadBalancer ingress [] ip", KindString, ""},
		{"v1", "Event", "message", KindString, ""},
		{"apps/v1", "ControllerRevision", "data anything", KindAny, ""},
		{"autoscaling/v2", "HorizontalPodAutoscaler", "spec metrics [] resource target averageUtilization", KindInteger, ""},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec versions [] schema openAPIV3Schema properties", KindAny, ""},
	} {
		gv, _ := apischema.ParseGroupVersion(tt.apiVersion)
		got, found := at(BuiltInType(gv.WithKind(tt.kind)), tt.path)
		switch {
		case found != (tt.want != missing):
			t.Errorf("%s %s: found %v", tt.kind, tt.path, found)
		case found && (got.Kind() != tt.want || got.Format() != tt.format):
			t.Errorf("%s %s: %v %q, want %v %q", tt.kind, tt.path, got.Kind(), got.Format(), tt.want, tt.format)
		}
	}
}

func TestBuiltInTypeOfAll(t *testing.T) {
	for gvk := range builtInKinds() {
		got := BuiltInType(gvk)
		if got == nil || !got.Always("metadata") || !slices.Contains(got.Fields(), "kind") || len(got.Required()) > 0 {
			t.Errorf("%v: %+v", gvk, got)
		}
	}
	for _, gvk := range []apischema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deploy"}, {Version: "v1", Kind: "Status"},
		{Group: "x.io", Version: "v1", Kind: "X"}} {
		if got := BuiltInType(gvk); got != nil {
			t.Errorf("%v: %+v", gvk, got)
		}
	}
}

func TestBuiltInFacts(t *testing.T) {
	deployment := BuiltInType(apischema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	for path, want := range map[string]struct{ required, always string }{
		"spec":                             {"selector template", "template selector"},
		"spec template spec":               {"containers", ""},
		"spec template spec containers []": {"name", "name"},
		"status":                           {"", ""},
		"metadata":                         {"", "name uid resourceVersion"},
		"spec template metadata":           {"", ""},
	} {
		got, found := at(deployment, path)
		if !found || strings.Join(got.Required(), " ") != want.required {
			t.Errorf("%s requires %v, want %s", path, got.Required(), want.required)
		}
		for _, name := range got.Fields() {
			wanted := slices.Contains(strings.Fields(want.always+" "+want.required), name)
			if wanted && !got.Always(name) || !wanted && got.Always(name) && want.always == "" && name != "resources" && name != "metadata" &&
				name != "strategy" {
				t.Errorf("%s: always %s is %v", path, name, got.Always(name))
			}
		}
	}
	policy, _ := at(deployment, "spec template spec containers [] imagePullPolicy")
	if !slices.Contains(policy.Enum(), any("IfNotPresent")) || policy.MaxLength() != len("IfNotPresent") {
		t.Errorf("imagePullPolicy: %v, %d", policy.Enum(), policy.MaxLength())
	}
	path, _ := at(BuiltInType(apischema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}),
		"spec rules [] http paths [] pathType")
	if !slices.Contains(path.Enum(), any("Prefix")) {
		t.Errorf("pathType: %v", path.Enum())
	}
}
