package lint

import (
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// place is the type at a path of a built-in kind: names, and [] for items.
func place(t *testing.T, gvk apischema.GroupVersionKind, path ...string) *schema.Type {
	t.Helper()
	at := schema.BuiltInType(gvk)
	for _, name := range path {
		if name == "[]" {
			at = at.Elem()
			continue
		}
		field, found := at.Field(name)
		if !found {
			t.Fatalf("there is no %v of %v", path, gvk)
		}
		at = field
	}
	return at
}

var (
	deployment = apischema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMap  = apischema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func TestFits(t *testing.T) {
	text, number, whole, truth := schema.Scalar(schema.KindString), schema.Scalar(schema.KindNumber), schema.Scalar(schema.KindInteger), schema.Scalar(schema.KindBoolean)
	either := schema.Scalar(schema.KindIntOrString)
	spec := place(t, deployment, "spec")
	container := place(t, deployment, "spec", "template", "spec", "containers", "[]")
	at := func(of *schema.Type, name string) *schema.Type {
		field, found := of.Field(name)
		if !found {
			t.Fatalf("there is no %s", name)
		}
		return field
	}
	limits := place(t, deployment, "spec", "template", "spec", "containers", "[]", "resources", "limits", "cpu")
	for _, tt := range []struct {
		value, place *schema.Type
		want         string
	}{
		{whole, at(spec, "replicas"), ""},
		{text, at(spec, "replicas"), "at of X must be an integer, and .v is a string: use int"},
		{number, at(spec, "replicas"), "at of X must be an integer, and .v is a number: use int"},
		{either, at(spec, "replicas"), "at of X must be an integer, and .v is an integer or string: use int"},
		{whole, at(container, "image"), "at of X must be a string, and .v is an integer: use quote or toString"},
		{truth, at(container, "image"), "at of X must be a string, and .v is a boolean: use quote or toString"},
		{schema.ListOf(text), at(container, "image"),
			"at of X must be a string, and .v is a list: write \"{{ toJson … }}\" with the quotes, or print a field of it"},
		{text, at(container, "tty"), `at of X must be a boolean, and .v is a string: compare it, as in eq … "true"`},
		{schema.Either("Always", "Never"), at(container, "imagePullPolicy"), ""},
		{schema.Either("Always", "Sometimes"), at(container, "imagePullPolicy"),
			"at of X must be one of Always, Never, IfNotPresent, and .v is Sometimes in some resources"},
		{schema.MapOf(text), at(container, "env"), "at of X must be a list, and .v is a map"},
		{schema.ListOf(schema.ObjectOf(map[string]*schema.Type{"name": text, "value": text})), at(container, "env"), ""},
		{schema.ListOf(schema.ObjectOf(map[string]*schema.Type{"name": text, "value": whole})), at(container, "env"),
			"at[].value of X must be a string, and .v[].value is an integer: use quote or toString"},
		{schema.ListOf(schema.ObjectOf(map[string]*schema.Type{"name": text, "valeu": text})), at(container, "env"),
			"X has no field at[].valeu, which .v[] may have; did you mean at[].value?"},
		{schema.MapOf(whole), place(t, configMap, "data"), "at.* of X must be a string, and .v.* is an integer: use quote or toString"},
		{whole, limits, ""}, {number, limits, ""}, {text, limits, ""},
		{truth, limits, "at of X must be a string, and .v is a boolean: use quote or toString"},
		{nil, at(spec, "replicas"), ""}, {text, schema.Any, ""}, {schema.MapOf(text), at(container, "resources"), ""},
	} {
		got := ""
		if m := findMisfit(tt.value, tt.place, "at"); m != nil {
			got = m.describeMisfit("X", ".v")
		}
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	replicas := place(t, deployment, "spec", "replicas")
	image := place(t, deployment, "spec", "template", "spec", "containers", "[]", "image")
	policy := place(t, deployment, "spec", "template", "spec", "containers", "[]", "imagePullPolicy")
	memory := place(t, deployment, "spec", "template", "spec", "containers", "[]", "resources", "limits", "memory")
	for _, tt := range []struct {
		value any
		place *schema.Type
		want  string
	}{
		{int64(1), replicas, ""},
		{"1", replicas, "must be an integer, not a string: write it without quotes"},
		{1.5, replicas, "must be an integer, not a number"},
		{2.0, replicas, ""},
		{true, image, "must be a string, not a boolean: quote it"},
		{"Always", policy, ""},
		{"always", policy, "must be one of Always, Never, IfNotPresent, not always; did you mean Always?"},
		{"1Gi", memory, ""}, {int64(5), memory, ""}, {0.5, memory, ""},
		{"1 Gb", memory, "must be a quantity such as 500m or 1Gi, not 1 Gb"},
		{nil, image, ""},
		{"x", nil, ""},
	} {
		if got := describeRefusal(tt.value, tt.place); got != tt.want {
			t.Errorf("%v: got  %s\nwant %s", tt.value, got, tt.want)
		}
	}
}
