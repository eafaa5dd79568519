package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamedFlags are the present flags of commands, by the command and the name that the flag had
// before the first release.
var renamedFlags = map[string]string{
	"adopt --identity":    "--installation",
	"approve --identity":  "--installation",
	"approve --only":      "--resource",
	"diff --identity":     "--installation",
	"eject --stopped":     "--operator-stopped",
	"explain --cluster":   "--cluster-file",
	"history --identity":  "--installation",
	"pack --install":      "--installation",
	"pack --only":         "--include",
	"push --install":      "--installation",
	"rbac --identity":     "--installation",
	"rbac --only":         "--include",
	"render --cluster":    "--cluster-file",
	"rollback --identity": "--installation",
	"rollback --release":  "--end",
	"rollback --to":       "--to-revision",
	"run --identity":      "--installation",
	"schemas --out":       "--output-dir",
	"status --install":    "--installation",
}

// explainFlagError adds the present name of a flag to the error about its earlier one.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if now := renamedFlags[cmd.Name()+" --"+unknown.GetSpecifiedName()]; now != "" {
			return fmt.Errorf("%w: it is called %s now", err, now)
		}
	}
	return err
}
