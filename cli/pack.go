//go:build !operator

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/pack"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A packFlags is the flags of `jacquard pack`.
type packFlags struct {
	roots            []string
	install, account string
	only             []string
	// config is a file of settings; "" for none.
	config    string
	unchecked bool
}

func newPack() *cobra.Command {
	var f packFlags
	c := &cobra.Command{
		Use:   "pack NAME…",
		Short: "Print the manifests that add a kind to a running operator",
		Long: `Print everything that adds kinds to a running operator: the operator's roles for
them, the roles of the users who write their resources, the CRDs, and the folders
as ConfigMaps. The output is for kubectl apply -f -; the operator loads the kinds
without a restart. A kind with findings of lint is not packed. With --config, the
ConfigMaps also hold the settings of that file for the kinds.`,
		Args: f.checkFlags,
		RunE: f.run,
	}
	f.addFlags(c)
	configFlag(c, &f.config)
	c.Flags().StringSliceVar(&f.only, "include", pack.Parts,
		"what to print, comma-separated: roles, users, crd, folder; or base: the operator's roles that do not depend on its kinds")
	return c
}

// addFlags adds the flags that push has too.
func (f *packFlags) addFlags(c *cobra.Command) {
	rootFlag(c, &f.roots)
	flags := c.Flags()
	flags.StringVar(&f.install, "installation", "jacquard/jacquard",
		"`NAMESPACE/NAME` of the installation: the operator's namespace, and the ClusterRole that aggregates the roles of its kinds (the release's full name)")
	flags.StringVar(&f.account, "service-account", "", "`NAMESPACE/NAME` of the operator's service account; default that of --installation")
	flags.BoolVar(&f.unchecked, "no-lint", false, "also pack kinds with findings, if they load")
}

// checkFlags checks the flags, and sets what depends on them.
func (f *packFlags) checkFlags(_ *cobra.Command, names []string) error {
	known := append([]string{pack.Base}, pack.Parts...)
	for _, part := range f.only {
		if !slices.Contains(known, part) {
			return fmt.Errorf("--include %s: %s", part, suggestName(part, known))
		}
	}
	if err := checkNamespaced("installation", f.install); err != nil {
		return err
	}
	f.account = cmp.Or(f.account, f.install)
	if err := checkNamespaced("service-account", f.account); err != nil {
		return err
	}
	if len(names) == 0 && !slices.Equal(f.only, []string{pack.Base}) {
		return errors.New("the name of a kind is missing")
	}
	return nil
}

// checkNamespaced fails unless a flag's value names something in a namespace.
func checkNamespaced(flag, value string) error {
	namespace, name, _ := strings.Cut(value, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("--%s %s: write NAMESPACE/NAME", flag, value)
	}
	return nil
}

func (f *packFlags) run(cmd *cobra.Command, words []string) error {
	var text bytes.Buffer
	if slices.Contains(f.only, pack.Base) {
		if err := pack.WriteBase(&text, f.parseInstallation()); err != nil {
			return err
		}
	}
	if len(words) > 0 {
		if err := f.packKinds(cmd.Context(), &text, words); err != nil {
			return err
		}
	}
	_, err := text.WriteTo(cmd.OutOrStdout())
	return err
}

// parseInstallation returns the installation that the flags name.
func (f *packFlags) parseInstallation() pack.Install {
	namespace, name, _ := strings.Cut(f.install, "/")
	of, account, _ := strings.Cut(f.account, "/")
	return pack.Install{Namespace: namespace, Name: name, Account: rbacv1.Subject{Kind: "ServiceAccount", Namespace: of, Name: account}}
}

// packKinds writes the named kinds. With any error it writes nothing.
func (f *packFlags) packKinds(ctx context.Context, to *bytes.Buffer, words []string) error {
	kinds, err := loadCatalog(f.roots, f.config)
	if err != nil {
		return err
	}
	names, err := f.selectKinds(ctx, kinds, words)
	errs := []error{err}
	for _, name := range names {
		errs = append(errs, pack.Write(to, newPackInput(kinds, name), f.parseInstallation(), f.only))
	}
	return errors.Join(errs...)
}

// selectKinds returns the named kinds that load. The error is about the others, and about those in
// which lint finds something wrong.
func (f *packFlags) selectKinds(ctx context.Context, kinds *catalog.Catalog, words []string) ([]string, error) {
	var loaded []string
	names, errs := chooseKinds(kinds, words)
	for _, name := range names {
		if kinds.Kinds[name] == nil {
			errs = append(errs, kinds.Broken[name])
			continue
		}
		if loaded = append(loaded, name); !f.unchecked {
			errs = append(errs, lintKind(ctx, kinds, name))
		}
	}
	return loaded, errors.Join(errs...)
}

// newPackInput returns a kind of a catalog as pack takes it.
func newPackInput(kinds *catalog.Catalog, name string) pack.Input {
	return pack.Input{Kind: kinds.Kinds[name], Folder: kinds.Folder(name), CRD: kinds.Definition(name), Plural: kinds.Plural}
}

// lintKind returns what lint finds wrong with a kind. It leaves out why parts cannot be packed,
// since packing them returns that.
func lintKind(ctx context.Context, kinds *catalog.Catalog, name string) error {
	var errs []error
	for _, finding := range lint.Check(ctx, kinds, name) {
		if finding.Class == lint.Unpackable {
			continue
		}
		errs = append(errs, &template.Error{Place: finding.Place, Err: fmt.Errorf("%s (%s)", finding.Text, finding.Class)})
	}
	if errs == nil {
		return nil
	}
	return errors.Join(append(errs, fmt.Errorf("%s is not packed; --no-lint packs what loads", name))...)
}
