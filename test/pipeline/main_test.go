// Package pipeline runs the action and the pipelines of docs/pipeline.md as a runner
// does, and checks what they write with the libraries of those who read it.
package pipeline

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var update = flag.Bool("update", false, "write what came out into testdata")

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "jacquard" { // as the action runs it
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	kit.Main(m, nil)
}
