// Package replicas tests replicas that divide the resources of one installation among
// them, and what the API server does for that.
package replicas

import (
	"os"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	kit.Main(m, &cluster, "--nodes", "0", "--components", "etcd,apiserver,controller-manager")
}
