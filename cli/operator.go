//go:build operator

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// addTools adds no command. This is the operator's image, which has only run
// and version; an unknown command is refused with the place of the others.
func addTools(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("unknown command %q: the operator's image has only run and version; "+
			"run the other commands with the binary of the same release, jacquard_OS_ARCH", args[0])
	}
}
