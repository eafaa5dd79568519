//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// rbacFlags are the flags of `jacquard rbac`.
type rbacFlags struct {
	access
	roots           []string
	account         string
	namespace, name string // of the account
	namespaces      []string
	identity        string
	only            []string
	install         bool
	check, exposure bool
	// against are the roots of an earlier state; none: nothing is compared.
	against  []string
	as       string
	asGroups []string
	output   string
}

// parts are what --include may say.
var parts = []string{"base", "kinds", "users"}

func newRBAC() *cobra.Command {
	var f rbacFlags
	c := &cobra.Command{
		Use:   "rbac [NAME…]",
		Short: "Print the smallest roles that an operator of these kinds needs",
		Long: `Print the roles that an operator needs to serve these kinds, or all, with bindings
to its service account, and the roles view and edit for the users who write their
resources. The comment of each rule says which line of which template needs it. The
output is for kubectl apply -f -.

With --check, it only prints which of these permissions an account lacks in a
cluster. The exit code is 1 if it lacks any.

With --exposure, it prints which fields of a resource reach which fields of its
children, the most dangerous first. A user who may write the resource can set these
fields with the operator's permissions.

With --against DIR, an earlier state of the root, it prints which permissions were
added and removed since then. The exit code is 0 if none was added, 1 if some were,
and 2 for errors.`,
		Example: `  jacquard rbac | kubectl apply -f -
  git worktree add ../before origin/main && jacquard rbac --against ../before`,
		Args: func(cmd *cobra.Command, _ []string) error { return f.checkFlags(cmd) },
		RunE: f.run,
	}
	rootFlag(c, &f.roots)
	f.addFlags(c)
	flags := c.Flags()
	flags.StringVar(&f.account, "service-account", "jacquard/jacquard",
		"`NAMESPACE/NAME` of the operator's service account; its namespace is the operator's own")
	flags.StringSliceVar(&f.namespaces, "namespaces", nil,
		"print Roles in these namespaces, comma-separated, for an operator that runs with the same --namespaces")
	flags.StringVar(&f.identity, "installation", "", "for an operator that runs with the same --installation; default NAMESPACE/jacquard")
	flags.StringSliceVar(&f.only, "include", parts, "what to print, comma-separated: base (what every operator needs), kinds, users")
	flags.BoolVar(&f.install, "install-crds", false, "for an operator that runs with --install-crds")
	flags.BoolVar(&f.check, "check", false, "ask the cluster which permissions you lack, or the account of --service-account or --as")
	flags.StringVar(&f.as, "as", "", "with --check: the `USER` whose permissions are checked")
	flags.StringArrayVar(&f.asGroups, "as-group", nil, "with --as: a group of that user; may be given several times")
	flags.BoolVar(&f.exposure, "exposure", false, "print which fields of a resource reach which fields of its children")
	flags.StringArrayVar(&f.against, "against", nil, "an earlier state of the root, to find which permissions changed, as often as --root")
	flags.StringVarP(&f.output, "output", "o", "", "with --check, --exposure and --against: json; with --against: markdown (for a comment)")
	c.MarkFlagsMutuallyExclusive("check", "exposure", "against")
	return c
}

// checkFlags checks the flags, and sets what depends on them.
func (f *rbacFlags) checkFlags(cmd *cobra.Command) error {
	var ok bool
	if f.namespace, f.name, ok = strings.Cut(f.account, "/"); !ok || f.namespace == "" || f.name == "" || strings.Contains(f.name, "/") {
		return fmt.Errorf("--service-account %s: write NAMESPACE/NAME", f.account)
	}
	for _, part := range f.only {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("--include %s: %s", part, suggestName(part, parts))
		}
	}
	if err := f.soundNamespaces(cmd); err != nil {
		return err
	}
	if err := shard.CheckIdentity(f.identity); f.identity != "" && err != nil {
		return fmt.Errorf("--%w", err)
	}
	switch {
	case f.output == "markdown" && f.against != nil:
	case f.output != "" && f.output != "json":
		return fmt.Errorf("--output %s: only json is known, and markdown with --against", f.output)
	case f.output != "" && !f.check && !f.exposure && f.against == nil:
		return errors.New("--output is for --check, --exposure and --against: roles are printed as YAML")
	}
	return f.soundAccount(cmd)
}

// soundAccount checks the flags of the account that is asked for.
func (f *rbacFlags) soundAccount(cmd *cobra.Command) error {
	switch {
	case !f.check && (f.as != "" || f.asGroups != nil):
		return errors.New("--as and --as-group are for --check")
	case f.as == "" && cmd.Flags().Changed("service-account"):
		f.as = "system:serviceaccount:" + f.namespace + ":" + f.name
	case f.as == "" && f.asGroups != nil:
		return errors.New("--as-group is a group of the user of --as: say that too")
	}
	return nil
}

// soundNamespaces refuses a --namespaces that names none, which would mean all
// of them, and what is no name.
func (f *rbacFlags) soundNamespaces(cmd *cobra.Command) error {
	if cmd.Flags().Changed("namespaces") && len(f.namespaces) == 0 {
		return errors.New("--namespaces names none: leave it out for an operator of all namespaces")
	}
	for _, namespace := range append([]string{f.namespace}, f.namespaces...) {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			return fmt.Errorf("%q cannot be a namespace: it has small letters, digits and - only", namespace)
		}
	}
	if wrong := validation.IsDNS1123Subdomain(f.name); len(wrong) > 0 {
		return fmt.Errorf("--service-account %s: %q cannot be the name of an account", f.account, f.name)
	}
	return nil
}

func (f *rbacFlags) run(cmd *cobra.Command, names []string) error {
	err := f.printRoles(cmd, names)
	var coded *exit
	if err != nil && f.against != nil && !errors.As(err, &coded) {
		return &exit{exitWrong, err}
	}
	return err
}

// printRoles prints the roles, or what --exposure, --check or --against want to know of them.
func (f *rbacFlags) printRoles(cmd *cobra.Command, names []string) error {
	if f.against != nil { // what every operator needs is no matter of folders
		f.only = slices.DeleteFunc(slices.Clone(f.only), func(part string) bool { return part == "base" })
	}
	kinds, err := catalog.Load(f.roots)
	if err != nil {
		return err
	}
	if f.exposure {
		return f.printExposure(cmd.OutOrStdout(), kinds, names)
	}
	roles, err := f.makeRoles(kinds, names)
	switch {
	case err != nil:
		return err
	case f.check:
		return f.checkRoles(cmd, roles)
	case f.against != nil:
		return f.compareRoles(cmd, roles, names)
	}
	return rbac.Write(cmd.OutOrStdout(), roles, rbac.Binding{
		Operator:   rbacv1.Subject{Kind: "ServiceAccount", Namespace: f.namespace, Name: f.name},
		Namespaces: f.namespaces,
	})
}

// makeRoles makes the roles of the named kinds, or of all.
func (f *rbacFlags) makeRoles(kinds *catalog.Catalog, names []string) ([]rbac.Role, error) {
	names, errs := chooseKinds(kinds, names)
	var roles []rbac.Role
	if slices.Contains(f.only, "base") {
		roles = rbac.Base(rbac.Installation{Namespace: f.namespace, Namespaces: f.namespaces, Identity: f.identity, Divides: true})
	}
	for _, name := range names {
		k := kinds.Kinds[name]
		if k == nil {
			errs = append(errs, kinds.Broken[name])
			continue
		}
		of, err := rbac.Of(rbac.Input{CRD: k.CRD, Kind: k, Plural: kinds.Plural, Install: f.install, Namespaces: f.namespaces})
		errs = append(errs, err)
		if slices.Contains(f.only, "kinds") {
			roles = append(roles, of...)
		}
		if slices.Contains(f.only, "users") && !f.check {
			roles = append(roles, rbac.UserRoles(k.CRD, k)...)
		}
	}
	return roles, errors.Join(errs...)
}

// chooseKinds returns the named kinds, or all. The errors are about the names, and about what
// belongs to no kind.
func chooseKinds(kinds *catalog.Catalog, words []string) ([]string, []error) {
	names, err := kindsNamed(kinds, words)
	return names, append(slices.Clone(kinds.Trouble), err)
}
