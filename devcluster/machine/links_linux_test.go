package machine

import (
	"net"
	"testing"
)

// TestOverlap: a cluster's network is taken if a route leads into it or it is
// part of one; the default route takes nothing.
func TestOverlap(t *testing.T) {
	for route, want := range map[string]bool{
		"10.244.0.0/16":  true,
		"10.244.7.1/32":  true,
		"10.0.0.0/8":     true,
		"10.243.0.0/16":  false,
		"0.0.0.0/0":      false,
		"192.168.1.0/24": false,
	} {
		_, network, err := net.ParseCIDR(route)
		if err != nil {
			t.Fatal(err)
		}
		if got := leadsInto(network, Pods); got != want {
			t.Errorf("a route to %s: got %t, want %t", route, got, want)
		}
	}
	if leadsInto(nil, Pods) {
		t.Error("a route without destination is the default one")
	}
}
