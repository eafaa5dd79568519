package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

var (
	errUnfetched      = fmt.Errorf("%w: it is being fetched", live.ErrNotYet)
	errUnlistedFields = fmt.Errorf("%w: it is being listed with the fields that are used now", live.ErrNotYet)
)

// Record declares what a reader read, in place of what it recorded before:
// changes of exactly that wake it. It is woken at once if something that it
// asked changed between the answer and now. No queries: it is gone or reads
// nothing.
func (r *Reads) Record(reader api.Owner, queries []Query) {
	r.recording.Lock()
	before, after := r.readers[reader], make(map[asked]bool, len(queries))
	wake := false
	for _, q := range queries {
		id := q.identityOf()
		if !after[id] && !before[id] && r.addReader(reader, q) {
			wake = true
		}
		after[id] = true
	}
	for id := range before {
		if !after[id] {
			r.removeReader(reader, id)
		}
	}
	if r.readers[reader] = after; len(after) == 0 {
		delete(r.readers, reader)
	}
	r.recording.Unlock()
	if wake {
		r.options.Changed(reader)
	}
}

// addReader makes somebody a reader of a query and reports whether its answer may have changed
// since they asked. What they recorded before needs no such care: they were notified.
func (r *Reads) addReader(reader api.Owner, q Query) (changed bool) {
	r.withScope(q.Scope, q.neededFields(), func(_ *kind, i *readPolicy) {
		question, known := i.questionFor(q)
		question.readers[reader] = true
		changed = !known || question.moved > q.Since
	})
	return changed
}

// removeReader ends that somebody reads a query.
func (r *Reads) removeReader(reader api.Owner, id asked) {
	r.withScope(id.scope, live.Identity, func(_ *kind, i *readPolicy) {
		if q := i.findQuestion(id); q != nil {
			delete(q.readers, reader)
		}
	})
}

// withScope runs fn under the mutex of what is watched for a scope, which starts if nobody has
// asked for it yet. Who waits for one scope holds up no other.
func (r *Reads) withScope(scope Scope, need live.Need, fn func(*kind, *readPolicy)) {
	for {
		k := r.openScope(scope, need)
		k.mu.Lock()
		if !k.ended {
			fn(k, k.policy.(*readPolicy))
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
	}
}

// openScope returns what is watched for a scope, which starts if nobody has asked for it yet.
func (r *Reads) openScope(scope Scope, need live.Need) *kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[scope]
	if k == nil {
		k = r.begin(scope)
		r.kinds[scope] = k
		if r.isLive() {
			k.syncLocked(need, r.served()) // what it would tell, who asks is told
		}
	}
	return k
}

// answerQuery returns what is known to answer a query. Where bodies are missing it has them
// fetched, and says so.
func (r *Reads) answerQuery(q Query) (found []live.Object, err error) {
	var fetch func()
	asksMore := false
	r.withScope(q.Scope, q.neededFields(), func(k *kind, i *readPolicy) {
		question, _ := i.questionFor(q)
		question.asked = time.Now()
		asksMore = k.current != nil && !k.current.need.Covers(q.neededFields())
		if err = k.checkSynced(q.namespacesOf()...); err != nil {
			return
		}
		if asksMore {
			err = cmp.Or(k.stateIn().Err, errUnlistedFields)
			return
		}
		if err = cmp.Or(k.checkReach(q), k.deletionDue(q.groupOf(), q.matchesObject)); err != nil {
			return
		}
		if found = k.answersOf(q); !lackBodies(found) {
			return
		}
		found, err = nil, cmp.Or(question.err, errUnfetched)
		if !question.fetching {
			question.fetching = true
			i.fetching++
			fetch = func() { i.fetchBodies(r.ctx, question) }
		}
	})
	if asksMore {
		r.syncAll()
	}
	if fetch != nil {
		r.run(fetch)
	}
	for n, l := range found {
		unpacked, bad := l.Unpacked()
		found[n], err = withoutTracking(unpacked), cmp.Or(err, bad)
	}
	return found, err
}

// answersOf returns the objects that answer a query, some perhaps without their bodies. The caller
// must hold the mutex.
func (k *kind) answersOf(q Query) []live.Object {
	if q.Name == "" {
		return k.findObjects(q.groupOf(), q.matchesObject)
	}
	if k.current == nil {
		return nil
	}
	key := q.nameKey()
	if n, noted := k.overlay.entries[key]; noted {
		return []live.Object{n.live}
	}
	for _, s := range k.current.stores {
		if l, found := s.items[key]; found {
			return []live.Object{l}
		}
	}
	return nil
}

// lackBodies reports whether some objects have no body.
func lackBodies(found []live.Object) bool {
	return slices.ContainsFunc(found, func(l live.Object) bool { return !l.HasBody() })
}

// checkReach returns an error for a query about what is not watched. The caller must hold the
// mutex.
func (k *kind) checkReach(q Query) error {
	if k.scope.Name != "" && k.scope.Name != q.Name {
		return fmt.Errorf("only %s is watched", k.scope.Name)
	}
	if q.Namespace == "" && q.Name == "" {
		return nil
	}
	if q.Namespace == "" && k.current.resource.Namespaced {
		return errors.New("no namespace")
	}
	for _, s := range k.current.stores {
		if s.coversNamespace(q.Namespace) {
			return nil
		}
	}
	return fmt.Errorf("namespace %q is not watched", q.Namespace)
}
