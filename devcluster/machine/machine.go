// Package machine makes this machine ready for real nodes, and puts it back
// as it was: addresses, packet filter, cgroups, kernel settings, folders.
//
// Mounts need no putting back: the nodes' processes live in a mount namespace
// of their own, which ends with the last of them, and with it the Pods'
// network namespaces, which are pinned there.
package machine

import (
	"fmt"
	"strings"
)

const (
	// Bridge is the network link that bears the nodes' addresses. Its alias is
	// the folder of the cluster that made it, so that what a killed one left
	// can be found.
	Bridge = "devcluster0"
	// Nodes is the network of the nodes and of the API server.
	Nodes = "10.200.0.0/24"
	// Pods is the network of all nodes' Pods.
	Pods = "10.244.0.0/16"
	// Services is the network of the Services' addresses.
	Services = "10.96.0.0/16"
	// MaxNodes is how many nodes there may be.
	MaxNodes = 100
)

// NodeAddress is the address of the node of that number, from 0.
func NodeAddress(node int) string { return fmt.Sprintf("10.200.0.%d", node+1) }

// PodNetwork is the network of a node's Pods.
func PodNetwork(node int) string { return fmt.Sprintf("10.244.%d.0/24", node) }

// A Missing error tells of programs that could be installed.
type Missing struct {
	Programs []string
	Packages []string // as Debian names them
}

func (e *Missing) Error() string {
	return fmt.Sprintf("a real node needs %s; on Debian: apt-get install --no-install-recommends %s",
		strings.Join(e.Programs, ", "), strings.Join(e.Packages, " "))
}

// Tools are the programs of other projects that run nodes.
type Tools struct {
	Containerd string // path of the program
	CNI        string // folder of the network plugins
}
