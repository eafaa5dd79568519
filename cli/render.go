//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/render"
)

type renderOptions struct {
	roots   []string
	cluster string
	config  string
}

func newRender() *cobra.Command {
	var o renderOptions
	cmd := &cobra.Command{
		Use:   "render FILE…",
		Short: "Print the children of custom resources, without a cluster",
		Long: `Print the children of the custom resources in these files (- is stdin) as YAML, in
the order of the files. A comment before each child names its resource, and the
place of its template.

Templates find the objects of other kinds in the files, and those of --cluster-file,
when they read. If there is an error, nothing is printed. A file that waits is not
an error: stderr says what it waits for, and the other files are printed.

A patch is printed as what it applies, which is not the whole object; its comment
ends in (patch). Do not pass patches to kubectl.`,
		Example: "  jacquard render resource.yaml | kubectl diff -f -",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	rootFlag(cmd, &o.roots)
	cmd.Flags().StringVar(&o.cluster, "cluster-file", "", "file with objects that stand for the cluster")
	configFlag(cmd, &o.config)
	return cmd
}

func (o *renderOptions) run(cmd *cobra.Command, names []string) error {
	loaded, err := loadCatalog(o.roots, o.config)
	if err != nil {
		return err
	}
	errs := slices.Clone(loaded.Trouble)
	var cluster *catalog.File
	if o.cluster != "" {
		cluster, err = catalog.Open(o.cluster, cmd.InOrStdin())
		errs = append(errs, err)
	}
	var resources []*catalog.Resource
	var others []*catalog.Object
	for _, name := range names {
		file, err := catalog.Open(name, cmd.InOrStdin())
		errs = append(errs, err)
		if file == nil {
			continue
		}
		if err == nil && len(file.Objects) == 0 {
			errs = append(errs, fmt.Errorf("no resources in %s", file.Name))
		}
		found, rest, err := loaded.Resources(file.Objects)
		errs = append(errs, err)
		resources, others = append(resources, found...), append(others, rest...)
	}
	if len(resources) == 0 && errors.Join(errs...) == nil {
		return fmt.Errorf("rendering %s: there is no resource of a known kind; known are: %s", strings.Join(names, ", "), loaded.Known())
	}
	errs = append(errs, catalog.Twice(resources))
	world, err := loaded.Cluster(cluster, others)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	var p printed
	for _, r := range resources {
		errs = append(errs, p.render(cmd.Context(), r, world))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Fprint(cmd.ErrOrStderr(), p.waits.String())
	_, err = io.WriteString(cmd.OutOrStdout(), p.children.String())
	return err
}

// A printed is what is to be printed once all went well: the children, and the
// files that wait.
type printed struct{ children, waits strings.Builder }

// render renders one resource.
func (p *printed) render(ctx context.Context, r *catalog.Resource, world *catalog.Cluster) error {
	result, err := render.Children(ctx, r.Kind, r.Object, world.For(r.Kind, r.Object))
	if err != nil {
		var errs []error
		for _, line := range listMessages(err) {
			errs = append(errs, fmt.Errorf("%s  (rendering %s)", line, r)) // the place first, for editors
		}
		return errors.Join(errs...)
	}
	children, waits, err := catalog.Print(r, result)
	p.children.WriteString(children)
	p.waits.WriteString(waits)
	return err
}
