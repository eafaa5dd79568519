package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

// packChart writes the chart for a version of the operator as Helm packages it, and install.yaml,
// into a directory. The same version and time give the same bytes.
func packChart(version string, at time.Time, output string) error {
	number, ok := strings.CutPrefix(version, "v")
	if !ok {
		return fmt.Errorf("packaging the chart: the version is %q; vMAJOR.MINOR.PATCH was expected", version)
	}
	r := release{name: "jacquard", namespace: "jacquard", version: number, app: version}
	manifest, err := installManifest(r)
	if err != nil {
		return err
	}
	c, err := loadChart(r)
	if err != nil {
		return err
	}
	setTimes(c, at)
	if _, err := chartutil.Save(c, output); err != nil {
		return fmt.Errorf("packaging the chart: %w", err)
	}
	file := filepath.Join(output, "install.yaml")
	if err := os.WriteFile(file, manifest, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// setTimes gives all that is packaged of a chart one time. Helm would take the times of the files,
// which are those of the checkout.
func setTimes(c *chart.Chart, at time.Time) {
	c.ModTime, c.SchemaModTime = at, at
	for _, file := range slices.Concat(c.Raw, c.Templates, c.Files) {
		file.ModTime = at
	}
}
