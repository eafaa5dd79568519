package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// TestPackage: the package holds the chart in the versions that were asked for,
// Helm reads it, and it does not depend on the times of files.
func TestPackage(t *testing.T) {
	t.Parallel()
	var made [2]map[string]string
	for i := range made {
		output := t.TempDir()
		now := time.Now().Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "values.yaml"), now, now); err != nil {
			t.Fatal(err)
		}
		if err := packChart("v7.8.9", time.Unix(1_700_000_000, 0).UTC(), output); err != nil {
			t.Fatal(err)
		}
		made[i] = map[string]string{}
		for _, file := range []string{"jacquard-7.8.9.tgz", "install.yaml"} {
			made[i][file] = string(read(t, filepath.Join(output, file)))
		}
	}
	if diff := cmp.Diff(made[0], made[1]); diff != "" {
		t.Error("two packages of one chart differ")
	}
	if text := made[0]["install.yaml"]; !strings.Contains(text, "image: ghcr.io/jacquard-operator/jacquard:v7.8.9\n") ||
		strings.Contains(text, "v0.1.0") {
		t.Errorf("install.yaml is not of v7.8.9:\n%s", text)
	}
	c, err := loader.LoadArchive(strings.NewReader(made[0]["jacquard-7.8.9.tgz"]))
	if err != nil {
		t.Fatal(err)
	}
	if c.Metadata.Version != "7.8.9" || c.Metadata.AppVersion != "v7.8.9" ||
		!strings.Contains(c.Metadata.Annotations["artifacthub.io/images"], "ghcr.io/jacquard-operator/jacquard:v7.8.9\n") {
		t.Errorf("the chart says %+v", c.Metadata)
	}
	own, err := loadChart(release{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Templates) != len(own.Templates) || len(c.Files) != len(own.Files) || len(c.Templates) == 0 {
		t.Errorf("the package has %d templates and %d files, the chart %d and %d", len(c.Templates), len(c.Files), len(own.Templates), len(own.Files))
	}
	if err := packChart("7.8.9", time.Time{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "vMAJOR.MINOR.PATCH") {
		t.Errorf("a version without v: %v", err)
	}
}
