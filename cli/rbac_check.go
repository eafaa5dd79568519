//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/author/rbac"
)

// A lack is a rule that an account does not have.
type lack struct {
	// User is who lacks it; "" is whoever asks.
	User string `json:"user,omitempty"`
	// Namespace is that of the Role; "" means a ClusterRole.
	Namespace     string   `json:"namespace,omitempty"`
	APIGroup      string   `json:"apiGroup"`
	Resource      string   `json:"resource"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
	Why           []string `json:"neededFor"`
	text          string
}

// checkRoles tells what of the roles their holders do not have.
func (f *rbacFlags) checkRoles(cmd *cobra.Command, roles []rbac.Role) error {
	cfg, err := f.clientConfig()
	if err != nil {
		return err
	}
	isAllowed, err := health.Review(cfg)
	if err != nil {
		return err
	}
	lacks, asked := []lack{}, 0
	for _, role := range roles {
		if role.Holder == rbac.Account && len(f.namespaces) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "not asked for: what the service account %s of each namespace with resources needs (%s); say where by --namespaces\n", role.Account, role.Name)
		}
		for _, held := range f.listHolders(role) {
			account := health.Account{User: held.user, Groups: held.groups}
			missing, err := rbac.Missing([]rbac.Role{held.role}, func(q rbac.Request) (bool, error) {
				asked++
				return isAllowed(cmd.Context(), account, q)
			})
			lacks = append(lacks, listLacks(held.user, missing)...)
			if err != nil && len(lacks) > 0 {
				err = errors.Join(f.tellLacks(cmd.OutOrStdout(), lacks, asked), err)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := f.tellLacks(cmd.OutOrStdout(), lacks, asked); err != nil || len(lacks) == 0 {
		return err
	}
	return errFindings
}

// A held is a role and the user who must have it, with the groups of that user.
type held struct {
	role   rbac.Role
	user   string
	groups []string
}

// listHolders returns the users who must have a role. The account of a kind is one in every
// namespace with resources, so it is checked in the namespaces of --namespaces.
func (f *rbacFlags) listHolders(role rbac.Role) []held {
	if role.Holder == rbac.Operator {
		return []held{{role, f.as, f.asGroups}}
	}
	var all []held
	for _, namespace := range f.namespaces {
		there := role
		if role.Own {
			there.Namespace = namespace
		}
		all = append(all, held{role: there, user: "system:serviceaccount:" + namespace + ":" + role.Account})
	}
	return all
}

// listLacks returns the rules of missing roles as what a user lacks.
func listLacks(user string, missing []rbac.Role) []lack {
	var all []lack
	for _, role := range missing {
		for _, r := range role.Rules {
			whose := ""
			if user != "" {
				whose = user + " "
			}
			all = append(all, lack{
				User: user, Namespace: role.Namespace, APIGroup: r.Group, Resource: r.Resource, ResourceNames: r.Names, Verbs: r.Verbs, Why: r.Why,
				text: fmt.Sprintf("%slacks, in %s: %s  # %s", whose, role.Where(), r, r.Because()),
			})
		}
	}
	return all
}

func (f *rbacFlags) tellLacks(to io.Writer, lacks []lack, asked int) error {
	if f.output == "json" {
		return encodeJSON(to, lacks)
	}
	for _, l := range lacks {
		fmt.Fprintln(to, l.text)
	}
	if len(lacks) == 0 {
		fmt.Fprintf(to, "nothing is missing: %d rights were asked for\n", asked)
	}
	return nil
}
