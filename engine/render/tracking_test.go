package render_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// tracking are keys that other tools find their objects by. On a child they
// would make it an object of that tool, which then deletes it.
var tracking = []string{
	"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance", "argocd.argoproj.io/installation-id",
	"argocd.argoproj.io/sync-wave", "argocd.argoproj.io/hook", "argocd.argoproj.io/sync-options", "argocd.argoproj.io/compare-options",
	"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/prune",
	"kustomize.toolkit.fluxcd.io/ssa", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace",
	"helm.toolkit.fluxcd.io/driftDetection", "source.toolkit.fluxcd.io/name",
	"sharding.fluxcd.io/key", "shard.alpha.sharding.timebertt.dev/example", "drain.alpha.sharding.timebertt.dev/example",
	"meta.helm.sh/release-name", "meta.helm.sh/release-namespace",
	"kubectl.kubernetes.io/last-applied-configuration",
	"jacquard.dev/paused", "jacquard.dev/reconcile-at", "jacquard.dev/owner-uid", "jacquard.dev/allow-prune", "x.jacquard.dev/y",
}

// people are keys that look like these and are not: they are copied.
var people = []string{
	"team", "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "example.com/argocd.argoproj.io",
	"argoproj.io/x", "helm.sh/chart", "kubectl.kubernetes.io/restartedAt", "toolkit.fluxcd.io.example.com/name", "jacquard.dev.example.com/x",
	"notjacquard.dev/x", "argocd", "jacquard.dev",
}

// copying are the ways to copy labels and annotations to a child.
var copying = map[string]string{
	"whole.yaml":    "  labels: {{ .metadata.labels }}\n  annotations: {{ .metadata.annotations }}\n",
	"text.yaml":     "  labels:\n    {{- toYaml .metadata.labels | nindent 4 }}\n  annotations:\n    {{- toYaml $.metadata.annotations | nindent 4 }}\n",
	"json.yaml":     "  labels: {{ toJson .metadata.labels }}\n  annotations: {{ toJson .metadata.annotations }}\n",
	"variable.yaml": "  {{- $m := .metadata }}\n  labels: {{ $m.labels }}\n  annotations: {{ get $m \"annotations\" }}\n",
	"merge.yaml":    "  labels: {{ merge (dict) .metadata.labels }}\n  annotations: {{ deepCopy .metadata.annotations }}\n",
	"partial.yaml":  "  labels: {{ include \"labels\" . }}\n  annotations: {{ include \"annotations\" .metadata }}\n",
	"range.yaml": "  labels:\n    {{- range $k, $v := .metadata.labels }}\n    {{ $k }}: {{ $v }}\n    {{- end }}\n" +
		"  annotations:\n    {{- range $k := keys .metadata.annotations }}\n    {{ $k }}: {{ get $.metadata.annotations $k }}\n    {{- end }}\n",
}

func copier(t *testing.T) *kind.Kind {
	t.Helper()
	files := map[string]string{
		"_copy.tpl": "{{ define \"labels\" }}{{ toYaml .metadata.labels }}{{ end }}{{ define \"annotations\" }}{{ toYaml .annotations }}{{ end }}",
	}
	for name, text := range copying {
		files[name] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%s", strings.TrimSuffix(name, ".yaml"), text)
	}
	k, err := compile(t, files)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// copied says what is wrong with what the children got of these labels and
// annotations, if visible is what they should get.
func copied(k *kind.Kind, all, visible map[string]any) error {
	r := thing(nil)
	maps.Copy(r.Object["metadata"].(map[string]any), map[string]any{"labels": all, "annotations": all})
	got, err := render.Children(context.Background(), k, r, nowhere{})
	if err != nil {
		return err
	}
	if len(got.Children) != len(copying) {
		return fmt.Errorf("there are %d children of %d", len(got.Children), len(copying))
	}
	for _, c := range got.Children {
		for _, field := range []string{"labels", "annotations"} {
			have, _, _ := unstructured.NestedMap(c.Object.Object, "metadata", field)
			if diff := cmp.Diff(visible, have); diff != "" {
				return fmt.Errorf("%s of %s (-wanted +got):\n%s", field, c.Object.GetName(), diff)
			}
		}
	}
	return nil
}

// TestTrackingIsNeverCopied: what argues that an object belongs to a tool that
// deletes what it does not know stays on the custom resource, whatever way a
// template copies labels and annotations; what people write is copied.
func TestTrackingIsNeverCopied(t *testing.T) {
	k := copier(t)
	visible := map[string]any{}
	for _, key := range people {
		visible[key] = "theirs"
	}
	for _, key := range tracking {
		all := maps.Clone(visible)
		all[key] = "tracked"
		if err := copied(k, all, visible); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestTrackingOfAnyKey is the same for keys made up at random; what belongs to
// whom is said here once more and otherwise than in the engine.
func TestTrackingOfAnyKey(t *testing.T) {
	k := copier(t)
	domains := []string{"argocd.argoproj.io", "meta.helm.sh", "toolkit.fluxcd.io", "jacquard.dev", "kubectl.kubernetes.io", "example.com",
		"kubernetes.io"}
	key := rapid.Custom(func(t *rapid.T) string {
		domain := rapid.SampledFrom([]string{"", "a.", "kustomize.", "a.b."}).Draw(t, "sub") + rapid.SampledFrom(domains).Draw(t, "domain")
		name := rapid.OneOf(rapid.Just("last-applied-configuration"),
			rapid.StringMatching(`[a-zA-Z0-9]([a-zA-Z0-9._-]{0,10}[a-zA-Z0-9])?`)).Draw(t, "name")
		return domain + "/" + name
	})
	rapid.Check(t, func(t *rapid.T) {
		all := map[string]any{"always": "x"}
		for _, key := range rapid.SliceOfNDistinct(key, 0, 8, rapid.ID).Draw(t, "keys") {
			all[key] = "x"
		}
		visible := maps.Clone(all)
		maps.DeleteFunc(visible, func(key string, _ any) bool { return tracks(key) })
		if err := copied(k, all, visible); err != nil {
			t.Fatal(err)
		}
	})
}

func tracks(key string) bool {
	prefix, name, _ := strings.Cut(key, "/")
	switch {
	case prefix == "kubectl.kubernetes.io":
		return strings.HasPrefix(name, "last-applied-configuration")
	case prefix == "argocd.argoproj.io", prefix == "meta.helm.sh":
		return true
	}
	parents := "." + prefix
	return strings.HasSuffix(parents, ".toolkit.fluxcd.io") || strings.HasSuffix(parents, ".jacquard.dev")
}
