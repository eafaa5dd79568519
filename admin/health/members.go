package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Member is one of the replicas that divide the resources of an installation.
type Member struct {
	// Name is that of its Lease.
	Name string `json:"name"`
	heartbeat.Replica
	// Leads: it does what is to be done once for the installation.
	Leads bool `json:"leader,omitempty"`
	// Owns are the buckets that it serves.
	Owns []int `json:"buckets"`
	// Late: it did not renew its Lease in time.
	Late bool `json:"leaseExpired,omitempty"`
	// Overdue: it did not either, unless the clocks differ.
	Overdue bool `json:"leaseOverdue,omitempty"`
}

// readMembers reads the replicas that divide the resources, by the Lease of the installation.
// Without a division it sets none.
func (l *look) readMembers(ctx context.Context, i *Installation, lease *unstructured.Unstructured) {
	d, divided := liveview.ReadDivision(lease, l.read(lease).Holder)
	if !divided {
		return
	}
	in := liveview.Range{Namespace: lease.GetNamespace(), Selector: api.LabelReplicas + "=" + lease.GetLabels()[api.LabelReplicas]}
	all, err := l.Objects(ctx, leases, in)
	if err != nil {
		l.addUnknown("the replicas of "+i.Identity, err)
		i.Leader.State = verdict.LeaderUnknown
		return
	}
	i.Members, i.division = []*Member{}, d
	newest := l.latestRenewal(all)
	for _, one := range all {
		if one.GetName() == lease.GetName() {
			continue
		}
		m := &Member{Name: one.GetName(), Leads: d.Leader == one.GetName(), Owns: []int{}, Overdue: l.read(one).State == verdict.LeaseOverdue,
			Late: !l.isAlive(one, newest), Replica: heartbeat.ReadReplica(one.GetAnnotations()[api.AnnotationReplica])}
		for bucket, owner := range d.Owners {
			if owner == m.Name {
				m.Owns = append(m.Owns, bucket)
			}
		}
		if m.Leads {
			i.Leader = l.read(one)
			i.Leader.Holder = cmp.Or(m.Pod, m.Name)
			i.Leader.Since = time.Time{} // its Lease tells since when it runs, not since when it leads
			if m.Late && !i.Leader.isDead() {
				i.Leader.State = verdict.LeaseExpired
			}
		}
		i.Members = append(i.Members, m)
	}
	slices.SortFunc(i.Members, func(a, b *Member) int { return cmp.Compare(a.Name, b.Name) })
	if leads := slices.ContainsFunc(i.Members, func(m *Member) bool { return m.Leads }); leads {
		return
	}
	i.Leader = Leader{State: verdict.NoLeader}
	if slices.ContainsFunc(i.Members, func(m *Member) bool { return !m.Late }) {
		i.Leader.State = verdict.LeaderUnknown // one of them is about to lead
	}
}

// latestRenewal returns when the latest of some Leases was renewed.
func (l *look) latestRenewal(all []*unstructured.Unstructured) (latest time.Time) {
	for _, one := range all {
		if at := l.read(one).Renewed; at.After(latest) {
			latest = at
		}
	}
	return latest
}

// isAlive reports whether a replica may live. Replicas share a clock more likely than this
// program and they do: one that did not renew its Lease while another did has ended.
func (l *look) isAlive(lease *unstructured.Unstructured, newest time.Time) bool {
	held := l.read(lease)
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	return !held.isDead() && newest.Sub(held.Renewed) <= time.Duration(seconds)*time.Second
}

// addDivisionFindings adds what is unhealthy with how replicas divide the resources.
func (i *Installation) addDivisionFindings(all *findings) {
	if i.Members == nil {
		return
	}
	for _, m := range i.Members {
		if m.Late {
			all.add(verdict.ReplicaLeaseExpired, "replica %s has not renewed its Lease", m.Name)
			continue
		}
		if m.Overdue && !m.Leads {
			all.add(verdict.ReplicaLeaseOverdue, "replica %s has not renewed its Lease in time: it is not known whether it runs", m.Name)
		}
		if len(m.Unable) > 0 {
			all.add(verdict.RevisionMissing, "replica %s has another folder than the one that serves all resources of %s, and its revision is not stored: "+
				"the replica that leads serves them", m.Name, strings.Join(m.Unable, ", "))
		}
	}
	nobody := 0
	for _, owner := range i.division.Owners {
		if !slices.ContainsFunc(i.Members, func(m *Member) bool { return m.Name == owner && !m.Late }) {
			nobody++
		}
	}
	if nobody > 0 {
		all.add(verdict.BucketsUnowned, "no replica serves %d of %s", nobody, formatCount(len(i.division.Owners), "bucket"))
	}
}

// Text is one replica as a line.
func (m *Member) Text() string {
	text := fmt.Sprintf("%s: %s in %s, %d waiting", cmp.Or(m.Pod, m.Name), formatCount(m.Resources, "resource"),
		formatCount(len(m.Owns), "bucket"), m.Queue)
	if m.Lag > 0 {
		text += fmt.Sprintf(" for %s", time.Duration(m.Lag)*time.Second)
	}
	if m.Leads {
		text += ", leads"
	}
	if m.Late {
		text += ", has not renewed its Lease"
	}
	return text + ", version " + m.Program
}
