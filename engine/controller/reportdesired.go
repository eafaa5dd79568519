package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// reportDesired reports what is known of a kind, and what it is to become, in logs, events and
// metrics, and keeps it for the report.
func (n *kindReporter) reportDesired(ctx context.Context, p *kindPass, d kinds.Desired) {
	folder := p.in.Folder
	switch d.Reason {
	case kinds.CRDsNotListed, kinds.FoldersNotRead:
		return
	case kinds.NoCRD, kinds.NotEstablished, kinds.NoFolder:
		n.recordCRD(ctx, p.name, p.in.CRD == nil, folder.Present)
		n.forgetTrouble(ctx, p.name, p.definition)
		n.forgetIdle(p.name)
		n.recordElsewhere(ctx, p, "")
		n.recordLonely(ctx, p.name, p.in.CRD == nil)
		return
	}
	n.recordCRD(ctx, p.name, false, folder.Present)
	if d.Reason == kinds.RecordStale {
		return
	}
	if !folder.Present {
		n.forgetTrouble(ctx, p.name, p.definition)
	} else {
		reconcile.NotePanic(p.name, folder.Err)
		n.recordTrouble(ctx, p.name, p.definition, folder.Err)
		n.countLoad(p.name, folder.Digest, folder.Err)
	}
	n.announceIdle(ctx, p.name)
	if d.Reason == kinds.FolderUnsettled {
		return
	}
	text := ""
	if p.conflict != nil && folder.Present { // else it is not to be served here
		text = p.in.ClaimedBy.Error()
	}
	n.recordElsewhere(ctx, p, text)
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.stateOf(p.name)
	k.revision, k.rollback, k.unable = folder.Digest, rollbackReport{}, d.Reason == kinds.RevisionMissing
	switch {
	case p.in.Role != kinds.Leader:
	case d.Reason == kinds.NotRolledBack:
		k.rollback = rollbackReport{verdict.Stopped, d.Err.Error()}
	case d.Reason == kinds.RolledBack:
		k.rollback = rollbackReport{verdict.RolledBack, p.in.Record.Rollout.RollbackText(p.name, d.Rollback)}
		if d.Rollback.IsByOperator() {
			k.rollback.state = verdict.RolledBackOnFailure
		}
	}
}

// announceRollback announces that the operator rolls back by itself.
func (n *kindReporter) announceRollback(ctx context.Context, name string, w kinds.Writes) {
	if w.Rollback == nil || !w.Rollback.IsByOperator() {
		return
	}
	text := w.Rollout.RollbackText(name, *w.Rollback)
	log.FromContext(ctx).Info("rolled back", "kind", name, "digest", w.Rollback.From, "message", text)
	if crd := n.seenCRD(name); crd != nil {
		n.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, api.ReasonRolledBack, "Rollout", "%s", cut(text))
	}
}

// recordElsewhere tells once that another installation serves a kind, or the part of it that we
// would; "" is nobody.
func (n *kindReporter) recordElsewhere(ctx context.Context, p *kindPass, text string) {
	n.mu.Lock()
	k := n.stateOf(p.name)
	before := k.elsewhere
	k.elsewhere = text
	n.mu.Unlock()
	if before == text {
		return
	}
	metrics.Kind(p.name).Elsewhere(text != "")
	if text == "" {
		return
	}
	log.FromContext(ctx).Info("kind not served", "kind", p.name, "message", text)
	n.mgr.GetEventRecorder("jacquard").Eventf(p.definition, nil, corev1.EventTypeWarning, api.ReasonServedElsewhere, "Claim", "%s", cut(text))
}

// recordCRD tells of a kind that has a folder and was served, and has no CRD any
// more. It ends when the CRD is there again, or the folder goes too.
func (n *kindReporter) recordCRD(ctx context.Context, name string, absent, folder bool) {
	n.mu.Lock()
	k := n.stateOf(name)
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

// forgetIdle forgets the sources of a kind that is not served for another reason.
func (n *kindReporter) forgetIdle(name string) {
	n.mu.Lock()
	n.stateOf(name).announced.idle = ""
	n.mu.Unlock()
	metrics.Kind(name).SecondFolder(false)
}

// announceIdle tells once of sources of a kind that are not used.
func (n *kindReporter) announceIdle(ctx context.Context, name string) {
	n.mu.Lock()
	k := n.stateOf(name)
	chosen, idle, before := k.source.shown, strings.Join(k.source.idle, ", "), k.announced.idle
	now := idle
	if n.isLeading() { // who begins to lead tells again, by an event
		now = "leads: " + idle
	}
	k.announced.idle = now
	n.mu.Unlock()
	if now == before {
		return
	}
	if idle == "" {
		metrics.Kind(name).SecondFolder(false)
		return
	}
	metrics.Kind(name).SecondFolder(true)
	text := fmt.Sprintf("the folder of this kind comes from %s; this one is not used: %s", chosen, idle)
	log.FromContext(ctx).Info("two folders of one kind", "kind", name, "message", text)
	if crd := n.seenCRD(name); crd != nil && n.isLeading() {
		n.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, api.ReasonFolderNotUsed, "Load", "%s", cut(text))
	}
}

// countLoad counts a version of a folder once, with what became of it.
func (n *kindReporter) countLoad(name, digest string, trouble error) {
	metrics.Kind(name).Loads(trouble == nil)
	if trouble != nil {
		digest = trouble.Error()
	}
	n.mu.Lock()
	k := n.stateOf(name)
	before := k.taken
	k.taken = digest
	n.mu.Unlock()
	if before != digest {
		metrics.Kind(name).Loaded(trouble == nil)
	}
}

// recordLonely tells once of a folder that waits for its CRD.
func (n *kindReporter) recordLonely(ctx context.Context, name string, lonely bool) {
	n.mu.Lock()
	k := n.stateOf(name)
	lonely = lonely && n.listed && k.named()
	before := k.announced.lonely
	k.announced.lonely = lonely
	n.mu.Unlock()
	if lonely && !before {
		log.FromContext(ctx).Info("folder has no CRD in this cluster: the kind starts when it is installed", "kind", name)
	}
}
