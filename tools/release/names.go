package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// What a release is called, and where it is published. Nothing else of the
// release has names of its own: the documents, the Makefile and the chart are
// checked against these.
const (
	project         = "https://github.com/jacquard-operator/jacquard"
	module          = "github.com/jacquard-operator/jacquard"
	imageRepository = "ghcr.io/jacquard-operator/jacquard"
	chartRepository = "ghcr.io/jacquard-operator/charts"

	sums       = "SHA256SUMS"
	signature  = sums + ".sigstore.json"
	publicKey  = "cosign.pub"
	provenance = "provenance.json"
	krew       = "krew.yaml"
	manifests  = "install.yaml"
	image      = "jacquard_image.tar"
	editor     = "jacquard.vsix"
)

// published is the newest version that is published; "" as long as there is none,
// and then the README says so above the install.
const published = ""

// editorDir has the extension for editors.
const editorDir = "editors/vscode"

// A platform is what a binary runs on, as Go names it.
type platform struct{ os, arch string }

// allPlatforms are those of a release. The image is for those of Linux.
var allPlatforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatform reads a platform of a release.
func parsePlatform(text string) (platform, error) {
	i := slices.IndexFunc(allPlatforms, func(p platform) bool { return p.String() == text })
	if i < 0 {
		return platform{}, fmt.Errorf("the platform %q is none of a release's: %v", text, allPlatforms)
	}
	return allPlatforms[i], nil
}

// archiveName returns the name of the archive with the binary.
func (p platform) archiveName() string {
	if p.os == "windows" {
		return p.fileStem() + ".zip"
	}
	return p.fileStem() + ".tar.gz"
}

// fileStem returns the name of the platform's files, without an extension.
func (p platform) fileStem() string { return "jacquard_" + p.os + "_" + p.arch }

// binaryName returns the name of the binary in the archive.
func (p platform) binaryName() string {
	if p.os == "windows" {
		return "jacquard.exe"
	}
	return "jacquard"
}

// bomName returns the name of the list of what is in a file of the release.
func bomName(stem string) string { return stem + ".cdx.json" }

// chartName is the name that Helm gives the chart's package.
func chartName(version string) string { return "jacquard-" + strings.TrimPrefix(version, "v") + ".tgz" }

// imageName is what the image is called in the archive and in the registry.
func imageName(version string) string { return imageRepository + ":" + version }

// A release is what is made of one commit under one version.
type release struct {
	version   string
	platforms []platform
	editor    bool // it holds the extension for editors

	root, output, work string

	commit  string
	time    time.Time // of the commit, in UTC: of all files
	changed bool      // what is built differs from the commit
	goes    string    // version of Go

	digest string // of the image, sha256:…

	// binaries are the files with all commands, which archives hold;
	// imageBinaries are those that the image holds.
	binaries, imageBinaries map[platform]string
}

// listContents returns the names of all files of the release, sorted.
func (r *release) listContents(signed bool) []string {
	names := []string{image, bomName("jacquard_image"), chartName(r.version), manifests, krew, provenance, sums}
	for _, p := range r.platforms {
		names = append(names, p.archiveName(), bomName(p.fileStem()))
	}
	if r.editor {
		names = append(names, editor)
	}
	if signed {
		names = append(names, signature, publicKey)
	}
	slices.Sort(names)
	return names
}

// preRelease reports whether the version is one that nobody is told of, such as
// v0.0.0-e2e.
func (r *release) preRelease() bool { return semver.Prerelease(r.version) != "" }
