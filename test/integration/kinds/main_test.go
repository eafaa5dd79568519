// Package kinds takes kinds of every origin down the whole road on a real
// cluster: those that ship with the repository, those that jacquard new makes,
// those that jacquard pack brings to an installed operator, and those that the
// repository has never seen, made up from a seed.
//
// It is the one place beside the golden cases that may name the kinds that ship.
// UNSEEN_SEED repeats a run; UNSEEN_KEEP=DIR keeps the folders that were made up.
package kinds

import (
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Main(m, &cluster, "--nodes", "3", "--node-label", "node-0:daemon=logs")
}
