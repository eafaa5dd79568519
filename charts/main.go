// Charts makes what is made of the chart jacquard: dist/install.yaml, which is
// the chart with its default values as one plain manifest, and the table of
// values in the chart's README.md. With -package it packages a release instead:
// `make release` calls it. Its tests are those of the chart.
//
// It is a module of its own so that nothing of Helm reaches the operator.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// dir is the chart, as seen from this directory.
const dir = "jacquard"

func main() {
	version := flag.String("version", "", "version of the operator to package for, such as v0.1.0")
	at := flag.Int64("time", 0, "time of everything in the package, in seconds since 1970")
	output := flag.String("package", "", "directory to write the chart as .tgz and install.yaml into")
	flag.Parse()
	do := writeFiles
	if *output != "" {
		do = func() error { return packChart(*version, time.Unix(*at, 0).UTC(), *output) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeFiles makes all files again.
func writeFiles() error {
	files, err := makeFiles()
	if err != nil {
		return err
	}
	for file, data := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("making %s: %w", file, err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
	}
	return nil
}

// makeFiles returns the files that are made of the chart, by name.
func makeFiles() (map[string][]byte, error) {
	manifest, err := installManifest(release{name: "jacquard", namespace: "jacquard"})
	if err != nil {
		return nil, err
	}
	values, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "README.md")
	readme, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if readme, err = withTable(readme, values); err != nil {
		return nil, err
	}
	return map[string][]byte{filepath.Join("..", "dist", "install.yaml"): manifest, file: readme}, nil
}

// installManifest returns the chart as a plain manifest, with its namespace.
func installManifest(r release) ([]byte, error) {
	objects, err := render(r)
	if err != nil {
		return nil, err
	}
	// A folder comes last, once its rights are there.
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return holdsFolder(a) - holdsFolder(b) })
	manifest := []byte(about)
	for _, o := range objects {
		text, err := formatPlain(o)
		if err != nil {
			return nil, err
		}
		manifest = append(append(manifest, "---\n"...), text...)
	}
	return manifest, nil
}

// holdsFolder is 1 for a ConfigMap that holds a folder, else 0.
func holdsFolder(o *unstructured.Unstructured) int {
	if o.GetKind() == "ConfigMap" && o.GetLabels()[api.LabelKind] != "" {
		return 1
	}
	return 0
}

const about = `# Jacquard without any kind, as charts/jacquard installs it by default; made by ` +
	"`make chart`" + `. For kubectl apply --server-side -f.
---
apiVersion: v1
kind: Namespace
metadata:
  labels:
    pod-security.kubernetes.io/audit: restricted
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/warn: restricted
  name: jacquard
`
