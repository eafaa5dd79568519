package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// What is in a binary is what Go has written into it. cyclonedx-gomod reads the
// same, but dates its lists, numbers them at random, and looks modules up in the
// network; so only its library for the format is used.

// writeBinaryBOM writes the list of what is in a binary.
func (r *release) writeBinaryBOM(p platform) error {
	app, modules, err := r.readApplication(p, r.binaries[p])
	if err != nil {
		return err
	}
	return r.writeBOM(bomName(p.fileStem()), app, nil, map[string][]cdx.Component{app.BOMRef: modules})
}

// writeImageBOM writes the list of what is in the image: its binaries, and what
// is in them.
func (r *release) writeImageBOM() error {
	ref := fmt.Sprintf("pkg:oci/jacquard@%s?repository_url=%s&tag=%s", url.QueryEscape(r.digest), imageRepository, r.version)
	container := cdx.Component{
		BOMRef: ref, PackageURL: ref, Type: cdx.ComponentTypeContainer, Name: imageRepository, Version: r.version,
		Hashes: hashesOf(strings.TrimPrefix(r.digest, "sha256:")),
	}
	var apps []cdx.Component
	uses := map[string][]cdx.Component{}
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		app, modules, err := r.readApplication(p, r.imageBinaries[p])
		if err != nil {
			return err
		}
		apps = append(apps, app)
		uses[app.BOMRef] = modules
	}
	uses[ref] = apps
	return r.writeBOM(bomName("jacquard_image"), container, apps, uses)
}

// readApplication returns a binary and the modules in it. Go's own library is among them.
func (r *release) readApplication(p platform, file string) (cdx.Component, []cdx.Component, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return cdx.Component{}, nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return cdx.Component{}, nil, fmt.Errorf("reading of which modules %s is: %w", file, err)
	}
	digest := sha256.Sum256(data)
	ref := fmt.Sprintf("%s?goarch=%s&goos=%s", packageURL(info.Main.Path, r.version), p.arch, p.os)
	app := cdx.Component{
		BOMRef: ref, PackageURL: ref, Type: cdx.ComponentTypeApplication, Name: module, Version: r.version,
		Hashes:   hashesOf(hex.EncodeToString(digest[:])),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	modules := []cdx.Component{newLibrary("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, dep := range info.Deps {
		modules = append(modules, dependencyOf(dep))
	}
	return app, modules, nil
}

// dependencyOf returns a module in a binary, or the one that replaces it.
func dependencyOf(dep *debug.Module) cdx.Component {
	if dep.Replace != nil {
		dep = dep.Replace
	}
	return newLibrary(dep.Path, dep.Version, dep.Sum)
}

// newLibrary returns a module in a version, with its sum as go.sum has it.
func newLibrary(path, version, sum string) cdx.Component {
	ref := packageURL(path, version)
	c := cdx.Component{BOMRef: ref, PackageURL: ref, Type: cdx.ComponentTypeLibrary, Name: path, Version: version}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}

// packageURL returns the URL of a module in the scheme pkg:.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}

// hashesOf returns a SHA-256 as a list of hashes.
func hashesOf(hash string) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash}}
}

// writeBOM writes a list: of what it is, its parts, and what each part, or it
// itself, is made of. Its number is derived from what it describes.
func (r *release) writeBOM(name string, of cdx.Component, parts []cdx.Component, uses map[string][]cdx.Component) error {
	components := map[string]cdx.Component{}
	for _, c := range parts {
		components[c.BOMRef] = c
	}
	var edges []cdx.Dependency
	for _, ref := range slices.Sorted(maps.Keys(uses)) {
		on := map[string]bool{}
		for _, c := range uses[ref] {
			components[c.BOMRef] = c
			on[c.BOMRef] = true
		}
		refs := slices.Sorted(maps.Keys(on))
		edges = append(edges, cdx.Dependency{Ref: ref, Dependencies: &refs})
	}
	var sorted []cdx.Component
	for _, ref := range slices.Sorted(maps.Keys(components)) {
		sorted = append(sorted, components[ref])
	}
	list := cdx.NewBOM()
	list.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(of.BOMRef+"#"+(*of.Hashes)[0].Value)).URN()
	list.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &of}
	list.Components, list.Dependencies = &sorted, &edges
	var text bytes.Buffer
	// 1.6 is what scanners read at present.
	encoder := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(list, cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(r.output, name), text.Bytes(), 0o644)
}
