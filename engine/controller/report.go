package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// How often the report is recreated, which sends nothing while it says the same,
// how long at least lies between two writes of it, and how often it is seen
// whether it is there still.
const (
	reportTick   = time.Second
	reportGap    = 5 * time.Second
	reportResync = time.Minute
	reportWait   = 30 * time.Second // after one that failed
)

var errCRDDeleted = errors.New("the CRD was deleted, and with it every resource of the kind: restore both, or remove the folder if that is meant")

// keepReport keeps the metrics of the states of kinds, and writes what the operator says
// of itself whenever that changed, or is not there any more.
func (n *statusReporter) keepReport(ctx context.Context) error {
	n.first = n.aboutItself(ctx)
	isLeading, wait := false, reportTick
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = reportTick
		if !n.isLeading() {
			n.showStates(nil)
			isLeading = false
			continue
		}
		if !isLeading && n.options.reportNamespace() != "" {
			n.rememberKinds(ctx) // what another process has reported until now
		}
		isLeading = true
		report := n.composeReport(n.first)
		n.showStates(report.Kinds)
		if n.options.reportNamespace() == "" {
			continue
		}
		if n.recordStates(ctx, report.Kinds, n.writeRecord) {
			wait = reportGap
		}
		if now := report.String(); now != n.text || n.isLost(ctx) {
			wait = max(wait, reportGap)
			if err := n.writeLease(ctx, now); err != nil {
				wait = reportWait
				n.logOnce(ctx, "", err)
			}
		}
	}
}

// showStates keeps the metric of the states of kinds.
func (n *statusReporter) showStates(all []heartbeat.Kind) {
	now := map[string]verdict.State{}
	for _, k := range all {
		now[k.Name] = k.State
	}
	metrics.KindStates(n.states, now)
	n.states = now
}

// recordStates puts on the CRDs how their kinds are served, where that changed, with the
// Lease that shows whether the operator still lives, and reports whether it wrote. A CRD
// that cannot be written is tried again later, and holds up nothing else.
func (n *statusReporter) recordStates(ctx context.Context, all []heartbeat.Kind,
	write func(context.Context, metav1.Object, shard.Shard, kinds.Writes) error) (wrote bool) {
	if n.options.ReadOnly {
		return false
	}
	for _, k := range all {
		seen, crd := n.seenCRD(k.Name), n.latestCRD(k.Name)
		if seen == nil || crd == nil || k.State == verdict.Starting || k.State == verdict.ServedElsewhere {
			continue
		}
		mine, now := n.shardOf(seen), kinds.ServedState{State: k.State, Lease: n.stateLease()}
		if now == kinds.ReadState(crd, mine) || time.Now().Before(n.refused[k.Name]) {
			continue // it is never written again to confirm it: the Lease is renewed instead
		}
		wrote = true
		if err := write(ctx, crd, mine, kinds.Writes{State: &now}); err != nil && !apierrors.IsConflict(err) {
			n.refused[k.Name] = time.Now().Add(reportWait)
			n.logOnce(ctx, k.Name, fmt.Errorf("recording the state on CRD %s: %w", k.Name, err))
		}
	}
	return wrote
}

// stateLease names the Lease that shows whether the operator still runs, or is "".
func (n *statusReporter) stateLease() string {
	if !n.options.usesLease() {
		return ""
	}
	return n.options.leaseNamespace() + "/" + api.Lease(n.options.Identity)
}

// logOnce logs a trouble with a CRD, or with the Lease if crd is "", once.
func (n *statusReporter) logOnce(ctx context.Context, crd string, err error) {
	if err.Error() != n.logged[crd] && ctx.Err() == nil {
		log.FromContext(ctx).Info("report not written", "error", err.Error())
	}
	n.logged[crd] = err.Error()
}

// aboutItself is the part of the report that stays as it is.
func (n *statusReporter) aboutItself(ctx context.Context) heartbeat.Report {
	r := heartbeat.Report{
		Program: n.options.Version, Identity: n.options.Identity, ReadOnly: n.options.ReadOnly, Namespaces: n.options.Namespaces,
		Since: time.Now().UTC().Truncate(time.Second), Local: n.options.Local,
	}
	if s := n.options.Selector; s != nil {
		r.Selector = s.String()
	}
	r.Pod, _ = os.Hostname() // "" says that it is not known
	if n.options.usesLease() {
		r.Lease, r.LeaseNamespace = api.Lease(n.options.Identity), n.options.leaseNamespace()
	}
	if reviewer, err := apply.NewReviewer(n.options.Config); err == nil {
		r.Account, r.Groups, _ = reviewer.Self(ctx) // "" says that it is not known
	}
	return r
}

// isLost looks now and then whether the Lease is there and says what was written.
func (n *statusReporter) isLost(ctx context.Context) bool {
	if time.Since(n.looked) < reportResync {
		return false
	}
	return n.readLease(ctx) == nil && (n.lease == nil || n.lease.GetAnnotations()[api.AnnotationReport] != n.text)
}

// readLease reads the Lease, if there is one. One that others made is an error.
func (n *statusReporter) readLease(ctx context.Context) error {
	name := api.ReportLease(n.options.Identity)
	n.lease, n.looked = nil, time.Now()
	seen, err := n.reportWriter.Read(ctx, live.Leases, n.options.reportNamespace(), name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case seen.GetLabels()[api.LabelPartOf] != api.PartOf:
		return errors.New("the Lease " + n.options.reportNamespace() + "/" + name + " is not ours: it lacks the label " + api.LabelPartOf)
	}
	n.lease = seen
	return nil
}

// writeLease writes the report into its Lease, which is made if it is not there. One
// that others made is left as it is.
func (n *statusReporter) writeLease(ctx context.Context, text string) (err error) {
	if n.lease == nil {
		if err := n.readLease(ctx); err != nil {
			return err
		}
	}
	doc := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"holderIdentity": n.first.Pod}}}
	doc.SetGroupVersionKind(live.Leases.GVK)
	doc.SetNamespace(n.options.reportNamespace())
	doc.SetName(api.ReportLease(n.options.Identity))
	doc.SetLabels(map[string]string{api.LabelPartOf: api.PartOf})
	doc.SetAnnotations(map[string]string{api.AnnotationReport: text})
	var answer *unstructured.Unstructured
	if n.lease == nil {
		answer, err = n.reportWriter.Create(ctx, live.Leases, doc)
	} else {
		answer, err = n.reportWriter.Update(ctx, live.Leases, doc, n.lease.GetUID())
	}
	if err != nil {
		n.lease = nil
		return err
	}
	n.lease, n.text, n.looked = answer, text, time.Now()
	delete(n.logged, "")
	return nil
}

// composeReport adds to what stays as it is how the roots and kinds are.
func (n *statusReporter) composeReport(first heartbeat.Report) heartbeat.Report {
	n.mu.Lock()
	for _, m := range n.sources.roots.Missing {
		first.MissingRoots = append(first.MissingRoots, fmt.Sprintf("%s: %v", m.Root, m.Err))
	}
	n.mu.Unlock()
	for _, name := range n.knownKinds() {
		if k, ours := n.reportOf(name); ours {
			first.Kinds = append(first.Kinds, k)
		}
	}
	return first
}

// reportOf says how a kind is served; false if it is none of this operator's.
func (n *statusReporter) reportOf(name string) (k heartbeat.Kind, ours bool) {
	n.mu.Lock()
	r, back := n.readState(name).controller, n.readState(name).report.rollback
	k, ours = n.describeObstacle(name)
	n.mu.Unlock()
	if r != nil {
		if troubles := r.resources.listPlaces().describeTroubles(true); len(troubles) > 0 && k.State == "" {
			k.State, k.Message = verdict.ServingFailed, strings.Join(troubles, "; ")
		} else {
			k.Unlisted = n.troubles.describeUnlisted(r)
		}
		k.Served, k.Pending, ours = r.gvk.GroupVersion().String(), r.reconciler.Pending(), true
		r.versions.describeKind(&k, n.isPaused(name) && !n.options.ReadOnly)
		if since := r.versions.stuckSince(k.State, time.Now()); !since.IsZero() {
			k.State, k.Message = verdict.RolloutStuck, fmt.Sprintf("no progress since %s: %s", since.UTC().Format(time.RFC3339), k.Message)
		}
		switch {
		case k.State == verdict.Serving && back.state.IsRolledBack():
			k.State, k.Message = back.state, strings.TrimSuffix(back.text+"; "+k.Message, "; ")
		case k.State == verdict.RolloutStopped && back.state == verdict.RolloutStopped:
			k.Message += "; " + back.text
		}
	} else if k.State == "" {
		k.State = verdict.Starting
	}
	return k, ours
}

// describeObstacle says what keeps a kind from being served by its newest folder; false
// if it has none. It needs the mutex.
func (n *statusReporter) describeObstacle(name string) (k heartbeat.Kind, folder bool) {
	known := n.readState(name)
	k = heartbeat.Kind{Name: name, Folder: known.source.shown, Unused: slices.Clone(known.source.idle), Revision: known.report.digest}
	if known.compiled.kind != nil {
		for _, ignored := range known.compiled.kind.Ignored() {
			k.Ignored = append(k.Ignored, fmt.Sprintf("%s: %s", ignored.Place, ignored.Text))
		}
	}
	if f := known.source.folder; f != nil {
		k.Digest = f.Digest[:min(16, len(f.Digest))]
	}
	trouble := cmp.Or(known.report.trouble, known.source.unread)
	behind := known.controller != nil && known.source.folder != nil && known.synced != known.source.folder.Digest
	switch {
	case known.report.crdDeleted:
		k.State, k.Message = verdict.CRDDeleted, errCRDDeleted.Error()
	case known.crd == nil:
		k.State, k.Message = verdict.CRDMissing, "the CRD is not installed"
	case behind && known.unsettled == "": // what is known is about the folder before
		k.State, k.Message = verdict.RollingOut, "the changed folder is about to be loaded"
	case trouble != nil:
		k.State, k.Message = verdict.FolderInvalid, trouble.Error()
	case known.report.elsewhere != "":
		k.State, k.Message = verdict.ServedElsewhere, known.report.elsewhere
	case known.unsettled != "":
		k.State, k.Message = verdict.ServingFailed, known.unsettled
	}
	return k, known.hasFolder()
}

// describeKind says how the resources are served, unless something else is said
// already.
func (c rolloutRecorder) describeKind(k *heartbeat.Kind, paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.State != "" {
		return
	}
	k.State = verdict.Serving
	told, changed := c.newRecord()
	if !changed { // how far a wave is would change all the time
		told = c.record
	}
	target := c.targetVersion()
	isPreviewed := c.rollout != nil && c.rollout.State() == rollout.Previewing
	isResumed := isPreviewed && c.rollout.IsResumed() // by a process that has just begun
	switch {
	case c.rollout != nil && (!isPreviewed || isResumed) && told.State != rollout.Complete:
		k.State, k.Message = rollingState(told), told.Text(k.Name)
	case told.NotReady > 0:
		k.Message = told.Text(k.Name)
	}
	switch {
	case isPreviewed && k.State == verdict.Serving:
		k.State, k.Message = verdict.RollingOut, "the changed folder is being tried"
	case k.State == verdict.Serving && target.version != nil && target.version.Removed:
		k.State, k.Message = verdict.FolderRemoved, "the folder was removed: resources are only deleted"
	}
	if paused && k.State.Verdict() == verdict.Healthy {
		k.State, k.Message = verdict.Paused, "the CRD has the annotation "+api.AnnotationPaused
	}
}

// rollingState is the state of a kind whose rollout is not complete.
func rollingState(r rollout.Record) verdict.State {
	switch {
	case r.State != rollout.Stopped:
		return verdict.RollingOut
	case r.Reason == rollout.Paused:
		return verdict.RolloutPaused
	}
	return verdict.RolloutStopped
}

// rememberKinds takes up from an earlier report which kinds were served: the process
// that served them may have ended before their CRD went.
func (n *statusReporter) rememberKinds(ctx context.Context) {
	if n.readLease(ctx) != nil || n.lease == nil {
		return
	}
	told, err := heartbeat.Read(n.lease.GetAnnotations()[api.AnnotationReport])
	if err != nil { // of another version: it tells nothing
		return
	}
	n.mu.Lock()
	for _, k := range told.Kinds {
		if k.Served != "" || k.State == verdict.CRDDeleted {
			n.stateOf(k.Name).wasServed = true
		}
	}
	n.mu.Unlock()
	for _, k := range told.Kinds {
		n.names.Add(k.Name)
	}
}
