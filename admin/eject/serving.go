package eject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// Idle returns an error that says what to do first if an operator serves one of
// the kinds by a folder, or if that cannot be told: it would undo at once what is
// taken off. An operator that lost its folder, or that does not run, is none.
func (e *Eject) Idle(ctx context.Context) error {
	alive := map[string]*running{}
	for _, crd := range e.crds {
		for _, identity := range liveview.ClaimIdentities(crd) {
			r := alive[identity]
			if r == nil {
				var err error
				if r, err = e.findOperator(ctx, identity); err != nil {
					return fmt.Errorf("ejecting %s: finding out whether operator %s runs: %w; if it does not, say --operator-stopped", crd.GetName(), identity, err)
				}
				alive[identity] = r
			}
			if err := r.checkNotServing(crd, identity); err != nil {
				return err
			}
		}
	}
	if e.kinds.all {
		e.idleToo(ctx, alive)
	}
	return nil
}

// idleToo looks for reports of operators that no CRD names any more. Those of
// which it cannot be told whether they run stay.
func (e *Eject) idleToo(ctx context.Context, known map[string]*running) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	all, err := e.survey.Objects(ctx, live.Leases.GVK, liveview.Range{Selector: api.LabelPartOf + "=" + api.PartOf})
	if err != nil {
		return
	}
	for _, lease := range all {
		told, err := heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport])
		if err == nil && known[told.Identity] == nil {
			known[told.Identity], _ = e.findOperator(ctx, told.Identity)
		}
	}
}

// A running is an operator as it is now.
type running struct {
	leads  bool
	report *heartbeat.Report
}

// checkNotServing returns an error with what to do first if the operator serves a kind.
func (r *running) checkNotServing(crd metav1.Object, identity string) error {
	if !r.leads {
		return nil
	}
	namespace, _, _ := strings.Cut(identity, "/")
	for _, k := range r.report.Kinds {
		if k.Name != crd.GetName() || k.State == verdict.FolderRemoved || k.State == verdict.ServedElsewhere {
			continue
		}
		first := "remove templates/" + k.Name + " from its " + k.Folder
		if strings.HasPrefix(k.Folder, "configmap ") {
			first = fmt.Sprintf("take its folder away: kubectl --namespace %s delete configmap --selector %s=%s, or what brought it: helm, kinds.enabled", namespace, api.LabelKind, k.Name)
		}
		return fmt.Errorf("ejecting %s: operator %s serves it and would undo that. First %s; or stop the operator: kubectl --namespace %s scale deployment NAME --replicas=0", k.Name, identity, first, namespace)
	}
	if r.report.Cut > 0 {
		return fmt.Errorf("ejecting %s: operator %s runs, and its report has no place for all kinds: stop it first", crd.GetName(), identity)
	}
	return nil
}

// findOperator reads the report of an operator and finds out whether it runs.
func (e *Eject) findOperator(ctx context.Context, identity string) (*running, error) {
	namespace, _, both := strings.Cut(identity, "/")
	if !both {
		return nil, errors.New("it has no namespace of its own, so it keeps no report")
	}
	r := &running{report: &heartbeat.Report{Lease: api.Lease(identity), LeaseNamespace: namespace}}
	lease, err := e.survey.Object(ctx, live.Leases.GVK, namespace, api.ReportLease(identity))
	if err != nil {
		return nil, err
	}
	if lease != nil {
		if r.report, err = heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport]); err != nil {
			return nil, err
		}
	}
	if r.report.Lease == "" {
		return nil, errors.New("it runs without leader election, so no Lease tells")
	}
	r.leads, err = e.isLeaseHeld(ctx, r.report.LeaseNamespace, r.report.Lease)
	if r.leads && lease == nil {
		err = errors.New("it runs, and its report cannot be found: stop it first")
	}
	if err == nil && !r.leads && lease != nil {
		e.reports = append(e.reports, lease)
	}
	return r, err
}

// listen is how often a Lease is read while it is seen whether it is renewed:
// clocks may differ.
const listen = 500 * time.Millisecond

// isLeaseHeld reports whether a Lease is held by somebody who renews it.
func (e *Eject) isLeaseHeld(ctx context.Context, namespace, name string) (bool, error) {
	first := ""
	for end := time.Now().Add(time.Minute); ; {
		lease, err := e.survey.Object(ctx, live.Leases.GVK, namespace, name)
		if err != nil || lease == nil {
			return false, err
		}
		holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		if _, divided := liveview.ReadDivision(lease, holder); divided {
			return e.anyHeld(ctx, lease)
		}
		renewed, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
		seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
		switch {
		case holder == "":
			return false, nil
		case first == "":
			first, end = renewed, time.Now().Add(time.Duration(seconds)*time.Second)
			if e.Tell != nil {
				e.Tell(fmt.Sprintf("waiting up to %d s to see whether %s renews the Lease %s/%s", seconds, holder, namespace, name))
			}
		case renewed != first:
			return true, nil
		case time.Now().After(end):
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(listen):
		}
	}
}

// anyHeld reports whether one of the replicas that divide the resources of an installation
// renews its Lease.
func (e *Eject) anyHeld(ctx context.Context, of *unstructured.Unstructured) (bool, error) {
	all, err := e.survey.Objects(ctx, live.Leases.GVK, liveview.Range{Namespace: of.GetNamespace(),
		Selector: api.LabelReplicas + "=" + of.GetLabels()[api.LabelReplicas]})
	if err != nil {
		return false, err
	}
	for _, lease := range all {
		if lease.GetName() == of.GetName() {
			continue
		}
		if held, err := e.isLeaseHeld(ctx, lease.GetNamespace(), lease.GetName()); held || err != nil {
			return held, err
		}
	}
	return false, nil
}
