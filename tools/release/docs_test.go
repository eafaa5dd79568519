package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestDocs: the documents name only what a release contains, and the README says
// whether one is published.
func TestDocs(t *testing.T) {
	r := release{version: "v0.0.0-test", root: root}
	if err := r.checkDocs(); err != nil {
		t.Error(err)
	}
	text := string(read(t, filepath.Join(root, "docs", "operations", "release.md")))
	for _, name := range (&release{version: "v0.0.0-test", platforms: allPlatforms}).listContents(true) {
		if name != chartName("v0.0.0-test") && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/operations/release.md says nothing of %s", name)
		}
	}
}

// TestUnknown: names that are not in the release are found, in each of their
// forms.
func TestUnknown(t *testing.T) {
	r := release{version: "v1.2.3", platforms: allPlatforms[:1]}
	known := r.knownNames()
	for text, says := range map[string]string{
		"`jacquard_linux_amd64.tar.gz`, `jacquard_image.tar`, jacquard_gone_total":    "",
		"ghcr.io/jacquard-operator/jacquard:v1.2.3, jacquard-1.2.3.tgz, install.yaml": "",
		"helm install jacquard oci://ghcr.io/jacquard-operator/charts/jacquard":       "",
		project + "/releases/download/v1.2.3/SHA256SUMS.":                             "",
		project + "/releases/latest/download/krew.yaml":                               "",
		"a\nget jacquard_linux_arm64.tar.gz":                                          "f.md:2: there is no jacquard_linux_arm64.tar.gz in the release",
		"ghcr.io/jacquard-operator/jacquard:v1.2.4":                                   "jacquard:v1.2.4 in",
		"ghcr.io/jacquard-operator/loom":                                              "/loom in",
		"jacquard-1.2.4.tgz":                                                          "jacquard-1.2.4.tgz in",
		"jacquard-vscode.vsix":                                                        "jacquard-vscode.vsix in",
		"SHA256SUMS.sig":                                                              "SHA256SUMS.sig in",
		project + "/releases/download/v1.2.4/krew.yaml":                               "v1.2.4/krew.yaml in",
		project + "/releases/latest/download/jacquard.deb":                            "jacquard.deb in",
	} {
		err := errors.Join(findUnknown("f.md", text, known)...)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: the error is %v; it should say %q", text, err, says)
		}
	}
}

// TestPublished: the README and the list of names agree on whether something is
// published.
func TestPublished(t *testing.T) {
	readme := func(above string) string {
		return "# A\n\n## Install\n\nText.\n\n" + above + "\n\n```\nmake image\n```\n"
	}
	const nothing = "Nothing is published yet: build the image."
	for _, c := range []struct {
		text, newest string
		fine         bool
	}{
		{readme(nothing), "", true},
		{readme("Install it:"), "", false},
		{readme("Install it:"), "v0.1.0", true},
		{readme(nothing), "v0.1.0", false},
		{readme(nothing + "\n\nInstall it:"), "", false},
		{"# A\n", "", false},
	} {
		if err := checkPublished(c.text, c.newest); (err == nil) != c.fine {
			t.Errorf("with %q published, %q: %v", c.newest, c.text, err)
		}
	}
}

// TestNames: the Makefile and the chart call the image what the release calls it.
func TestNames(t *testing.T) {
	for file, line := range map[string]string{
		"Makefile":                    "IMAGE ?= " + imageRepository + ":$(VERSION)",
		"charts/jacquard/values.yaml": "  repository: " + imageRepository,
		"charts/jacquard/Chart.yaml":  "home: " + project,
	} {
		if !slices.Contains(strings.Split(string(read(t, filepath.Join(root, file))), "\n"), line) {
			t.Errorf("%s: has no line %q", file, line)
		}
	}
	r := release{root: root}
	version, err := r.chartVersion()
	if err != nil {
		t.Fatal(err)
	}
	text := string(read(t, filepath.Join(root, "charts", "jacquard", "Chart.yaml")))
	for _, m := range regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(text, -1) {
		if m[1] != imageName(version) {
			t.Errorf("charts/jacquard/Chart.yaml: an annotation has the image %s; %s was expected", m[1], imageName(version))
		}
	}
}

// TestRefused: what cannot become a release is refused before anything is built.
func TestRefused(t *testing.T) {
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "letters.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ version, platforms, output, says string }{
		{"1.2.3", "", "new", "the version is \"1.2.3\""},
		{"dev", "", "new", "give VERSION=vMAJOR.MINOR.PATCH"},
		{"v0.0.0-test", "plan9/386", "new", "plan9/386"},
		{"v0.0.0-test", "linux/amd64", taken, "holds letters.txt"},
		{"v0.0.0-test", "linux/amd64", "", "--output"},
	} {
		r := release{version: c.version, output: c.output, root: root}
		err := r.choosePlatforms(c.platforms)
		if err == nil {
			err = r.makeRelease(signer{})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the error is %v", c, err)
		}
	}
}
