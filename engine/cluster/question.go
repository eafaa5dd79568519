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

func (q Query) asked() asked {
	a := asked{scope: q.Scope, namespace: q.Namespace, name: q.Name}
	if q.Name == "" {
		a.selector = q.selector().String()
		a.anchor = anchorOf(q.Namespace, q.selector())
	}
	return a
}

func (q Query) selector() labels.Selector {
	if q.Selector == nil {
		return labels.Everything()
	}
	return q.Selector
}

func (q Query) key() types.NamespacedName {
	return types.NamespacedName{Namespace: q.Namespace, Name: q.Name}
}

// group is where to find what could answer the query.
func (q Query) group() group { return group{namespace: q.Namespace} }

// within are the namespaces that must be known to answer the query; none: all.
func (q Query) within() []string {
	if q.Namespace == "" {
		return nil
	}
	return []string{q.Namespace}
}

// matches reports whether an object of the query's group answers it.
func (q Query) matches(l live.Object) bool {
	if q.Name != "" {
		return l.Key() == q.key()
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

// ask returns the question for a query, and whether it was known.
func (i *readPolicy) ask(q Query) (*question, bool) {
	if known := i.question(q.asked()); known != nil {
		return known, true
	}
	fresh := &question{query: q, readers: map[api.Owner]bool{}, asked: time.Now()}
	if q.Name != "" {
		i.named[q.key()] = fresh
		return fresh, false
	}
	a := q.asked()
	if i.selecting[a.anchor] == nil {
		i.selecting[a.anchor] = map[string]*question{}
	}
	i.selecting[a.anchor][a.selector] = fresh
	return fresh, false
}

// question returns what is known by ask; nil if it is not.
func (i *readPolicy) question(a asked) *question {
	if a.name != "" {
		return i.named[types.NamespacedName{Namespace: a.namespace, Name: a.name}]
	}
	return i.selecting[a.anchor][a.selector]
}

// each calls fn with all questions until it returns false.
func (i *readPolicy) each(fn func(*question) bool) {
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

// matching calls fn with the questions that an object answers until it returns
// false.
func (i *readPolicy) matching(l live.Object, fn func(*question) bool) {
	key := l.Key()
	if q := i.named[key]; q != nil && !fn(q) {
		return
	}
	if len(i.selecting) == 0 {
		return
	}
	has := labels.Set(l.Meta.GetLabels()) // costly, so just once
	for at := range anchors(key.Namespace, has) {
		for _, q := range i.selecting[at] {
			if q.query.selector().Matches(has) && !fn(q) {
				return
			}
		}
	}
}

// forget drops the questions that nobody has recorded, nor asked since.
func (i *readPolicy) forget(since time.Time) {
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

// woken notes that a question's answer changed and returns whom that concerns.
func (q *question) woken(tick uint64) []owner {
	q.moved = tick
	all := make([]owner, 0, len(q.readers))
	for reader := range q.readers {
		all = append(all, owner{of: reader})
	}
	return all
}
