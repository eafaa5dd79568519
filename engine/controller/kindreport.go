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
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A kindReport is what the last pass found out about a kind. Metrics and the operator's report show
// it. How it differs from the report before is announced, once, in the log and by events.
type kindReport struct {
	isLeading bool
	// crdMissing: the kind has a folder and no CRD. crdDeleted: so it is, and it was served before.
	crdMissing, crdDeleted bool
	hasFolder              bool
	// digest is that of the folder as it was loaded, and trouble why it does not load. Both are
	// empty while the folder does not matter.
	digest  string
	trouble error
	// unused names further folders of the kind, or is "".
	unused string
	// elsewhere says which other installation serves the kind, or our share of it, or is "".
	elsewhere string
	rollback  rollbackReport
	// unable is true if this replica does not have the revision that serves all resources.
	unable bool
}

// A rollbackReport is the state of a kind that is rolled back, or of one that stopped and cannot
// be, with a text for people. It is zero for any other kind.
type rollbackReport struct {
	state verdict.State
	text  string
}

// loadResult identifies what became of the folder: its digest, or why it does not load, or "" if it
// was not tried.
func (r kindReport) loadResult() string {
	if r.trouble != nil {
		return r.trouble.Error()
	}
	return r.digest
}

// reportDesired reports what a pass found out about a kind.
func (n *kindReporter) reportDesired(ctx context.Context, p *kindPass, d kinds.Desired) {
	if d.Reason == kinds.CRDsNotListed || d.Reason == kinds.FoldersNotRead {
		return
	}
	isLeading := n.isLeading()
	n.mu.Lock()
	k := n.stateOf(p.name)
	k.wasServed = k.wasServed && (p.in.CRD != nil || p.in.Folder.Present)
	k.loaded = k.loaded || p.in.Folder.Kind != nil
	before, now := k.report, p.makeReport(d, k, isLeading)
	k.report = now
	n.mu.Unlock()
	now.exportMetrics(metrics.Kind(p.name), before)
	n.announceKind(ctx, p.name, before, now)
}

// makeReport returns the report of a kind. What the pass did not find out is as in the report before.
// The caller must hold the mutex.
func (p *kindPass) makeReport(d kinds.Desired, k *kindState, isLeading bool) kindReport {
	folder, before := p.in.Folder, k.report
	isAlone := folder.Present && p.in.CRD == nil
	now := kindReport{isLeading: isLeading, hasFolder: folder.Present, crdMissing: isAlone && !k.wasServed, crdDeleted: isAlone && k.wasServed}
	switch d.Reason {
	case kinds.NoCRD, kinds.NotEstablished, kinds.NoFolder:
		return now
	case kinds.RecordStale, kinds.FolderUnsettled:
		before.isLeading, before.crdMissing, before.crdDeleted = isLeading, false, false
		return before
	}
	if now.digest, now.trouble = folder.Digest, folder.Err; len(k.source.idle) > 0 {
		now.unused = fmt.Sprintf("the folder of this kind comes from %s; this one is not used: %s", k.source.shown,
			strings.Join(k.source.idle, ", "))
	}
	if p.conflict != nil && folder.Present { // else it is not to be served here
		now.elsewhere = p.in.ClaimedBy.Error()
	}
	now.unable = d.Reason == kinds.RevisionMissing
	switch {
	case p.in.Role != kinds.Leader:
	case d.Reason == kinds.NotRolledBack:
		now.rollback = rollbackReport{verdict.Stopped, d.Err.Error()}
	case d.Reason == kinds.RolledBack:
		now.rollback = rollbackReport{verdict.RolledBack, p.in.Record.Rollout.RollbackText(p.name, d.Rollback)}
		if d.Rollback.IsByOperator() {
			now.rollback.state = verdict.RolledBackOnFailure
		}
	}
	return now
}

// exportMetrics sets the metrics of a kind.
func (r kindReport) exportMetrics(kind metrics.Kind, before kindReport) {
	kind.CRDMissing(r.crdMissing)
	kind.CRDDeleted(r.crdDeleted)
	kind.Elsewhere(r.elsewhere != "")
	kind.SecondFolder(r.unused != "")
	if r.loadResult() == "" {
		kind.NoFolder()
		return
	}
	kind.Loads(r.trouble == nil)
	if r.loadResult() != before.loadResult() {
		kind.Loaded(r.trouble == nil)
	}
}

// announceKind announces what has changed about a kind. Events about its folder are written by the
// leader, and again by whoever begins to lead.
func (n *kindReporter) announceKind(ctx context.Context, name string, before, now kindReport) {
	logger := log.FromContext(ctx).WithValues("kind", name)
	event := func(severity, reason, action, text string) {
		if now.isLeading {
			n.recordEvent(name, severity, reason, action, text)
		}
	}
	if now.crdMissing && !before.crdMissing {
		logger.Info("folder has no CRD in this cluster: the kind starts when it is installed")
	}
	if now.crdDeleted && !before.crdDeleted {
		logger.Error(errCRDDeleted, "kind not served any more")
	}
	if now.elsewhere != "" && now.elsewhere != before.elsewhere {
		logger.Info("kind not served", "message", now.elsewhere)
		n.recordEvent(name, corev1.EventTypeWarning, api.ReasonServedElsewhere, "Claim", now.elsewhere)
	}
	if before.hasFolder && !now.hasFolder {
		logger.Info("folder removed")
		event(corev1.EventTypeWarning, api.ReasonFolderRemoved, "Load",
			"the folder was removed: the children of its resources stay as they are, and the resources can be deleted")
	}
	hasLed := before.isLeading
	switch isSame := before.loadResult() == now.loadResult(); {
	case now.trouble != nil && !isSame:
		logger.Error(now.trouble, "folder does not load; the last good version, if any, runs on")
		fallthrough
	case now.trouble != nil && !hasLed:
		event(corev1.EventTypeWarning, api.ReasonFolderInvalid, "Load", now.trouble.Error())
	case now.trouble == nil && before.trouble != nil && now.digest != "":
		logger.Info("folder loads again")
		event(corev1.EventTypeNormal, api.ReasonFolderLoads, "Load", "the folder loads again")
	}
	switch isSame := before.unused == now.unused; {
	case now.unused != "" && !isSame:
		logger.Info("two folders of one kind", "message", now.unused)
		fallthrough
	case now.unused != "" && !hasLed:
		event(corev1.EventTypeWarning, api.ReasonFolderNotUsed, "Load", now.unused)
	}
}

// announceRollback announces that the operator rolls back by itself.
func (n *kindReporter) announceRollback(ctx context.Context, name string, w kinds.Writes) {
	if w.Rollback == nil || !w.Rollback.IsByOperator() {
		return
	}
	text := w.Rollout.RollbackText(name, *w.Rollback)
	log.FromContext(ctx).Info("rolled back", "kind", name, "digest", w.Rollback.From, "message", text)
	n.recordEvent(name, corev1.EventTypeWarning, api.ReasonRolledBack, "Rollout", text)
}

// recordEvent writes an event about the CRD of a kind, if there is one.
func (t *kindTable) recordEvent(name, severity, reason, action, text string) {
	if crd := t.seenCRD(name); crd != nil {
		t.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, severity, reason, action, "%s", truncateNote(text))
	}
}

// truncateNote keeps an event's note below the API's limit of 1,024 bytes.
func truncateNote(s string) string {
	if len(s) > 1000 {
		return strings.ToValidUTF8(s[:1000], "") + "…"
	}
	return s
}
