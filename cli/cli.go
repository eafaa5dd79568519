package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // findings or errors
	exitUsage  = 2
)

// An exit is an error that says the exit code.
type exit struct {
	code int
	err  error
}

// Error returns what is wrong.
func (e *exit) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e *exit) Unwrap() error { return e.err }

// errFindings is the error of a command that has said already what is wrong.
var errFindings = errors.New("there are findings")

// Main runs a command line without the program's name and returns its exit
// code: 0; 1 for findings or errors; 2 for usage.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := false
	root := newRoot(&started)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran, err := root.ExecuteContextC(context.Background())
	switch {
	case err == nil:
		return exitOK
	case !started:
		fmt.Fprintf(stderr, "%s: %v\nSee: %s --help\n", ran.CommandPath(), err, ran.CommandPath())
		return exitUsage
	}
	var coded *exit
	if errors.As(err, &coded) {
		printError(stderr, coded.err)
		return coded.code
	}
	printError(stderr, err)
	return exitFailed
}

// newRoot is the command jacquard; started becomes true when the command line
// has been understood.
func newRoot(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "jacquard",
		Short:         "A Kubernetes operator whose kinds are folders of templates",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			*started = cmd.ValidateFlagGroups() == nil // which cobra checks after this
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			*started = false
			return errors.New("a command is missing")
		},
	}
	root.SetFlagErrorFunc(explainFlagError)
	root.AddCommand(newRun(), newVersion())
	addTools(root)
	return root
}

// rootFlag is the flag --root of commands that read folders.
func rootFlag(cmd *cobra.Command, roots *[]string) {
	cmd.Flags().StringArrayVar(roots, "root", []string{"."}, "directory with crds/ and templates/; may be given several times")
}

// configFlag is the flag --config of commands that read settings.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file,
		"config", "", "file with settings that override config.yaml: a map of the names of kinds to maps of settings")
}

// printError writes an error. Joined errors stand one below the other, each once.
func printError(w io.Writer, err error) {
	for _, line := range listMessages(err) {
		fmt.Fprintln(stripControls(w), line)
	}
}

// listMessages returns the messages of an error, each once and in order. Joined errors have one
// each, and nil has none.
func listMessages(err error) []string {
	if err == nil {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	var walk func(error)
	walk = func(err error) {
		if parts := splitErrors(err); parts != nil {
			for _, e := range parts {
				walk(e)
			}
			return
		}
		if text := err.Error(); !seen[text] && !errors.Is(err, errFindings) {
			seen[text] = true
			all = append(all, text)
		}
	}
	walk(err)
	return all
}

// splitErrors returns the errors that err joins. It returns nil if err joins none, or adds a text
// of its own.
func splitErrors(err error) []error {
	many, ok := any(err).(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	parts := many.Unwrap()
	texts := make([]string, len(parts))
	for i, e := range parts {
		texts[i] = e.Error()
	}
	if err.Error() != strings.Join(texts, "\n") {
		return nil
	}
	return parts
}
