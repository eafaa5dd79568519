//go:build !operator

package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// plugin is the name under which kubectl finds this program; it is then called
// as kubectl jacquard.
const plugin = "kubectl-jacquard"

// programName returns what this program is called as: `jacquard`, or `kubectl jacquard` where it
// runs as a plugin of kubectl.
func programName(file string) string {
	if strings.TrimSuffix(filepath.Base(file), ".exe") == plugin {
		return "kubectl jacquard"
	}
	return "jacquard"
}

// addCompletions sets how the shell completes the arguments and flags of a command and of all
// commands below. It decides by usage lines and by the names of flags. A completion that a command
// has set itself stays. None of them asks a cluster.
func addCompletions(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addCompletions(sub)
	}
	for flag, mark := range map[string]func(string) error{
		"root": cmd.MarkFlagDirname, "output-dir": cmd.MarkFlagDirname, "from-chart": cmd.MarkFlagDirname, "against": cmd.MarkFlagDirname,
		"config":         func(flag string) error { return cmd.MarkFlagFilename(flag, yamlFiles...) },
		"cluster-file":   func(flag string) error { return cmd.MarkFlagFilename(flag, yamlFiles...) },
		"example":        func(flag string) error { return cmd.MarkFlagFilename(flag, yamlFiles...) },
		"from-crd":       func(flag string) error { return cmd.MarkFlagFilename(flag, yamlFiles...) },
		"from-manifests": func(flag string) error { return cmd.MarkFlagFilename(flag, yamlFiles...) },
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = mark(flag) // it fails only for flags that there are not
		}
	}
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	switch word, _, _ := strings.Cut(strings.Trim(arguments, "[]"), " "); {
	case cmd.ValidArgsFunction != nil:
	case strings.HasPrefix(word, "NAME/CASE"), strings.HasPrefix(word, "NAME[/CASE"):
		cmd.ValidArgsFunction = completeCases
	case word == "NAME", word == "NAME…":
		cmd.ValidArgsFunction = completeNames
	case word == "FILE", word == "FILE…":
		cmd.ValidArgsFunction = completeYAML
	case strings.HasPrefix(arguments, "REF NAME…"):
		cmd.ValidArgsFunction = completePushed
	case cmd.HasParent() && cmd.Name() != "help":
		cmd.ValidArgsFunction = completeNothing
	}
}

// yamlFiles are the endings of files of manifests.
var yamlFiles = []string{"yaml", "yml", "json"}

// completeNames completes the names of kinds that have a folder in the roots of
// a command, each once. It lists directories and reads nothing, so it is quick.
func completeNames(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(listFolders(cmd, "templates"), func(name string) bool { return slices.Contains(args, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePushed completes the names of kinds behind a reference.
func completePushed(cmd *cobra.Command, args []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeNothing(cmd, args, written)
	}
	return completeNames(cmd, args, written)
}

// completeCases completes names of kinds and, behind a slash, of their golden
// cases.
func completeCases(cmd *cobra.Command, args []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
	name, _, inside := strings.Cut(written, "/")
	if !inside {
		names, how := completeNames(cmd, args, written)
		return names, how
	}
	var cases []string
	for _, one := range listFolders(cmd, filepath.Join("templates", name, "tests")) {
		cases = append(cases, name+"/"+one)
	}
	return cases, cobra.ShellCompDirectiveNoFileComp
}

// listFolders returns the names of the directories in a directory of the roots, sorted.
func listFolders(cmd *cobra.Command, dir string) []string {
	roots, err := cmd.Flags().GetStringArray("root")
	if err != nil {
		roots = []string{"."}
	}
	names := map[string]bool{}
	for _, root := range roots {
		entries, _ := os.ReadDir(filepath.Join(root, dir)) // no directory, no names
		for _, e := range entries {
			if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// completeYAML completes files of YAML and JSON.
func completeYAML(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return yamlFiles, cobra.ShellCompDirectiveFilterFileExt
}

// completeNothing is for what only the author knows.
func completeNothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
