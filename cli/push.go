//go:build !operator

package cli

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/artefact"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/pack"
)

// A pushFlags is the flags of `jacquard push`.
type pushFlags struct {
	packFlags
	version, revision, source string
	tags                      []string
	key                       string
	tests                     bool
	registry                  artefact.Registry
}

func newPush() *cobra.Command {
	f := pushFlags{packFlags: packFlags{only: pack.Parts}}
	c := &cobra.Command{
		Use:   "push REF NAME…",
		Short: "Push kinds to a registry, as an image",
		Long: `Push kinds as one image to a registry: REF is REGISTRY/REPOSITORY:TAG. The image is
a root with crds/, templates/, schemas/ and examples/, for image volumes, and has
in packed/ what jacquard pack prints, for Flux. The same folders give the same
digest. A kind with findings of lint is not pushed. The output is REF@DIGEST.`,
		Example: "  jacquard push registry.example.com/team/kinds:v1 webs.example.com --sign kinds.key",
		Args: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return errors.New("the reference is missing, such as registry.example.com/team/kinds:v1")
			}
			return f.checkFlags(cmd, words[1:])
		},
		RunE: f.run,
	}
	f.addFlags(c)
	flags := c.Flags()
	flags.StringVar(&f.version, "version", "", "version of the kinds, for an annotation of the image")
	flags.StringVar(&f.revision, "revision", "", "commit of the kinds, for an annotation of the image")
	flags.StringVar(&f.source, "source", "", "URL of the kinds' source, for an annotation of the image")
	flags.StringSliceVar(&f.tags, "tag", nil, "further `TAG`s of the image")
	flags.StringVar(&f.key, "sign", "", "`FILE` with a private key to sign the image with: ECDSA P-256, in PEM, not encrypted")
	flags.BoolVar(&f.tests, "tests", false, "also push tests/")
	plainFlag(c, &f.registry)
	return c
}

// warnOnce prints each warning once.
func warnOnce(to io.Writer) func(error) {
	printed := map[string]bool{}
	var mu sync.Mutex
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if !printed[err.Error()] {
			printed[err.Error()] = true
			fmt.Fprintln(to, "warning:", err)
		}
	}
}

// plainFlag is the flag --plain-http of commands that talk to registries.
func plainFlag(c *cobra.Command, registry *artefact.Registry) {
	c.Flags().BoolVar(&registry.PlainHTTP, "plain-http", false, "allow HTTP without TLS, also for registries that are not on this machine")
}

func (f *pushFlags) run(cmd *cobra.Command, words []string) error {
	var key *ecdsa.PrivateKey
	if f.key != "" {
		var err error
		if key, err = artefact.ReadPrivateKey(f.key); err != nil {
			return err
		}
	}
	files, names, err := f.collectFiles(cmd.Context(), words[1:])
	if err != nil {
		return err
	}
	image, err := files.Image(f.makeAnnotations(names))
	if err != nil {
		return err
	}
	f.registry.Warn = warnOnce(cmd.ErrOrStderr())
	digest, err := f.registry.Push(cmd.Context(), image, append([]string{words[0]}, f.tags...), key)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s@%s\n", words[0], digest)
	return err
}

// collectFiles returns what the image holds, and the names of its kinds.
func (f *pushFlags) collectFiles(ctx context.Context, words []string) (artefact.Files, []string, error) {
	kinds, err := catalog.Load(f.roots)
	if err != nil {
		return nil, nil, err
	}
	names, err := f.selectKinds(ctx, kinds, words)
	if err != nil {
		return nil, nil, err
	}
	files, err := artefact.Selection{Kinds: kinds, Names: names, Install: f.parseInstallation(), Tests: f.tests}.Files()
	return files, names, err
}

// makeAnnotations returns the annotations of the image. None of them is the time of the push, so
// that the same kinds are the same image.
func (f *pushFlags) makeAnnotations(names []string) map[string]string {
	all := map[string]string{"title": strings.Join(names, ", "), "description": "Kinds of the operator Jacquard",
		"version": f.version, "revision": f.revision, "source": f.source}
	annotations := map[string]string{}
	for key, value := range all {
		if value != "" {
			annotations["org.opencontainers.image."+key] = value
		}
	}
	return annotations
}
