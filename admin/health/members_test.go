package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestServer: the replica that serves a resource is named by its Pod; one that did not
// renew its Lease, or has none any more, serves nothing.
func TestServer(t *testing.T) {
	i := &Installation{
		Leader: Leader{State: verdict.Leading},
		report: &heartbeat.Report{Kinds: []heartbeat.Kind{{Name: "kind", State: verdict.Serving}, {Name: "whole", State: verdict.RollingOut}}},
		Members: []*Member{
			{Name: "a", Replica: heartbeat.Replica{Pod: "pod-a"}}, {Name: "b"}, {Name: "late", Late: true},
		},
		division: replicas.Division{Leader: "b", Exclusive: map[string][]string{"whole": nil}},
	}
	for _, c := range []struct{ kind, owner, want string }{
		{"kind", "a", "served by pod-a (1 of 2 replicas)"},
		{"kind", "b", "served by b (1 of 2 replicas)"},
		{"whole", "a", "served by b (1 of 2 replicas)"},
		{"kind", "late", "no replica serves it at the moment"},
		{"kind", "gone", "no replica serves it at the moment"},
		{"kind", "", "no replica serves it at the moment"},
	} {
		i.division.Owners = []string{c.owner}
		if got := i.describeServer(c.kind, "uid").Text; got != c.want {
			t.Errorf("a resource of %s that %q serves is %q, want %q", c.kind, c.owner, got, c.want)
		}
	}
}

// TestServerByState: a resource is served by a replica only where its kind is served, as
// jacquard status reports it.
func TestServerByState(t *testing.T) {
	const name = "webs.example.com"
	reported := func(state verdict.State) *heartbeat.Report {
		return &heartbeat.Report{Kinds: []heartbeat.Kind{{Name: name, State: state}}}
	}
	cut := &heartbeat.Report{Cut: 1}
	for _, c := range []struct {
		leader verdict.State
		report *heartbeat.Report
		want   string
	}{
		{verdict.Leading, reported(verdict.Serving), "served by a (1 of 1 replica)"},
		{verdict.Leading, reported(verdict.RolloutStopped), "served by a (1 of 1 replica)"},
		{verdict.Leading, reported(verdict.FolderInvalid), "served by a (1 of 1 replica)"},
		{verdict.Leading, cut, "served by a (1 of 1 replica)"},
		{verdict.LeaderUnknown, reported(verdict.Serving), "served by a (1 of 1 replica)"},
		{verdict.Leading, reported(verdict.FolderRemoved), "not served: folder removed"},
		{verdict.Leading, reported(verdict.CRDMissing), "not served: no CRD"},
		{verdict.Leading, reported(verdict.ServedElsewhere), "served elsewhere"},
		{verdict.Leading, &heartbeat.Report{}, "not served"},
		{verdict.Leading, reported(verdict.Starting), "it is not known whether it is served: starting"},
		{verdict.Leading, reported(verdict.ServingFailed), "it is not known whether it is served: cannot be served"},
		{verdict.Leading, reported("Dreaming"), "it is not known whether it is served: Dreaming"},
		{verdict.LeaseOverdue, reported(verdict.Serving), "it is not known whether it is served: Lease overdue"},
		{verdict.LeaseExpired, reported(verdict.Serving), "not served"},
		{verdict.NoLeader, reported(verdict.FolderRemoved), "not served"},
		{verdict.NoLeader, reported(verdict.CRDMissing), "not served: no CRD"},
	} {
		i := &Installation{Leader: Leader{State: c.leader}, report: c.report, Cut: c.report.Cut, Members: []*Member{{Name: "a"}},
			division: replicas.Division{Leader: "a", Owners: []string{"a"}}}
		if got := i.describeServer(name, "uid").Text; got != c.want {
			t.Errorf("with a leader that is %s and %+v it is %q, want %q", c.leader, c.report.Kinds, got, c.want)
		}
	}
}

// leaseOf is the Lease of a replica that was renewed so long ago.
func leaseOf(name string, ago time.Duration, now time.Time) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"holderIdentity": name, "leaseDurationSeconds": int64(15), "renewTime": now.Add(-ago).Format(time.RFC3339),
	}}}
	o.SetName(name)
	return o
}

// TestAliveReplicas: a replica that did not renew its Lease while another one did is not
// alive, however the clock of whoever asks differs; all that are late may be alive for as
// long as clocks may differ.
func TestAliveReplicas(t *testing.T) {
	now := time.Unix(1e9, 0).UTC()
	l := &look{Asked: Asked{Now: now}}
	for name, c := range map[string]struct {
		ago  []time.Duration
		want []bool
	}{
		"all renew":                {[]time.Duration{time.Second, 3 * time.Second}, []bool{true, true}},
		"one was killed":           {[]time.Duration{time.Second, 20 * time.Second}, []bool{true, false}},
		"one was reinstalled":      {[]time.Duration{0, 16 * time.Second, 40 * time.Second}, []bool{true, false, false}},
		"the clocks differ":        {[]time.Duration{40 * time.Second, 42 * time.Second}, []bool{true, true}},
		"all are late":             {[]time.Duration{50 * time.Second, 52 * time.Second}, []bool{false, false}},
		"the clock here is behind": {[]time.Duration{-20 * time.Second, 0}, []bool{true, false}},
	} {
		var all []*unstructured.Unstructured
		for n, ago := range c.ago {
			all = append(all, leaseOf(fmt.Sprint(n), ago, now))
		}
		newest := l.latestRenewal(all)
		for n, want := range c.want {
			if got := l.isAlive(all[n], newest); got != want {
				t.Errorf("%s: replica %d lives: %v, want %v", name, n, got, want)
			}
		}
	}
	if got := l.read(leaseOf("a", 20*time.Second, now)).State; got != verdict.LeaseOverdue {
		t.Errorf("a Lease that is overdue by 5 s is %s", got)
	}
}

// TestNobodyServesBuckets: buckets of replicas that do not live are unhealthy.
func TestNobodyServesBuckets(t *testing.T) {
	i := &Installation{Leader: Leader{State: verdict.Leading}, Members: []*Member{{Name: "new", Leads: true}, {Name: "old", Late: true}},
		division: replicas.Division{Leader: "new", Owners: []string{"old", "old", "gone", "old"}}}
	l := &look{Health: &Health{Installations: []*Installation{i}}}
	if l.decideVerdict(); l.State != verdict.Unhealthy || !strings.Contains(strings.Join(l.Problems, " "), "no replica serves 4 of 4 buckets") {
		t.Errorf("%s: %q", l.State, l.Problems)
	}
}
