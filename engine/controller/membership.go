package controller

import (
	"context"
	"fmt"
	"os"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// dividesResources reports whether replicas divide the resources. Those that are read-only do not: they
// record nothing that followers could go by, and one of them counts everything.
func (o Options) dividesResources() bool { return o.Buckets > 0 && o.usesLease() && !o.ReadOnly }

// newReplicaLock returns the Lease of one replica. Each renewal reports how the replica is.
func (o Options) newReplicaLock(election *rest.Config, report, seen func() string) (*replicas.Lock, error) {
	leases, err := coordinationclient.NewForConfig(election)
	if err != nil {
		return nil, fmt.Errorf("making a client of Leases: %w", err)
	}
	host, err := os.Hostname()
	if err != nil || len(validation.IsDNS1123Subdomain(host)) > 0 || len(host) > longestHost {
		host = path.Base(o.Identity)
	}
	return replicas.NewLock(leases.Leases(o.leaseNamespace()), host, o.leaseLabels(), report, seen), nil
}

// longestHost bounds the beginning of the name of a Lease.
const longestHost = 240

// leaseLabels returns the labels of the Leases of the installation. Replicas that divide by namespace
// have another one: they would give buckets to these, which do not serve by that division.
func (o Options) leaseLabels() map[string]string {
	return map[string]string{api.LabelPartOf: api.PartOf, api.LabelReplicas: "uid-" + shard.ID(o.Identity)}
}

func (m *membership) newMember() (*replicas.Member, error) {
	cfg := rest.CopyConfig(m.options.Config)
	cfg.QPS, cfg.RateLimiter = -1, nil
	leases, err := coordinationclient.NewForConfigAndClient(cfg, m.http)
	if err != nil {
		return nil, fmt.Errorf("making a client of Leases: %w", err)
	}
	member := replicas.NewMember(replicas.Options{
		Leases: leases.Leases(m.options.leaseNamespace()), Name: api.Lease(m.options.Identity), Labels: m.options.leaseLabels(),
		Buckets: m.options.Buckets, Serve: m.share.takeShare, IsDrained: m.inFlight.isDrained, Log: m.mgr.GetLogger().WithName("replicas"),
	})
	m.inFlight.drained = member.Look
	return member, nil
}

// leaveLimit bounds how long a replica that ends takes to give away what it serves.
const leaveLimit = 5 * time.Second

// giveAwayShare gives away what this replica serves, when it ends.
func (m *membership) giveAwayShare() {
	if !m.dividesResources() {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), leaveLimit)
	defer end()
	m.member.Leave(ctx)
}

// reportReplica returns what this replica reports of itself.
func (m *membership) reportReplica() string {
	host, _ := os.Hostname() // "" means that it is unknown
	share := m.inFlight.currentShare()
	r := heartbeat.Replica{Program: m.options.Version, Pod: host}
	m.mu.Lock()
	r.Unable = m.kindsWhere(func(k *kindState) bool { return k.report.unable })
	m.mu.Unlock()
	for _, k := range m.runningKinds() {
		for _, resource := range k.resources.listKnown() {
			if share.Serves(k.name, resource.GetUID()) {
				r.Resources++
			}
		}
		if q := k.queue.Load(); q != nil {
			r.Queue += (*q).Len()
		}
		if first := k.reconciler.OldestEvent(); !first.IsZero() {
			r.Lag = max(r.Lag, int(time.Since(first).Seconds()))
		}
	}
	return r.String()
}

// replicasInterval is how often the leader looks at what the replicas report.
const replicasInterval = 10 * time.Second

// watchReplicas looks at what the replicas report, while this one leads: which buckets nobody
// serves, and which kinds some replica cannot serve.
func (m *membership) watchReplicas(ctx context.Context) error {
	if !m.dividesResources() {
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(replicasInterval):
		}
		status := replicas.Status{}
		if m.isLeading() {
			status = m.member.Status()
		}
		metrics.Unowned(status.Unowned)
		m.recordUnable(status.Reports)
	}
}

// recordUnable records which kinds some replica cannot serve, since it does not have their
// revision. The leader serves these, and checks whether the revision is stored.
func (m *membership) recordUnable(reports map[string]string) {
	unable := map[string]bool{}
	for _, text := range reports {
		for _, name := range heartbeat.ReadReplica(text).Unable {
			unable[name] = true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, k := range m.kinds {
		if k.areUnable != unable[name] {
			k.areUnable, k.kept = unable[name], nil
			m.names.Add(name)
		}
	}
}

// currentRole returns the role of this process in its installation.
func (m *membership) currentRole() kinds.Role {
	share := m.inFlight.currentShare()
	switch {
	case !m.dividesResources() && !share.Leads:
		return kinds.Candidate
	case share.Leads:
		return kinds.Leader
	case share.IsNothing():
		return kinds.Unassigned
	}
	return kinds.Follower
}
