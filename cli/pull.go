//go:build !operator

package cli

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/artefact"
)

// A pullFlags is the flags of `jacquard pull`.
type pullFlags struct {
	root, key         string
	unverified, force bool
	registry          artefact.Registry
}

func newPull() *cobra.Command {
	var f pullFlags
	c := &cobra.Command{
		Use:   "pull REF",
		Short: "Pull kinds from a registry into a root",
		Long: `Pull the image of kinds that jacquard push made, and write its files into a root.
REF is REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST. A tag needs --verify:
then the image must have a signature by this key, of jacquard push --sign or of
cosign sign --new-bundle-format=false --key. A digest fixes the content, so that
--verify may be left out. The output is REF@DIGEST.`,
		Example: "  jacquard pull registry.example.com/team/kinds:v1 --verify kinds.pub --root kinds",
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) != 1 {
				return errors.New("one reference is needed, such as registry.example.com/team/kinds:v1")
			}
			if f.key != "" && f.unverified {
				return errors.New("--verify and --insecure-skip-verify exclude each other")
			}
			return nil
		},
		RunE: f.run,
	}
	flags := c.Flags()
	flags.StringVar(&f.root, "root", ".", "directory to write into")
	flags.StringVar(&f.key, "verify", "", "`FILE` with the public key that the image must be signed with: ECDSA P-256, in PEM")
	flags.BoolVar(&f.unverified, "insecure-skip-verify", false, "also pull a tag without --verify")
	flags.BoolVar(&f.force, "force", false, "replace files that are not those of the image")
	plainFlag(c, &f.registry)
	return c
}

func (f *pullFlags) run(cmd *cobra.Command, words []string) error {
	var key *ecdsa.PublicKey
	if f.key != "" {
		var err error
		if key, err = artefact.ReadPublicKey(f.key); err != nil {
			return err
		}
	}
	f.registry.Warn = warnOnce(cmd.ErrOrStderr())
	files, digest, err := f.registry.Pull(cmd.Context(), words[0], key, f.unverified)
	if err != nil {
		return err
	}
	if err := files.Write(f.root, f.force); err != nil {
		return err
	}
	ref, _, _ := strings.Cut(words[0], "@")
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s@%s\n", ref, digest)
	return err
}
