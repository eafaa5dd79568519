package observe

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
)

// fetchLimit is how long one request for bodies may take.
const fetchLimit = 30 * time.Second

// fetch gets the bodies that a question lacks, again and again until it has
// them, nobody asks any more, or ctx ends.
func (i *interests) fetch(ctx context.Context, q *question) {
	for pauses := backOff(); ; sleep(ctx, pauses.Step()) {
		r, namespaces := i.lacks(ctx, q)
		for _, namespace := range namespaces {
			i.reads.fetching <- struct{}{}
			objects, err := i.kind.clients.answer(ctx, r, namespace, q.query)
			<-i.reads.fetching
			if ctx.Err() != nil {
				return
			}
			if i.fetched(q, r, objects, err); err != nil {
				break
			}
		}
		if i.ended(ctx, q) {
			return
		}
	}
}

// lacks returns where to ask for the bodies that a question still lacks.
func (i *interests) lacks(ctx context.Context, q *question) (Resource, []string) {
	k := i.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if !i.wanting(ctx, q) {
		return Resource{}, nil
	}
	if q.query.Namespace != "" || q.query.Name != "" {
		return k.current.resource, []string{q.query.Namespace}
	}
	var all []string
	for _, s := range k.current.shards {
		all = append(all, s.namespace)
	}
	return k.current.resource, all
}

// wanting says whether a question is still asked and lacks bodies; it needs
// the mutex.
func (i *interests) wanting(ctx context.Context, q *question) bool {
	return ctx.Err() == nil && i.kind.current != nil && i.question(q.query.asked()) == q && bodiless(i.kind.answers(q.query))
}

// ended says whether nothing is left to fetch. Then the readers are told, and
// whoever finds that a body is missing again has it fetched again.
func (i *interests) ended(ctx context.Context, q *question) bool {
	k := i.kind
	k.mu.Lock()
	if i.wanting(ctx, q) {
		k.mu.Unlock()
		return false
	}
	q.fetching, q.err = false, nil
	o := k.outbox()
	if ctx.Err() == nil {
		o.add(q.woken(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.told(o)
	return true
}

// fetched takes the server's answer and tells the readers of a trouble.
func (i *interests) fetched(q *question, r Resource, objects []unstructured.Unstructured, err error) {
	k := i.kind
	k.mu.Lock()
	o := k.outbox()
	if k.current != nil && k.current.resource.equal(r) {
		for n := range objects {
			k.fill(Live{GVK: k.scope.GroupVersionKind, Meta: &objects[n], Body: objects[n].Object})
		}
	}
	if err != nil && text(q.err) != text(err) {
		q.err = err
		o.add(q.woken(i.reads.tick.Add(1)))
	}
	k.mu.Unlock()
	k.told(o)
}

// answer sends a query to the server: a list also where it is about one object,
// so that no other right is needed than to watch.
func (c clients) answer(ctx context.Context, r Resource, namespace string, q Query) ([]unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	opts := metav1.ListOptions{LabelSelector: q.selector().String()}
	if q.Name != "" {
		opts = metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, q.Name).String()}
	}
	list, err := c.full(r.GVR, namespace).List(ctx, opts)
	switch {
	case err == nil:
		return list.Items, nil
	case apierrors.IsForbidden(err):
		return nil, &RuleError{Resource: r.GVR.GroupResource(), Namespace: namespace, Name: q.Name, Verbs: []string{"list"}, Err: err}
	}
	return nil, fmt.Errorf("fetching %s: %w", r.GVR.GroupResource(), steady(err))
}

// fill puts a body to what the watch knows. One that is newer stands in until
// the watch has caught up; one that is older is of no use. It needs the mutex.
func (k *kind) fill(l Live) {
	for _, s := range k.current.shards {
		old, had := s.items[l.key()]
		switch {
		case had && old.same(l) && old.Body == nil:
			s.put(k.keeper.keep(l, Body))
		case !s.covers(l.Meta.GetNamespace()), had && old.same(l):
		case numbered(l.Meta.GetResourceVersion()) && newer(l.Meta.GetResourceVersion(), s.passed):
			k.stand(l)
		}
	}
}
