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

// findStarting finds operators that have not reported and that no CRD names yet. It looks for the
// one that was asked for. If none was asked for, and none was found, it looks for Deployments of
// our chart.
func (l *look) findStarting(ctx context.Context) {
	if len(l.Installations)+len(l.Starting) > 0 || l.LeasesUnread != "" { // they may have reported
		return
	}
	if l.Identity != "" {
		l.addIfStarting(ctx, l.Identity)
		return
	}
	all, err := l.Objects(ctx, deployments, liveview.Range{Namespace: l.OperatorNamespace, Selector: api.LabelPartOf + "=" + api.PartOf})
	if err != nil {
		return
	}
	for _, d := range all {
		if identity := d.GetNamespace() + "/" + d.GetName(); wantsPods(d) && !slices.Contains(l.Claimless, identity) {
			l.Starting = append(l.Starting, identity)
		}
	}
}

// addIfStarting reports whether an operator that has not reported is there all the same, and
// records it. It is there if somebody renews its Lease, or if its Deployment has replicas.
func (l *look) addIfStarting(ctx context.Context, identity string) bool {
	namespace, _, both := strings.Cut(identity, "/")
	if !both {
		return false
	}
	if slices.Contains(l.Starting, identity) {
		return true
	}
	lease, err := l.Object(ctx, leases, namespace, api.Lease(identity))
	there := err == nil && l.read(lease).State == verdict.Leading
	if there {
		i := &Installation{Identity: identity}
		l.readMembers(ctx, i, lease)
		there = i.Members == nil || slices.ContainsFunc(i.Members, func(m *Member) bool { return !m.Late })
	}
	if !there {
		d, err := l.Object(ctx, deployments, namespace, path.Base(identity))
		there = err == nil && d != nil && d.GetLabels()[api.LabelPartOf] == api.PartOf && wantsPods(d)
	}
	if there {
		l.Starting = append(l.Starting, identity)
	}
	return there
}

// wantsPods reports whether a Deployment is to have Pods.
func wantsPods(d *unstructured.Unstructured) bool {
	replicas, known, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
	return !known || replicas > 0
}
