package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A statement says how the files of a release were built. It is an in-toto
// statement, https://in-toto.io/Statement/v1, with a predicate of SLSA,
// https://slsa.dev/spec/v1.0/provenance. The types of both projects are made by
// protocol buffers, whose JSON has spaces that differ with each build of the
// program.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type resource struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string         `json:"buildType"`
		ExternalParameters   map[string]any `json:"externalParameters"`
		ResolvedDependencies []resource     `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// writeProvenance writes the statement about all files that are there. It says
// nothing of who ran make, and when: whoever does gets the same files.
func (r *release) writeProvenance() error {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	all, err := r.listDigests()
	if err != nil {
		return err
	}
	for _, f := range all {
		s.Subject = append(s.Subject, resource{Name: f.name, Digest: map[string]string{"sha256": f.sum}})
	}
	digest := map[string]string{"sha256": strings.TrimPrefix(r.digest, "sha256:")}
	s.Subject = append(s.Subject, resource{Name: imageName(r.version), Digest: digest})
	var platforms []string
	for _, p := range r.platforms {
		platforms = append(platforms, p.String())
	}
	source := resource{Name: "source", URI: "git+" + project, Digest: map[string]string{"gitCommit": r.commit}}
	if r.changed {
		source.Annotations = map[string]any{"changed": true}
	}
	d := &s.Predicate.BuildDefinition
	d.BuildType = project + "/blob/main/docs/operations/release.md#provenance"
	d.ExternalParameters = map[string]any{"version": r.version, "platforms": platforms}
	d.ResolvedDependencies = []resource{source, {Name: "go", URI: "https://go.dev/dl/#" + r.goes}}
	s.Predicate.RunDetails.Builder.ID = project + "/blob/" + r.commit + "/Makefile"
	s.Predicate.RunDetails.Builder.Version = map[string]string{"go": r.goes}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", provenance, err)
	}
	return os.WriteFile(filepath.Join(r.output, provenance), append(text, '\n'), 0o644)
}
