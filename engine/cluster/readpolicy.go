package cluster

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// reduceObject returns what is kept of an object: of one that is patched all, of one that a question
// is about the fields that are used.
func (i *readPolicy) reduceObject(l live.Object, need live.Need) live.Object {
	switch {
	case !l.HasBody() || len(patchersOf(l)) > 0:
		return l
	case !i.isAskedFor(l):
		return withoutBody(l)
	case l.IsPacked():
		return usedFields(l, need)
	}
	return withoutTracking(l)
}

// isAskedFor reports whether a question is about an object.
func (i *readPolicy) isAskedFor(l live.Object) (is bool) {
	i.eachMatching(l, func(*question) bool { is = true; return false })
	return is
}

// groupsOf returns the groups of an object: its namespace and its patchers.
func (i *readPolicy) groupsOf(l live.Object) []group {
	var all []group
	if namespace := l.Meta.GetNamespace(); namespace != "" {
		all = append(all, group{namespace: namespace})
	}
	for _, uid := range patchersOf(l) {
		all = append(all, group{uid: uid})
	}
	return all
}

// ownerOf returns nobody: all that is read is watched by each replica.
func (i *readPolicy) ownerOf(live.Object) owner { return owner{} }

// noteChange adds the readers and patchers of an object, but for the first list: allReaders and Synced
// stand for that. Where nothing changed that is used, only those are added whose queries it begins or
// ceases to match. A child has another watch, which is ahead of this one or behind: its readers hear of
// each version.
func (i *readPolicy) noteChange(told *notifications, c Change) {
	if c.IsFirst {
		return
	}
	sides := c.bothSides()
	isAlike := len(sides) == 2 && c.Before.IsAlike(c.After) && claimedOwner(c.After).uid == ""
	matched := map[*question]int{}
	for _, l := range sides {
		i.eachMatching(l, func(q *question) bool { matched[q]++; return true })
		for _, uid := range patchersOf(l) {
			told.add([]owner{{uid: uid}})
		}
	}
	tick := i.reads.tick.Add(1)
	for q, n := range matched {
		if !isAlike || n == 1 {
			told.add(q.recordChange(tick))
		}
	}
}

// allReaders returns the readers of all questions.
func (i *readPolicy) allReaders() []owner {
	var all []owner
	tick := i.reads.tick.Add(1)
	i.eachQuestion(func(q *question) bool { all = append(all, q.recordChange(tick)...); return true })
	return all
}

// neededNow returns what is needed of objects, and whether any question needs them.
func (i *readPolicy) neededNow() (live.Need, bool) {
	return i.need, len(i.named)+len(i.selecting) > 0
}

// notifyOwner notifies a reader or a patcher that an object changed.
func (i *readPolicy) notifyOwner(whose owner) {
	if whose.uid != "" {
		i.reads.options.PatchChanged(whose.uid)
	} else {
		i.reads.options.Changed(whose.of)
	}
}

// notifyChange does nothing: readers and patchers are notified.
func (i *readPolicy) notifyChange(Change) {}

// notifySynced notifies that what a scope covers was listed.
func (i *readPolicy) notifySynced(scope Scope) {
	if told := i.reads.options.Synced; told != nil {
		told(scope)
	}
}

// notifyTroubled notifies that what a scope covers cannot be listed or watched.
func (i *readPolicy) notifyTroubled(scope Scope) {
	if told := i.reads.options.Troubled; told != nil {
		told(scope)
	}
}

// patchersOf returns the custom resources whose patch manager has applied fields of an object. Only
// objects that are kept whole have any.
func patchersOf(l live.Object) []types.UID {
	metadata, _ := l.Body["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var all []types.UID
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		name, _ := e["manager"].(string)
		uid, ours := strings.CutPrefix(name, api.PatchManager(""))
		if ours && uid != "" && e["operation"] == string(metav1.ManagedFieldsOperationApply) {
			all = append(all, types.UID(uid))
		}
	}
	return all
}
