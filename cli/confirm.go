//go:build !operator

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jacquard-operator/jacquard/admin/confirm"
)

// A confirmation is how a command that prints a plan gets the yes to carry it out.
type confirmation struct{ yes, dryRun bool }

// addFlags adds the flags that answer instead of a person.
func (c *confirmation) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "act without asking")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only print what would be done, and the command that does it; the exit code is 0")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
}

// confirmPlan reports whether the plan that the command has printed may be carried out: with --yes,
// or after a yes on a terminal. Otherwise it prints the command that carries out just this plan,
// and the error, if any, is that of exit code 1. args are the arguments of that command, and pins
// the flags that pin the plan, such as "--stop", "ID".
func (c *confirmation) confirmPlan(cmd *cobra.Command, question string, args []string, pins ...string) (bool, error) {
	if c.yes {
		return true, nil
	}
	out := stripControls(cmd.OutOrStdout())
	if !c.dryRun && confirm.IsTerminal(cmd.InOrStdin(), cmd.OutOrStdout()) && confirm.Ask(cmd.InOrStdin(), out, question) {
		return true, nil
	}
	fmt.Fprintf(out, "nothing was changed; to carry out just this plan:\n  %s\n", pinnedCommand(cmd, args, pins))
	if c.dryRun {
		return false, nil
	}
	return false, errFindings
}

// pinnedCommand returns the command line of cmd with other arguments, all flags that the
// caller gave, the pins and --yes.
func pinnedCommand(cmd *cobra.Command, args, pins []string) string {
	words := append(strings.Fields(cmd.CommandPath()), args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Name == "yes" || f.Name == "dry-run" || slices.Contains(pins, name) {
			return
		}
		values := []string{f.Value.String()}
		if many, isSlice := f.Value.(pflag.SliceValue); isSlice {
			values = many.GetSlice()
		}
		for _, value := range values {
			switch {
			case f.NoOptDefVal == "":
				words = append(words, name, value)
			case f.Value.Type() == "bool" && value == "true":
				words = append(words, name)
			default:
				words = append(words, name+"="+value)
			}
		}
	})
	return confirm.CommandLine(slices.Concat(words, pins, []string{"--yes"})...)
}
