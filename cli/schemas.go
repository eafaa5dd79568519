//go:build !operator

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/jsonschema"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

type schemasOptions struct {
	roots []string
	out   string
}

func newSchemas() *cobra.Command {
	var o schemasOptions
	cmd := &cobra.Command{
		Use:   "schemas [NAME…]",
		Short: "Write JSON Schemas of CRDs, for editors",
		Long: `Write the JSON Schema (draft 7) of each CRD of crds/ and schemas/, or of the named
ones, into a directory: <group>/<kind>_<version>.json, and all.json, which checks
a resource of any of these kinds. Existing files are overwritten. Without --output-dir,
the schema of the one named CRD is printed.`,
		Example: "  jacquard schemas --output-dir .schemas",
		RunE: func(cmd *cobra.Command, names []string) error {
			return o.run(cmd, names)
		},
	}
	rootFlag(cmd, &o.roots)
	cmd.Flags().StringVar(&o.out, "output-dir", "", "directory to write the schemas to")
	return cmd
}

func (o *schemasOptions) run(cmd *cobra.Command, names []string) error {
	kinds, err := catalog.Load(o.roots)
	if err != nil {
		return err
	}
	crds := maps.Clone(kinds.Schemas)
	maps.Copy(crds, kinds.CRDs)
	if names, err = resolveWords(names, slices.Sorted(maps.Keys(crds)), crds); err != nil {
		return err
	}
	var all []jsonschema.Schema
	for _, name := range names {
		found, err := jsonschema.Of(crds[name])
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if o.out == "" {
		return o.printSchema(cmd, all, names, crds)
	}
	union, err := jsonschema.All(all)
	if err != nil {
		return fmt.Errorf("writing schemas: %w", err)
	}
	for _, s := range append(all, jsonschema.Schema{Path: "all.json", Data: union}) {
		if err := o.write(cmd, s); err != nil {
			return err
		}
	}
	return nil
}

// printSchema prints the schema of the storage version of one CRD.
func (o *schemasOptions) printSchema(cmd *cobra.Command, all []jsonschema.Schema, names []string, crds map[string]*schema.CRD) error {
	if len(names) != 1 {
		return fmt.Errorf("writing schemas: there are %d CRDs: say where to write by --output-dir DIR, or name one to print", len(names))
	}
	version, err := crds[names[0]].Version("")
	if err != nil {
		return fmt.Errorf("writing schemas: %w", err)
	}
	for _, s := range all {
		if s.APIVersion == version.GVK.GroupVersion().String() {
			_, err := cmd.OutOrStdout().Write(s.Data)
			return err
		}
	}
	return fmt.Errorf("writing schemas: the version %s of %s has no schema", version.Name, names[0])
}

func (o *schemasOptions) write(cmd *cobra.Command, s jsonschema.Schema) error {
	name := filepath.Join(o.out, filepath.FromSlash(s.Path))
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, s.Data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", name)
	return nil
}
