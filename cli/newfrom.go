//go:build !operator

package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/scaffold"
)

// fromCRD makes the rest of a kind for a CRD.
func (o *newOptions) fromCRD(cmd *cobra.Command, names []string) (*scaffold.Draft, error) {
	data, err := fileAt(o.crd, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("reading the CRD: %w", err)
	}
	var example []byte
	if o.example != "" {
		if example, err = fileAt(o.example, cmd.InOrStdin()); err != nil {
			return nil, fmt.Errorf("reading the example: %w", err)
		}
	}
	which := append(names, "")[0]
	draft, err := scaffold.FromCRD(scaffold.Source{Name: o.crd, Data: data}, which, example)
	if err != nil || slices.ContainsFunc(draft.Files, func(f scaffold.File) bool { return isWritten(o.root, f) }) {
		return draft, err // a CRD that is in its place already stays as it is
	}
	return draft, draft.Supply()
}

// fileAt reads a file; "-" is stdin.
func fileAt(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

// fromManifests makes a kind of files and directories.
func (o *newOptions) fromManifests(cmd *cobra.Command, names []string) (*scaffold.Draft, error) {
	var sources []scaffold.Source
	for _, name := range names {
		found, err := sourcesAt(name, cmd.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		sources = append(sources, found...)
	}
	return scaffold.FromManifests(o.names, sources)
}

// sourcesAt reads a file, the files of a directory, or stdin.
func sourcesAt(name string, stdin io.Reader) ([]scaffold.Source, error) {
	if name == "-" {
		data, err := fileAt(name, stdin)
		return []scaffold.Source{{Name: "stdin", Data: data}}, err
	}
	var sources []scaffold.Source
	err := filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if file != name && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			return nil
		}
		data, err := os.ReadFile(file)
		sources = append(sources, scaffold.Source{Name: file, Data: data})
		return err
	})
	return sources, err
}
