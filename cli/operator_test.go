//go:build operator

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestOperatorCommands: the operator's binary has the commands run and version,
// and says of another command where it is.
func TestOperatorCommands(t *testing.T) {
	var started bool
	root := newRoot(&started)
	var commands []string
	for _, command := range root.Commands() {
		commands = append(commands, command.Name())
	}
	if want := []string{"run", "version"}; !slices.Equal(commands, want) {
		t.Errorf("the commands are %v; %v were expected", commands, want)
	}
	for command, want := range map[string]int{"version": exitOK, "lint": exitUsage, "completion": exitUsage, "": exitUsage} {
		var stdout, stderr bytes.Buffer
		if code := Main(strings.Fields(command), strings.NewReader(""), &stdout, &stderr); code != want {
			t.Errorf("jacquard %s: exit code %d; %d was expected: %s", command, code, want, stderr.String())
		}
		if command == "lint" && !strings.Contains(stderr.String(), "the operator's image has only run and version") {
			t.Errorf("jacquard lint does not say where lint is: %s", stderr.String())
		}
	}
}
