// Package admin does on a real cluster what people do who run one: read-only
// operators, jacquard status, diff, tree, explain and eject, compared with what
// the operator then does; and what Argo CD, Flux and Helm see of resources.
package admin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	if os.Getenv(commandLine) != "" || filepath.Base(os.Args[0]) == "jacquard" { // as people and pipelines run it
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	kit.Main(m, &cluster, "--nodes", "1", "--components", "etcd,apiserver,controller-manager,scheduler,kwok",
		"--token", "admin=admin:system:masters", "--token", "viewer=viewer:viewers",
		"--token", "looker=looker:system:masters", "--token", "editor=editor:editors")
}
