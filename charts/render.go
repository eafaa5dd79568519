package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// A release is what a chart is rendered for.
type release struct {
	name, namespace string
	// values override those of the chart.
	values map[string]any
	// version is the chart's, if it is to be another than its own, and app the
	// operator's.
	version, app string
	// live is the cluster in which the release is there and is upgraded; nil for
	// an install that asks no cluster.
	live *rest.Config
}

// notes is the name of the text that Helm prints after an install.
const notes = "NOTES.txt"

// loadChart reads the chart, in the versions of a release.
func loadChart(r release) (*chart.Chart, error) {
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("loading chart: %w", err)
	}
	if r.version != "" {
		c.Metadata.Version = r.version
	}
	if r.app != "" {
		// Annotations name the operator's image too.
		for key, text := range c.Metadata.Annotations {
			c.Metadata.Annotations[key] = strings.ReplaceAll(text, ":"+c.Metadata.AppVersion+"\n", ":"+r.app+"\n")
		}
		c.Metadata.AppVersion = r.app
	}
	return c, nil
}

// renderTexts renders each template of the chart, by its name.
func renderTexts(r release) (map[string]string, error) {
	c, err := loadChart(r)
	if err != nil {
		return nil, err
	}
	caps := common.DefaultCapabilities.Copy()
	caps.KubeVersion = common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	options := common.ReleaseOptions{Name: r.name, Namespace: r.namespace, Revision: 1, IsInstall: r.live == nil, IsUpgrade: r.live != nil}
	values, err := util.ToRenderValues(c, r.values, options, caps)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	renders := engine.Engine{}
	if r.live != nil {
		renders = engine.New(r.live)
	}
	out, err := renders.RenderWithContext(context.Background(), c, values)
	if err != nil {
		return nil, fmt.Errorf("rendering chart: %w", err)
	}
	return out, nil
}

// render makes the objects of the chart, in the order in which Helm installs
// them.
func render(r release) ([]*unstructured.Unstructured, error) {
	out, err := renderTexts(r)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(out, func(name, _ string) bool { return path.Base(name) == notes })
	_, manifests, err := releaseutil.SortManifests(out, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("sorting objects: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, m := range manifests {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(m.Content), &o.Object); err != nil {
			return nil, fmt.Errorf("reading what %s makes: %w", m.Name, err)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// formatPlain formats an object without what is for Helm.
func formatPlain(o *unstructured.Unstructured) ([]byte, error) {
	o = o.DeepCopy()
	o.SetLabels(withoutHelm(o.GetLabels()))
	o.SetAnnotations(withoutHelm(o.GetAnnotations()))
	return yaml.Marshal(o.Object)
}

// withoutHelm drops Helm's own labels and annotations; nil if nothing is left.
func withoutHelm(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(key, value string) bool {
		return strings.HasPrefix(key, "helm.sh/") || key == "app.kubernetes.io/managed-by" && value == "Helm"
	})
	if len(all) == 0 {
		return nil
	}
	return all
}
