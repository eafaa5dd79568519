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
	// announced is what this process has said in events, which only the leader writes.
	announced announcedTexts
}

// announcedTexts are the texts of events about a folder.
type announcedTexts struct{ trouble, unused string }

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

// noteEvents notes what a leader says in events from now on.
func (r *kindReport) noteEvents() {
	if !r.isLeading {
		return
	}
	if r.announced = (announcedTexts{unused: r.unused}); r.trouble != nil {
		r.announced.trouble = r.trouble.Error()
	}
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
	case kinds.RecordStale:
		before.isLeading, before.crdMissing, before.crdDeleted = isLeading, false, false
		before.noteEvents()
		return before
	}
	now.announced = before.announced
	if now.digest, now.trouble = folder.Digest, folder.Err; len(k.source.idle) > 0 {
		now.unused = fmt.Sprintf("the folder of this kind comes from %s; this one is not used: %s", k.source.shown,
			strings.Join(k.source.idle, ", "))
	}
	now.noteEvents()
	if d.Reason == kinds.FolderUnsettled {
		now.elsewhere, now.rollback, now.unable = before.elsewhere, before.rollback, before.unable
		return now
	}
	if p.conflict != nil && folder.Present { // else it is not to be served here
		now.elsewhere = p.in.ClaimedBy.Error()
	}
	now.unable = d.Reason == kinds.RevisionMissing
	switch {
	case p.in.Role != kinds.Leader:
	case d.Reason == kinds.NotRolledBack:
		now.rollback = rollbackReport{verdict.RolloutStopped, d.Err.Error()}
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

// An announcement is a line of the log, an event on the CRD, or both.
type announcement struct {
	log string
	err error // of a line about an error
	// reason is that of the event, or "" for none. severity, action and text belong to it.
	reason, severity, action, text string
}

// announcementsSince returns what is to be announced if this report follows another one. Events about
// the folder are written by the leader, once for each text.
func (r kindReport) announcementsSince(before kindReport) (all []announcement) {
	if r.crdMissing && !before.crdMissing {
		all = append(all, announcement{log: "folder has no CRD in this cluster: the kind starts when it is installed"})
	}
	if r.crdDeleted && !before.crdDeleted {
		all = append(all, announcement{log: "kind not served any more", err: errCRDDeleted})
	}
	if r.elsewhere != "" && r.elsewhere != before.elsewhere {
		all = append(all, announcement{log: "kind not served", reason: api.ReasonServedElsewhere, severity: corev1.EventTypeWarning,
			action: "Claim", text: r.elsewhere})
	}
	if before.hasFolder && !r.hasFolder {
		removed := announcement{log: "folder removed"}
		if r.isLeading {
			removed.reason, removed.severity, removed.action = api.ReasonFolderRemoved, corev1.EventTypeWarning, "Load"
			removed.text = "the folder was removed: the children of its resources stay as they are, and the resources can be deleted"
		}
		all = append(all, removed)
	}
	switch isSame := before.loadResult() == r.loadResult(); {
	case r.trouble != nil && !isSame:
		all = append(all, announcement{log: "folder does not load; the last good version, if any, runs on", err: r.trouble})
	case r.trouble == nil && before.trouble != nil && r.digest != "":
		all = append(all, announcement{log: "folder loads again"})
	}
	switch {
	case r.announced.trouble == before.announced.trouble:
	case r.announced.trouble != "":
		all = append(all, announcement{reason: api.ReasonFolderInvalid, severity: corev1.EventTypeWarning, action: "Load",
			text: r.announced.trouble})
	case r.digest != "":
		all = append(all, announcement{reason: api.ReasonFolderValid, severity: corev1.EventTypeNormal, action: "Load",
			text: "the folder loads again"})
	}
	if r.unused != "" && r.unused != before.unused {
		all = append(all, announcement{log: "two folders of one kind", text: r.unused})
	}
	if r.announced.unused != "" && r.announced.unused != before.announced.unused {
		all = append(all, announcement{reason: api.ReasonDuplicateFolder, severity: corev1.EventTypeWarning, action: "Load",
			text: r.announced.unused})
	}
	return all
}

// announceKind announces what has changed about a kind.
func (n *kindReporter) announceKind(ctx context.Context, name string, before, now kindReport) {
	logger := log.FromContext(ctx).WithValues("kind", name)
	for _, a := range now.announcementsSince(before) {
		switch {
		case a.err != nil:
			logger.Error(a.err, a.log)
		case a.log != "" && a.text != "":
			logger.Info(a.log, "message", a.text)
		case a.log != "":
			logger.Info(a.log)
		}
		if a.reason != "" {
			n.recordEvent(name, a.severity, a.reason, a.action, a.text)
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
