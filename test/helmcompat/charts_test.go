package helmcompat

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/chart"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// charts are those of author/chart, with the kind that is made of each.
var charts = map[string]chart.Target{
	"web":     {Group: "example.com", Version: "v1", Kind: "Web", Plural: "webs", Singular: "web"},
	"store":   {Group: "example.com", Version: "v1", Kind: "Store", Plural: "stores", Singular: "store"},
	"library": {Group: "example.com", Version: "v1", Kind: "Library", Plural: "libraries", Singular: "library"},
	"agent":   {Group: "example.com", Version: "v1", Kind: "Agent", Plural: "agents", Singular: "agent"},
}

// TestCharts renders each chart with Helm, and the kind that is made of it
// with ours, for the same values: they must make the same objects.
func TestCharts(t *testing.T) {
	for name, target := range charts {
		files, err := filepath.Glob("testdata/charts/" + name + "/*.yaml")
		if err != nil || len(files) < 3 {
			t.Fatalf("only %d cases of %s: %v", len(files), name, err)
		}
		loaded := converted(t, name, target)
		for _, file := range files {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				values := object(t, read(t, file))
				want := compared(t, helmObjects(t, name, values))
				got := compared(t, ourObjects(t, loaded, target, values))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-Helm +ours):\n%s", diff)
				}
				if len(want) == 0 {
					t.Error("Helm makes no object: this test no longer knows what it compares")
				}
			})
		}
	}
}

// converted is the kind that is made of a chart, in a root of its own.
func converted(t *testing.T, name string, target chart.Target) *catalog.Catalog {
	t.Helper()
	made, err := chart.Convert(os.DirFS(chartDir(name)), target)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range made.Files {
		file := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := catalog.Load([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range loaded.Faults() {
		t.Fatal(fault)
	}
	return loaded
}

func chartDir(name string) string { return "../../author/chart/testdata/" + name }

func ourObjects(t *testing.T, loaded *catalog.Catalog, target chart.Target, values map[string]any) []any {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": target.Group + "/" + target.Version, "kind": target.Kind,
		"metadata": map[string]any{"name": "example", "namespace": "default"}, "spec": values,
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := catalog.Read("resource.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	resources, _, err := loaded.Resources(file.Objects)
	if err != nil {
		t.Fatal(err)
	}
	world, err := catalog.Read("cluster.yaml", read(t, "testdata/charts/cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := loaded.Cluster(world, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resources[0]
	rendered, err := render.Children(context.Background(), r.Kind, r.Object, cluster.For(r.Kind, r.Object))
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, c := range rendered.Children {
		all = append(all, c.Object.Object)
	}
	return all
}

func helmObjects(t *testing.T, name string, values map[string]any) []any {
	t.Helper()
	c, err := loader.LoadDir(chartDir(name))
	if err != nil {
		t.Fatal(err)
	}
	caps := common.DefaultCapabilities.Copy()
	caps.KubeVersion = common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	caps.APIVersions = append(caps.APIVersions, "monitoring.coreos.com/v1")
	release := common.ReleaseOptions{Name: "example", Namespace: "default", Revision: 1, IsInstall: true}
	top, err := util.ToRenderValues(c, values, release, caps)
	if err != nil {
		t.Fatal(err)
	}
	out, err := engine.Engine{}.RenderWithContext(context.Background(), c, top)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for file, text := range out {
		if strings.HasSuffix(file, "NOTES.txt") {
			continue
		}
		docs, err := documents(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, docs...)
	}
	return all
}

// compared gives objects by kind and name, without what is meant to differ:
//
//   - hooks, of which there are none;
//   - the chart's name and version in labels, and whose objects they are;
//   - annotations for tools: checksums of what is rendered, what is drawn again
//     to restart Pods, what is kept when Helm uninstalls;
//   - the resource's own namespace, which ours writes out;
//   - texts that are drawn at random, but for how long they are.
func compared(t *testing.T, objects []any) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, o := range objects {
		o := withoutAbsent(o).(map[string]any)
		meta := o["metadata"].(map[string]any)
		if notes, _ := meta["annotations"].(map[string]any); notes["helm.sh/hook"] != nil {
			continue
		}
		if meta["namespace"] == "default" {
			delete(meta, "namespace")
		}
		alike(o)
		if o["kind"] == "Secret" {
			drawn(t, o["data"].(map[string]any))
		}
		key := fmt.Sprint(o["kind"], " ", meta["namespace"], " ", meta["name"])
		if all[key] != nil {
			t.Errorf("%s is there twice", key)
		}
		all[key] = o
	}
	return all
}

// alike takes out of an object, at any depth, what is meant to differ.
func alike(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch {
			case key == "helm.sh/chart", key == "rollme", key == "date", key == "helm.sh/resource-policy", strings.HasPrefix(key, "jacquard.dev/"):
				delete(v, key)
			case strings.HasPrefix(key, "checksum/"):
				v[key] = "checksum"
			case value == "Helm" && (key == "app.kubernetes.io/managed-by" || key == "heritage"):
				v[key] = "jacquard"
			}
			alike(value)
		}
		if notes, ok := v["annotations"].(map[string]any); ok && len(notes) == 0 {
			delete(v, "annotations")
		}
	case []any:
		for _, item := range v {
			alike(item)
		}
	}
}

// drawn puts the length in the place of long texts of a Secret.
func drawn(t *testing.T, data map[string]any) {
	t.Helper()
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value.(string))
		if err != nil {
			t.Errorf("%s is no base64: %v", key, err)
		}
		if slices.Contains([]string{"password", "replication-password"}, key) && len(text) >= 16 {
			data[key] = len(text)
		}
	}
}
