// Command devcluster is a real Kubernetes built from Go modules: one binary
// that holds etcd, the control plane and kwok, each run as its own process from
// its own upstream entry point, and `devcluster up`, which starts them together.
// What only real nodes run is in the program node beside it, and kubectl is a
// program of its own.
//
// Called through a symlink that bears a component's name (etcd,
// kube-apiserver …) it is that component, so the folder of such
// links serves as KUBEBUILDER_ASSETS.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/devcluster/cluster"
	"github.com/jacquard-operator/jacquard/devcluster/router"
)

const usage = `usage: devcluster COMMAND [ARGUMENT...]

  up       starts a cluster and takes it down on Ctrl-C; see devcluster up -h
  down     takes a cluster down, and cleans up after one that was killed
  load     brings images to real nodes
  router   admits OpenShift Routes, as its router would (a part of up)

and, each exactly as its project ships it:
  `

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	if entry, ok := components[name]; ok {
		entry()
		return
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, usage+strings.Join(componentNames(), " "))
		os.Exit(2)
	}
	if entry, ok := components[args[0]]; ok {
		os.Args = args // the upstream entry points read os.Args by themselves
		entry()
		return
	}
	os.Exit(runOwn(args[0], args[1:]))
}

// runOwn runs a subcommand that is devcluster's own, and returns the
// process's exit code.
func runOwn(name string, args []string) int {
	var err error
	switch name {
	case "up":
		err = cluster.Run(args)
	case "down":
		err = cluster.Down(args)
	case "load":
		err = cluster.Load(args)
	case "router":
		err = router.Run(args)
	case "help", "-h", "--help":
		fmt.Println(usage + strings.Join(componentNames(), " "))
	default:
		fmt.Fprintf(os.Stderr, "devcluster: unknown command %q\n%s%s\n",
			name, usage, strings.Join(componentNames(), " "))
		return 2
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "devcluster %s: %v\n", name, err)
		return 1
	}
	return 0
}

func componentNames() []string {
	var names []string
	for name := range components {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
