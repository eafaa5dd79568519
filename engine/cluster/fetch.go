package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// fetchLimit is how long one request for bodies may take.
const fetchLimit = 30 * time.Second

// manyFetches is how many questions are worth listing as many objects as a page
// has: after a start all resources ask at once.
const manyFetches = 10

// fetchBodies gets the bodies that a question lacks, again and again until it has them, nobody asks
// any more, or ctx ends.
func (i *readPolicy) fetchBodies(ctx context.Context, q *question) {
	for pauses := backOff(); ; waitFor(ctx, pauses.Step()) {
		if i.isCrowded() {
			i.listAllBodies(ctx, q)
		} else {
			i.fetchOne(ctx, q)
		}
		if ctx.Err() != nil || i.endFetch(ctx, q) {
			return
		}
	}
}

// fetchOne asks for what one question lacks: for a list also where it is about
// one object, so that no other right is needed than to watch.
func (i *readPolicy) fetchOne(ctx context.Context, q *question) {
	i.reads.fetching <- struct{}{}
	defer func() { <-i.reads.fetching }()
	opts := metav1.ListOptions{LabelSelector: q.query.labelSelector().String()}
	if q.query.Name != "" {
		opts = metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, q.query.Name).String()}
	}
	r, namespaces, isPacked := i.missingPlaces(ctx, q)
	if len(namespaces) > 0 && (q.query.Namespace != "" || q.query.Name != "") {
		namespaces = []string{q.query.Namespace}
	}
	for _, namespace := range namespaces {
		one := &page{resource: r, namespace: namespace, name: q.query.Name, opts: opts, isPacked: isPacked}
		if _, done := i.takePage(ctx, q, one); !done {
			return
		}
	}
}

// isCrowded reports whether so many questions lack bodies that all objects are to be listed for
// them.
func (i *readPolicy) isCrowded() bool {
	k := i.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.scope.Name != "" {
		return false
	}
	pages := 0
	for _, s := range k.current.stores {
		pages += 1 + len(s.items)/pageSize
	}
	return i.fetching > manyFetches*pages
}

// listAllBodies lists all objects, page by page, and takes of them what anybody asks for. Who waits
// meanwhile finds the question answered then.
func (i *readPolicy) listAllBodies(ctx context.Context, q *question) {
	i.sweeping.Lock()
	defer i.sweeping.Unlock()
	i.reads.fetching <- struct{}{}
	defer func() { <-i.reads.fetching }()
	r, namespaces, isPacked := i.missingPlaces(ctx, q)
	for _, namespace := range namespaces {
		all := &page{resource: r, namespace: namespace, opts: metav1.ListOptions{Limit: pageSize}, isPacked: isPacked}
		for more := true; more; more = all.opts.Continue != "" {
			next, done := i.takePage(ctx, q, all)
			if !done {
				return
			}
			all.opts.Continue = next
		}
	}
}

// missingPlaces returns how and in which namespaces a kind is watched of which a question still
// lacks bodies, and whether they are kept packed. It returns nothing if it lacks none.
func (i *readPolicy) missingPlaces(ctx context.Context, q *question) (r live.Resource, namespaces []string, isPacked bool) {
	k := i.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if !i.lacksBodies(ctx, q) {
		return r, nil, false
	}
	for _, s := range k.current.stores {
		if s.synced {
			namespaces = append(namespaces, s.namespace)
		}
	}
	return k.current.resource, namespaces, k.current.need != live.Body
}

// lacksBodies reports whether a question is still asked and lacks bodies. The caller must hold the
// mutex.
func (i *readPolicy) lacksBodies(ctx context.Context, q *question) bool {
	return ctx.Err() == nil && i.kind.current != nil && i.findQuestion(q.query.identityOf()) == q && lackBodies(i.kind.answersOf(q.query))
}

// endFetch reports whether nothing is left to fetch. Then the readers are notified, and whoever
// finds that a body is missing again has it fetched again.
func (i *readPolicy) endFetch(ctx context.Context, q *question) bool {
	k := i.kind
	k.mu.Lock()
	if i.lacksBodies(ctx, q) {
		k.mu.Unlock()
		return false
	}
	q.fetching, q.err = false, nil
	i.fetching--
	o := k.newNotifications()
	if ctx.Err() == nil {
		o.add(q.recordChange(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.sendNotifications(o)
	return true
}

// A page is a list of whole objects.
type page struct {
	resource        live.Resource
	namespace, name string // no name: whatever it is
	opts            metav1.ListOptions
	isPacked        bool
}

// takePage takes of a page what somebody asks for, and says what is next. If it is
// not done, there is a trouble, which the readers are told of.
func (i *readPolicy) takePage(ctx context.Context, q *question, p *page) (next string, done bool) {
	k := i.kind
	list, err := k.clients.listBodies(ctx, p)
	if ctx.Err() != nil {
		return "", false
	}
	k.mu.Lock()
	o := k.newNotifications()
	if err == nil && k.current != nil && k.current.resource.Equal(p.resource) {
		err = meta.EachListItem(list, func(o runtime.Object) error {
			l, err := live.Of(k.scope.GroupVersionKind, o)
			if err == nil && i.isAskedFor(l) {
				k.fillBody(l)
			}
			return err
		})
	}
	if err != nil && errorText(q.err) != errorText(err) {
		q.err = err
		o.add(q.recordChange(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.sendNotifications(o)
	if err != nil {
		return "", false
	}
	answer, err := meta.ListAccessor(list)
	if err != nil {
		return "", true
	}
	return answer.GetContinue(), true
}

// listBodies lists a page of whole objects.
func (c clients) listBodies(ctx context.Context, p *page) (list runtime.Object, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if p.isPacked {
		list, err = c.packed.list(ctx, p.resource.GVR, p.namespace, p.opts)
	} else {
		list, err = c.fullClient(p.resource.GVR, p.namespace).List(ctx, p.opts)
	}
	what := p.resource.GVR.GroupResource()
	switch {
	case err == nil:
		return list, nil
	case apierrors.IsForbidden(err):
		return nil, &live.RuleError{Resource: what, Namespace: p.namespace, Name: p.name, Verbs: []string{"list"}, Err: err}
	}
	return nil, fmt.Errorf("fetching %s: %w", what, steadyError(err))
}

// fillBody adds a body to what the watch knows. One that is newer stands in until the watch has
// caught up. One that is older is of no use. The caller must hold the mutex.
func (k *kind) fillBody(l live.Object) {
	for _, s := range k.current.stores {
		old, had := s.items[l.Key()]
		switch {
		case had && old.Same(l) && !old.HasBody():
			s.putObject(k.policy.reduceObject(l, k.current.need))
		case !s.coversNamespace(l.Meta.GetNamespace()), had && old.Same(l):
		case isNumber(l.Meta.GetResourceVersion()) && isNewer(l.Meta.GetResourceVersion(), s.passed):
			k.recordWriteLocked(l)
		}
	}
}
