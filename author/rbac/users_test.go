package rbac

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestReaches: whoever may write a resource of these kinds reaches further by it
// than to objects of their own.
func TestReaches(t *testing.T) {
	const settings = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: NS}\n"
	for want, files := range map[string]string{
		"": "-- a.yaml --\n" + strings.Replace(service, ", namespace: NS", "", 1),
		"templates/webs.example.com/a.yaml:1 makes objects in other namespaces (Service)": "-- kind.yaml --\n" + settings +
			"children: [{apiVersion: v1, kind: Service, namespaces: [shared]}]\n-- a.yaml --\n" + strings.Replace(service, "NS", "shared", 1),
		"templates/webs.example.com/a.yaml:1 makes objects that the cluster's own edit may not make (ResourceQuota)": "-- a.yaml --\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\n",
		"templates/webs.example.com/a.yaml:1 makes objects that the cluster's own edit may not make (Route)":         "-- a.yaml --\napiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: a}\n",
		"it reads objects of other namespaces (Secret)": "-- kind.yaml --\n" + settings +
			"reads: [{apiVersion: v1, kind: Secret, namespaces: [platform], names: [pull]}]\n-- a.yaml --\n" +
			"{{- $s := lookup \"v1\" \"Secret\" \"platform\" \"pull\" }}\n" + strings.Replace(service, ", namespace: NS", "", 1) +
			"spec: {type: {{ $s.metadata.name }}}\n",
	} {
		in, _, _ := input(t, txtar.Parse([]byte(files)))
		if got := furtherReach(in.Kind); got != want {
			t.Errorf("%s\n got %q\nwant %q", files, got, want)
		}
	}
}
