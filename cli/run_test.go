package cli

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
)

// TestPlace: an operator outside of the cluster has a Lease too, where its
// installation has it.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		inside bool
		of     controller.Options
		lease  string
		local  bool
	}{
		{false, controller.Options{}, "default", true},
		{false, controller.Options{Identity: "jacquard/jacquard"}, "jacquard", true},
		{false, controller.Options{LeaderElectionNamespace: "ops"}, "ops", true},
		{false, controller.Options{Namespace: "jacquard"}, "", false},
		{true, controller.Options{Namespace: "jacquard"}, "", false},
		{true, controller.Options{LeaderElectionNamespace: "ops"}, "ops", false},
		{true, controller.Options{Identity: "jacquard/jacquard"}, "jacquard", false},
		{true, controller.Options{}, "default", false},
	} {
		f := runFlags{options: c.of}
		f.setPlace(c.inside)
		if f.options.LeaderElectionNamespace != c.lease || f.options.Local != c.local {
			t.Errorf("%+v: the Lease is in %q, local %v", c, f.options.LeaderElectionNamespace, f.options.Local)
		}
	}
}

// TestProbeAddress: on a laptop, other machines do not reach the probes.
func TestProbeAddress(t *testing.T) {
	if got := probeAddress(true); got != ":8081" {
		t.Errorf("in a Pod: %s", got)
	}
	if got := probeAddress(false); got != "127.0.0.1:8081" {
		t.Errorf("elsewhere: %s", got)
	}
}
