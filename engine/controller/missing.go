package controller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

var errCRDDeleted = errors.New("the CRD was deleted, and with it every resource of the kind: restore both, or remove the folder if that is meant")

// recordCRD tells of a kind that has a folder and was served, and has no CRD any
// more. It ends when the CRD is there again, or the folder goes too.
func (n *kindReporter) recordCRD(ctx context.Context, name string, absent, folder bool) {
	n.mu.Lock()
	k := n.state(name)
	before, gone := k.crdDeleted, absent && folder && k.wasServed
	k.crdDeleted = gone
	if absent && !folder {
		k.wasServed = false
	}
	n.mu.Unlock()
	metrics.Kind(name).CRDDeleted(gone)
	metrics.Kind(name).CRDMissing(absent && folder && !gone)
	if gone && !before {
		log.FromContext(ctx).Error(errCRDDeleted, "kind not served any more", "kind", name)
	}
}

// remember takes up from an earlier report which kinds were served: the process
// that served them may have ended before their CRD went.
func (r *reporter) remember(ctx context.Context) {
	if r.read(ctx) != nil || r.lease == nil {
		return
	}
	told, err := heartbeat.Read(r.lease.GetAnnotations()[api.AnnotationReport])
	if err != nil { // of another version: it tells nothing
		return
	}
	r.o.mu.Lock()
	for _, k := range told.Kinds {
		if k.Served != "" || k.State == verdict.CRDDeleted {
			r.o.state(k.Name).wasServed = true
		}
	}
	r.o.mu.Unlock()
	for _, k := range told.Kinds {
		r.o.names.Add(k.Name)
	}
}
