package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and revision, the commit, are set by make build:
// -ldflags "-X github.com/jacquard-operator/jacquard/cli.version=v1.2.3".
var version, revision string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "jacquard %s %s %s/%s\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			if revision != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "commit %s\n", revision)
			}
		},
	}
}

// Version is the version of this program: the release's, or else the commit
// that it was built from.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		text := "commit " + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		return text
	}
	return info.Main.Version
}
