package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// A plugin is the manifest by which krew installs `kubectl jacquard`, as
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ describes it.
// krew's own types come with the client libraries of Kubernetes.
type plugin struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   pluginMetadata `json:"metadata"`
	Spec       pluginSpec     `json:"spec"`
}

type pluginMetadata struct {
	Name string `json:"name"`
}

type pluginSpec struct {
	Version          string           `json:"version"`
	Homepage         string           `json:"homepage"`
	ShortDescription string           `json:"shortDescription"`
	Description      string           `json:"description"`
	Platforms        []pluginPlatform `json:"platforms"`
}

type pluginPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string       `json:"uri"`
	SHA256 string       `json:"sha256"`
	Bin    string       `json:"bin"`
	Files  []pluginFile `json:"files"`
}

type pluginFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// writeKrew writes the manifest for the archives that are there.
func (r *release) writeKrew() error {
	p := plugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: pluginMetadata{Name: "jacquard"}}
	p.Spec = pluginSpec{
		Version: r.version, Homepage: project, ShortDescription: "Write, test and operate kinds of Jacquard",
		Description: "Jacquard is an operator whose kinds are folders of templates. This plugin is its command line:\n" +
			"it renders, lints, tests and packs kinds, and shows what the operator does with them.\n",
	}
	for _, target := range r.platforms {
		sum, err := sumOf(filepath.Join(r.output, target.archiveName()))
		if err != nil {
			return err
		}
		one := pluginPlatform{
			URI: fmt.Sprintf("%s/releases/download/%s/%s", project, r.version, target.archiveName()), SHA256: sum, Bin: target.binaryName(),
			Files: []pluginFile{{From: target.binaryName(), To: "."}, {From: "LICENSE", To: "."}},
		}
		one.Selector.MatchLabels = map[string]string{"os": target.os, "arch": target.arch}
		p.Spec.Platforms = append(p.Spec.Platforms, one)
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing %s: %w", krew, err)
	}
	return os.WriteFile(filepath.Join(r.output, krew), text, 0o644)
}
