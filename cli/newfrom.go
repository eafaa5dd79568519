package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/engine/scaffold"
)

func (o *newOptions) fromCRD(cmd *cobra.Command, names []string) (*scaffold.Draft, error) {
	return nil, errors.New("--from-crd is not there yet")
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
		data, err := io.ReadAll(stdin)
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
