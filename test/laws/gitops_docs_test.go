package laws

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/cli"
)

const gitops = "docs/gitops.md"

// manifests are the YAML documents of docs/gitops.md; one that is no YAML fails
// the test.
func manifests(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, m := range block.FindAllStringSubmatch(string(read(t, gitops)), -1) {
		for _, text := range strings.Split(m[1], "\n---\n") {
			var object map[string]any
			if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
				t.Errorf("%s: %v:\n%s", gitops, err, text)
			}
			all = append(all, object)
		}
	}
	return all
}

// TestHealthChecksAreForEveryKind: docs/gitops.md has a health check for each
// kind that ships and for no other, under keys that a ConfigMap may have.
func TestHealthChecksAreForEveryKind(t *testing.T) {
	const health = "resource.customizations.health."
	want := []string{health + "apiextensions.k8s.io_CustomResourceDefinition", // by which it waits for a kind
		health + "argoproj.io_Application"} // by which it waits for the operator
	var got []string
	for _, crd := range shipped(t) {
		want = append(want, health+crd.Spec.Group+"_"+crd.Spec.Names.Kind)
	}
	others := []string{"resource.customizations", "application.resourceTrackingMethod"}
	for _, object := range manifests(t) {
		if object["kind"] != "ConfigMap" {
			continue
		}
		data := object["data"].(map[string]any)
		for key := range data {
			if problems := validation.IsConfigMapKey(key); len(problems) > 0 {
				t.Errorf("%s: %s: %v", gitops, key, problems)
			}
			if _, isText := data[key].(string); !isText {
				t.Errorf("%s: %s is no text", gitops, key)
			}
		}
		got = append(got, slices.DeleteFunc(slices.Collect(maps.Keys(data)), func(key string) bool { return slices.Contains(others, key) })...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: health checks (-kinds +document):\n%s", gitops, diff)
	}
}

// TestShippedKindsStartUnseen: every CRD that ships says of a resource without a
// status that nobody has looked at it; with it kstatus does not call it current.
func TestShippedKindsStartUnseen(t *testing.T) {
	for _, crd := range shipped(t) {
		startsUnseen(t, "crds/"+crd.Name+".yaml", crd)
	}
}

// TestNewKindsStartUnseen: so does every CRD that jacquard new writes.
func TestNewKindsStartUnseen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "manifest.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {a: b}\n")
	write(t, dir, "chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
	write(t, dir, "chart/values.yaml", "text: b\n")
	write(t, dir, "chart/templates/map.yaml",
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: {{ .Values.text }}\n")
	for _, how := range [][]string{{}, {"--deployment"}, {"--from-manifests", dir + "/manifest.yaml"}, {"--from-chart", dir + "/chart"}} {
		root := t.TempDir()
		var out, trouble bytes.Buffer
		if code := cli.Main(append([]string{"new", "Shop", "--group", "example.com", "--root", root}, how...), strings.NewReader(""), &out,
			&trouble); code != 0 {
			t.Fatalf("jacquard new %v: exit %d: %s", how, code, trouble.String())
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(read(t, root+"/crds/shops.example.com.yaml"), crd); err != nil {
			t.Fatal(err)
		}
		startsUnseen(t, "jacquard new "+strings.Join(how, " "), crd)
	}
}

func startsUnseen(t *testing.T, what string, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, version := range crd.Spec.Versions {
		status := version.Schema.OpenAPIV3Schema.Properties["status"]
		if status.Default == nil || string(status.Default.Raw) != `{"observedGeneration":-1}` {
			t.Errorf("%s: the status of %s has no default {observedGeneration: -1}", what, version.Name)
		}
	}
}
