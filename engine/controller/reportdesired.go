package controller

import (
	"context"

	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
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
	k := n.state(p.name)
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
