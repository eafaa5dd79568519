//go:build !operator

package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestConfirm: without a yes, a command acts on nothing, and prints the command line that
// carries out just its plan, with the flags that the caller gave.
func TestConfirm(t *testing.T) {
	const pinned = "jacquard act webs.example.com"
	for _, c := range []struct {
		args string
		may  bool
		err  error
		out  string
	}{
		{"web --yes", true, nil, ""},
		{"web", false, errFindings, pinned + " --stop a/b --yes"},
		{"web --dry-run", false, nil, pinned + " --stop a/b --yes"},
		{"web --stop old --context kind-a --resource a/b --resource c --all-waves --wait --dry-run", false, nil,
			pinned + " --all-waves --context kind-a --resource a/b --resource c --wait=10m0s --stop a/b --yes"},
		{"web --all-waves=false --wait=1m", false, errFindings, pinned + " --all-waves=false --wait=1m0s --stop a/b --yes"},
	} {
		var given confirmation
		var may bool
		var err error
		act := &cobra.Command{Use: "act NAME", Args: cobra.ExactArgs(1), Run: func(cmd *cobra.Command, _ []string) {
			may, err = given.confirmPlan(cmd, "Act?", []string{"webs.example.com"}, "--stop", "a/b")
		}}
		given.addFlags(act)
		act.Flags().String("stop", "", "")
		act.Flags().String("context", "", "")
		act.Flags().String("unused", "default", "")
		act.Flags().StringArray("resource", nil, "")
		act.Flags().Bool("all-waves", false, "")
		act.Flags().Duration("wait", 0, "")
		act.Flags().Lookup("wait").NoOptDefVal = usualWait
		root := &cobra.Command{Use: "jacquard"}
		root.AddCommand(act)
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetIn(strings.NewReader("y\n")) // no terminal
		root.SetArgs(append([]string{"act"}, strings.Fields(c.args)...))
		if failed := root.Execute(); failed != nil {
			t.Fatal(failed)
		}
		want := c.out
		if want != "" {
			want = "nothing was changed; to carry out just this plan:\n  " + want + "\n"
		}
		if may != c.may || !errors.Is(err, c.err) || out.String() != want {
			t.Errorf("%s: %v, %v, %q; want %v, %v, %q", c.args, may, err, out.String(), c.may, c.err, want)
		}
	}
}
