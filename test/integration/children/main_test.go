// Package children tests what becomes of a resource's children on a real
// cluster: in what order they come and go, what is kept, how many requests that
// takes, and how kinds live whose folders and CRDs come, change, break and go.
package children

import (
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Main(m, &cluster, "--nodes", "2")
}
