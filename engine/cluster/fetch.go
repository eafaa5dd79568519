package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// fetchLimit is how long one request for bodies may take.
const fetchLimit = 30 * time.Second

// manyFetches is how many questions are worth listing as many objects as a page
// has: after a start all resources ask at once.
const manyFetches = 10

// fetch gets the bodies that a question lacks, again and again until it has
// them, nobody asks any more, or ctx ends.
func (i *readPolicy) fetch(ctx context.Context, q *question) {
	for pauses := backOff(); ; sleep(ctx, pauses.Step()) {
		if i.crowded() {
			i.sweep(ctx, q)
		} else {
			i.fetchOne(ctx, q)
		}
		if ctx.Err() != nil || i.ended(ctx, q) {
			return
		}
	}
}

// fetchOne asks for what one question lacks: for a list also where it is about
// one object, so that no other right is needed than to watch.
func (i *readPolicy) fetchOne(ctx context.Context, q *question) {
	i.reads.fetching <- struct{}{}
	defer func() { <-i.reads.fetching }()
	opts := metav1.ListOptions{LabelSelector: q.query.selector().String()}
	if q.query.Name != "" {
		opts = metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, q.query.Name).String()}
	}
	r, namespaces := i.lacks(ctx, q)
	if len(namespaces) > 0 && (q.query.Namespace != "" || q.query.Name != "") {
		namespaces = []string{q.query.Namespace}
	}
	for _, namespace := range namespaces {
		if _, done := i.takePage(ctx, q, &page{r, namespace, q.query.Name, opts}); !done {
			return
		}
	}
}

// crowded reports whether so many questions lack bodies that all objects are to be
// listed for them.
func (i *readPolicy) crowded() bool {
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

// sweep lists all objects, page by page, and takes of them what anybody asks
// for. Who waits meanwhile finds his question answered then.
func (i *readPolicy) sweep(ctx context.Context, q *question) {
	i.sweeping.Lock()
	defer i.sweeping.Unlock()
	i.reads.fetching <- struct{}{}
	defer func() { <-i.reads.fetching }()
	r, namespaces := i.lacks(ctx, q)
	for _, namespace := range namespaces {
		all := &page{resource: r, namespace: namespace, opts: metav1.ListOptions{Limit: pageSize}}
		for more := true; more; more = all.opts.Continue != "" {
			next, done := i.takePage(ctx, q, all)
			if !done {
				return
			}
			all.opts.Continue = next
		}
	}
}

// lacks returns how and in which namespaces a kind is watched of which a question
// still lacks bodies; nothing if it lacks none.
func (i *readPolicy) lacks(ctx context.Context, q *question) (live.Resource, []string) {
	k := i.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if !i.wanting(ctx, q) {
		return live.Resource{}, nil
	}
	var all []string
	for _, s := range k.current.stores {
		if s.synced {
			all = append(all, s.namespace)
		}
	}
	return k.current.resource, all
}

// wanting reports whether a question is still asked and lacks bodies; it needs
// the mutex.
func (i *readPolicy) wanting(ctx context.Context, q *question) bool {
	return ctx.Err() == nil && i.kind.current != nil && i.question(q.query.asked()) == q && bodiless(i.kind.answers(q.query))
}

// ended reports whether nothing is left to fetch. Then the readers are told, and
// whoever finds that a body is missing again has it fetched again.
func (i *readPolicy) ended(ctx context.Context, q *question) bool {
	k := i.kind
	k.mu.Lock()
	if i.wanting(ctx, q) {
		k.mu.Unlock()
		return false
	}
	q.fetching, q.err = false, nil
	i.fetching--
	o := k.notifications()
	if ctx.Err() == nil {
		o.add(q.woken(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.notified(o)
	return true
}

// A page is a list of whole objects.
type page struct {
	resource        live.Resource
	namespace, name string // no name: whatever it is
	opts            metav1.ListOptions
}

// takePage takes of a page what somebody asks for, and says what is next. If it is
// not done, there is a trouble, which the readers are told of.
func (i *readPolicy) takePage(ctx context.Context, q *question, p *page) (next string, done bool) {
	k := i.kind
	list, err := k.clients.bodies(ctx, p)
	if ctx.Err() != nil {
		return "", false
	}
	k.mu.Lock()
	o := k.notifications()
	if err == nil && k.current != nil && k.current.resource.Equal(p.resource) {
		for n := range list.Items {
			l := live.Object{GVK: k.scope.GroupVersionKind, Meta: &list.Items[n], Body: list.Items[n].Object}
			if i.asked(l) {
				k.fill(l)
			}
		}
	}
	if err != nil && text(q.err) != text(err) {
		q.err = err
		o.add(q.woken(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.notified(o)
	if err != nil {
		return "", false
	}
	return list.GetContinue(), true
}

func (c clients) bodies(ctx context.Context, p *page) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	list, err := c.full(p.resource.GVR, p.namespace).List(ctx, p.opts)
	what := p.resource.GVR.GroupResource()
	switch {
	case err == nil:
		return list, nil
	case apierrors.IsForbidden(err):
		return nil, &live.RuleError{Resource: what, Namespace: p.namespace, Name: p.name, Verbs: []string{"list"}, Err: err}
	}
	return nil, fmt.Errorf("fetching %s: %w", what, Steady(err))
}

// fill puts a body to what the watch knows. One that is newer stands in until
// the watch has caught up; one that is older is of no use. It needs the mutex.
func (k *kind) fill(l live.Object) {
	for _, s := range k.current.stores {
		old, had := s.items[l.Key()]
		switch {
		case had && old.Same(l) && old.Body == nil:
			s.put(k.policy.keep(l, live.Body))
		case !s.covers(l.Meta.GetNamespace()), had && old.Same(l):
		case numbered(l.Meta.GetResourceVersion()) && newer(l.Meta.GetResourceVersion(), s.passed):
			k.overlaid(l)
		}
	}
}
