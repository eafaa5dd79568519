//go:build !operator

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/rbac"
)

// A roleChange is a changed role for programs.
type roleChange struct {
	Role string `json:"role"`
	// Namespace is that of the Role; "" means a ClusterRole.
	Namespace  string   `json:"namespace,omitempty"`
	Holder     string   `json:"holder"`
	Added      []lack   `json:"added,omitempty"`
	Removed    []lack   `json:"removed,omitempty"`
	Labelled   []string `json:"addedLabels,omitempty"`
	Unlabelled []string `json:"removedLabels,omitempty"`
}

// compareRoles prints how the roles differ from those of an earlier state. The exit code is 1 if
// somebody may do more.
func (f *rbacFlags) compareRoles(cmd *cobra.Command, roles []rbac.Role, names []string) error {
	earlier, err := catalog.Load(f.against)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	// A kind that is new was not there to be named.
	there := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := kindsNamed(earlier, []string{name})
		return err != nil
	})
	var before []rbac.Role
	if len(names) == 0 || len(there) > 0 {
		if before, err = f.makeRoles(earlier, there); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	changes := rbac.Changes(before, roles)
	if err := f.tellChanges(cmd.OutOrStdout(), changes); err != nil {
		return err
	}
	if slices.ContainsFunc(changes, rbac.Change.Widens) {
		return &exit{exitFailed, errFindings}
	}
	return nil
}

func (f *rbacFlags) tellChanges(to io.Writer, changes []rbac.Change) error {
	switch f.output {
	case "json":
		all := []roleChange{}
		for _, c := range changes {
			all = append(all, roleChange{c.Role.Name, c.Role.Namespace, holderOf(c.Role),
				listLacks("", []rbac.Role{ofRules(c, c.Added)}), listLacks("", []rbac.Role{ofRules(c, c.Removed)}), c.Labelled, c.Unlabelled})
		}
		return encodeJSON(to, all)
	case "markdown":
		m := &markdown{}
		m.addText("### Roles: %s", changesSummary(changes))
		for _, c := range changes {
			m.addText("Of %s:", inCode(roleNamed(c.Role)))
			m.addFence("diff", strings.Join(changeLines(c), "\n"))
		}
		return m.write(to)
	}
	for _, c := range changes {
		fmt.Fprintln(to, onOneLine(roleNamed(c.Role)))
		for _, line := range changeLines(c) {
			fmt.Fprintln(to, line)
		}
	}
	_, err := fmt.Fprintf(to, "roles: %s\n", changesSummary(changes))
	return err
}

func ofRules(c rbac.Change, rules []rbac.Rule) rbac.Role {
	role := c.Role
	role.Rules = rules
	return role
}

// changesSummary is "2 changed, 1 of them allow more".
func changesSummary(changes []rbac.Change) string {
	if len(changes) == 0 {
		return "none changed"
	}
	wider := 0
	for _, c := range changes {
		if c.Widens() {
			wider++
		}
	}
	return fmt.Sprintf("%d changed, %d of them allow more", len(changes), wider)
}

// roleNamed is "ClusterRole jacquard:webs.example.com, of the operator".
func roleNamed(r rbac.Role) string {
	name := "ClusterRole " + r.Name
	if r.Namespace != "" {
		name = "Role " + r.Namespace + "/" + r.Name
	}
	return name + ", of " + holderOf(r)
}

func holderOf(r rbac.Role) string {
	switch r.Holder {
	case rbac.Operator:
		return "the operator"
	case rbac.Account:
		return "the service account " + r.Account
	}
	return "users"
}

// changeLines are what changes, with + for more and - for less, a line each.
func changeLines(c rbac.Change) []string {
	var all []string
	add := func(sign string, rules []rbac.Rule, labels []string) {
		for _, label := range labels {
			all = append(all, onOneLine(sign+" the label "+label))
		}
		for _, r := range rules {
			all = append(all, onOneLine(fmt.Sprintf("%s %s  # %s", sign, r, r.Because())))
		}
	}
	add("+", c.Added, c.Labelled)
	add("-", c.Removed, c.Unlabelled)
	return all
}
