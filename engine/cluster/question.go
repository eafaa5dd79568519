package cluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// asked identifies a query.
type asked struct {
	scope                     Scope
	namespace, name, selector string
	anchor                    anchor
}

// identityOf returns what identifies a query.
func (q Query) identityOf() asked {
	a := asked{scope: q.Scope, namespace: q.Namespace, name: q.Name}
	if q.Name == "" {
		a.selector = q.labelSelector().String()
		a.anchor = anchorOf(q.Namespace, q.labelSelector())
	}
	return a
}

// labelSelector returns the selector of the query.
func (q Query) labelSelector() labels.Selector {
	if q.Selector == nil {
		return labels.Everything()
	}
	return q.Selector
}

// nameKey returns the key of the object that is asked for by name.
func (q Query) nameKey() types.NamespacedName {
	return types.NamespacedName{Namespace: q.Namespace, Name: q.Name}
}

// neededFields returns what of the objects is used.
func (q Query) neededFields() live.Need {
	if q.Need == live.Metadata {
		return live.Body
	}
	return q.Need
}

// groupOf returns where to find what could answer the query.
func (q Query) groupOf() group { return group{namespace: q.Namespace} }

// namespacesOf returns the namespaces that must be known to answer the query, or none for all.
func (q Query) namespacesOf() []string {
	if q.Namespace == "" {
		return nil
	}
	return []string{q.Namespace}
}

// matchesObject reports whether an object of the query's group answers it.
func (q Query) matchesObject(l live.Object) bool {
	if q.Name != "" {
		return l.Key() == q.nameKey()
	}
	return q.Selector == nil || q.Selector.Matches(labels.Set(l.Meta.GetLabels()))
}

// A question is a query that somebody asked lately, or has recorded. Its
// answer is guarded by the kind's mutex.
type question struct {
	query   Query
	readers map[api.Owner]bool
	asked   time.Time // last
	// moved is the tick of the answer's last change, for readers who asked
	// before and record after; 0 if it has not changed since anybody asked.
	moved    uint64
	fetching bool  // somebody fetches bodies
	err      error // why that has not worked yet
}

// readPolicy keep what is read in one scope: everything about objects that a
// question matches or that are patched, and of others only what it takes to
// know whether a question matches. All is guarded by the kind's mutex.
type readPolicy struct {
	reads *Reads
	kind  *kind
	// need is which fields somebody has asked for.
	need  live.Need
	named map[types.NamespacedName]*question
	// selecting has the questions by what an object must have to answer them,
	// and then by selector.
	selecting map[anchor]map[string]*question
	// fetching is how many questions have their bodies fetched; sweeping is held
	// by who fetches those of all of them at once, and taken before all others.
	fetching int
	sweeping sync.Mutex
}

var _ storePolicy = &readPolicy{}

// questionFor returns the question for a query, and whether it was known.
func (i *readPolicy) questionFor(q Query) (*question, bool) {
	i.need = i.need.Merge(q.neededFields())
	if known := i.findQuestion(q.identityOf()); known != nil {
		return known, true
	}
	fresh := &question{query: q, readers: map[api.Owner]bool{}, asked: time.Now()}
	if q.Name != "" {
		i.named[q.nameKey()] = fresh
		return fresh, false
	}
	a := q.identityOf()
	if i.selecting[a.anchor] == nil {
		i.selecting[a.anchor] = map[string]*question{}
	}
	i.selecting[a.anchor][a.selector] = fresh
	return fresh, false
}

// findQuestion returns a question that is known, or nil.
func (i *readPolicy) findQuestion(a asked) *question {
	if a.name != "" {
		return i.named[types.NamespacedName{Namespace: a.namespace, Name: a.name}]
	}
	return i.selecting[a.anchor][a.selector]
}

// eachQuestion calls fn with all questions until it returns false.
func (i *readPolicy) eachQuestion(fn func(*question) bool) {
	for _, q := range i.named {
		if !fn(q) {
			return
		}
	}
	for _, selectors := range i.selecting {
		for _, q := range selectors {
			if !fn(q) {
				return
			}
		}
	}
}

// eachMatching calls fn with the questions that an object answers until it returns false.
func (i *readPolicy) eachMatching(l live.Object, fn func(*question) bool) {
	key := l.Key()
	if q := i.named[key]; q != nil && !fn(q) {
		return
	}
	if len(i.selecting) == 0 {
		return
	}
	has := labels.Set(l.Meta.GetLabels()) // costly, so just once
	for at := range anchorsOf(key.Namespace, has) {
		for _, q := range i.selecting[at] {
			if q.query.labelSelector().Matches(has) && !fn(q) {
				return
			}
		}
	}
}

// forgetUnread drops the questions that nobody has recorded, nor asked since.
func (i *readPolicy) forgetUnread(since time.Time) {
	unread := func(q *question) bool { return len(q.readers) == 0 && !q.asked.After(since) }
	for key, q := range i.named {
		if unread(q) {
			delete(i.named, key)
		}
	}
	for at, selectors := range i.selecting {
		for text, q := range selectors {
			if unread(q) {
				delete(selectors, text)
			}
		}
		if len(selectors) == 0 {
			delete(i.selecting, at)
		}
	}
}

// recordChange records that a question's answer changed and returns whom that concerns.
func (q *question) recordChange(tick uint64) []owner {
	q.moved = tick
	all := make([]owner, 0, len(q.readers))
	for reader := range q.readers {
		all = append(all, owner{of: reader})
	}
	return all
}
