package controller

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// A storedDeletions is the stop whose list of deletions this process has stored, "" for
// none, and when storing it may be tried again.
type storedDeletions struct {
	stop  string
	retry time.Time
}

// storeDeletions stores what a stopped rollout would delete, where its record has no place
// for all of it, and deletes the lists of stops that are over. It runs before the record is
// written, so that a list is there as soon as the stop can be approved, and that none is
// left if the process ends in between. It returns when to try again; 0 means never.
func (m *rolloutManager) storeDeletions(ctx context.Context, r *kindController) time.Duration {
	c := r.versions
	c.mu.Lock()
	now, _ := c.newRecord()
	stop, isKept := "", !c.record.NamesAll()
	var list []byte
	if now.State == rollout.Stopped && !now.NamesAll() {
		stop, list = now.Stop, c.rollout.DeletionList()
	}
	c.mu.Unlock()
	isStored := stop == r.deletions.stop && (stop != "" || !isKept)
	if now.State == "" || isStored || m.options.ReadOnly || m.options.reportNamespace() == "" {
		return 0
	}
	if wait := time.Until(r.deletions.retry); wait > 0 {
		return wait
	}
	if err := m.replaceDeletions(ctx, r, stop, list); err != nil {
		log.FromContext(ctx).Error(err, "list of deletions not stored; it is tried again", "kind", r.name)
		r.deletions.retry = time.Now().Add(retryTick)
		return retryTick
	}
	r.deletions = storedDeletions{stop: stop}
	return 0
}

// replaceDeletions stores the list of a stop, unless stop is "", and deletes all others.
func (m *rolloutManager) replaceDeletions(ctx context.Context, r *kindController, stop string, text []byte) error {
	found, err := m.revisions.controllerRevisions(ctx, r.name, revision.DeletionSelector(m.options.Identity, r.name))
	if err != nil {
		return fmt.Errorf("listing deletions of %s: %w", r.name, err)
	}
	for _, list := range revision.ReadDeletionLists(found) {
		if stop != "" && list.IsOf(stop) {
			stop = ""
			continue
		}
		if err := m.revisions.deleteRevisions(ctx, list.Stored()); err != nil {
			return err
		}
	}
	if stop == "" {
		return nil
	}
	list, err := revision.NewDeletionList(r.name, stop, text)
	if err != nil {
		return err
	}
	owner := metav1.OwnerReference{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: r.name, UID: r.crdUID}
	for _, doc := range list.Objects(m.options.reportNamespace(), m.options.Identity, owner) {
		if _, err := m.writer.Create(ctx, revision.Resource, doc); err != nil {
			return fmt.Errorf("writing ControllerRevision %s: %w", doc.GetName(), err)
		}
	}
	return nil
}
