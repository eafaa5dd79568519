package health

import (
	"context"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// starting finds operators that have not reported and that no CRD names yet:
// that which was asked for, or else, where none was found, the Deployments of
// our chart.
func (l *look) starting(ctx context.Context) {
	if len(l.Installations)+len(l.Starting) > 0 || l.LeasesUnread != "" { // they may have reported
		return
	}
	if l.Identity != "" {
		l.starts(ctx, l.Identity)
		return
	}
	all, err := l.Objects(ctx, deployments, liveview.Range{Namespace: l.OperatorNamespace, Selector: api.LabelPartOf + "=" + api.PartOf})
	if err != nil {
		return
	}
	for _, d := range all {
		if identity := d.GetNamespace() + "/" + d.GetName(); wanted(d) && !slices.Contains(l.Claimless, identity) {
			l.Starting = append(l.Starting, identity)
		}
	}
}

// starts reports whether an operator that has not reported is there all the same,
// and notes it: somebody renews its Lease, or its Deployment has replicas.
func (l *look) starts(ctx context.Context, identity string) bool {
	namespace, _, both := strings.Cut(identity, "/")
	if !both {
		return false
	}
	if slices.Contains(l.Starting, identity) {
		return true
	}
	lease, err := l.Object(ctx, leases, namespace, api.Lease(identity))
	there := err == nil && l.read(lease).State == verdict.Leads
	if there {
		i := &Installation{Identity: identity}
		l.members(ctx, i, lease)
		there = i.Members == nil || slices.ContainsFunc(i.Members, func(m *Member) bool { return !m.Late })
	}
	if !there {
		d, err := l.Object(ctx, deployments, namespace, path.Base(identity))
		there = err == nil && d != nil && d.GetLabels()[api.LabelPartOf] == api.PartOf && wanted(d)
	}
	if there {
		l.Starting = append(l.Starting, identity)
	}
	return there
}

// wanted reports whether a Deployment is to have Pods.
func wanted(d *unstructured.Unstructured) bool {
	replicas, known, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
	return !known || replicas > 0
}
