// Command jacquard is a Kubernetes operator whose kinds are folders of
// templates, and the tools to write them.
package main

import (
	"os"

	"github.com/jacquard-operator/jacquard/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
