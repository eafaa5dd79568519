// Package operators tests the process on a real cluster: an operator that is
// killed, that loses answers and sees changes late, a standby that takes over,
// and installations that serve a share of the resources each.
package operators

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
