//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lsp"
)

func newLSP() *cobra.Command {
	var roots []string
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: findings while you type, completion, hover, definitions",
		Long: `Serve an editor by the Language Server Protocol, on stdin and stdout. The editor starts
this command; what goes wrong in it goes to stderr. It reads the roots of the files
that are open, writes nothing, and starts no other program.`,
		Example: "  jacquard lsp",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, dir := range roots {
				if info, err := os.Stat(dir); err != nil {
					return fmt.Errorf("reading --root: %w", err)
				} else if !info.IsDir() {
					return fmt.Errorf("reading --root: %s is no directory", dir)
				}
			}
			s := lsp.New(lsp.Options{Roots: roots, Render: renderPreview, Log: cmd.ErrOrStderr()})
			return s.Serve(cmd.Context(), cmd.InOrStdin(), writeCloser{cmd.OutOrStdout()})
		},
	}
	cmd.Flags().StringArrayVar(&roots, "root", nil,
		"directory with crds/ and templates/; may be given several times (default: the one that an open file is in)")
	return cmd
}

// writeCloser closes nothing: stdout stays open.
type writeCloser struct{ io.Writer }

// Close does nothing.
func (writeCloser) Close() error { return nil }

// renderPreview returns the children of the resources of a file, as jacquard render prints them.
func renderPreview(ctx context.Context, c *catalog.Catalog, file *catalog.File) (string, error) {
	resources, others, err := c.Resources(file.Objects)
	if err != nil {
		return "", err
	}
	world, err := c.Cluster(nil, others)
	if err != nil {
		return "", err
	}
	var p printed
	var errs []error
	for _, r := range resources {
		errs = append(errs, p.render(ctx, r, world))
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	text := ""
	for _, line := range listMessages(errors.New(p.waits.String())) {
		if line != "" {
			text += fmt.Sprintf("# %s\n", line)
		}
	}
	return text + p.children.String(), nil
}
