package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A resource is one custom resource over time; now is nil while it is not there.
type resource struct {
	kind, namespace, name string
	now                   *spec
}

func (r *resource) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(apischema.GroupVersionKind{Group: group, Version: "v1", Kind: titleOf(r.kind)})
	o.SetNamespace(r.namespace)
	o.SetName(r.name)
	return o
}

// A person edits some of the resources, one at a time.
type person struct {
	*world
	dice      *rand.Rand
	resources []*resource
}

// live makes edits until the context ends.
func (p *person) live(ctx context.Context) {
	for ctx.Err() == nil {
		r := p.resources[p.dice.IntN(len(p.resources))]
		switch n := p.dice.IntN(20); {
		case r.now == nil:
			p.put(ctx, r, p.some())
		case n == 0:
			p.remove(ctx, r)
		case n == 1:
			p.deleteChild(ctx, r)
		case n == 2:
			p.stripChild(ctx, r)
		default:
			p.put(ctx, r, p.changed(*r.now))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(p.dice.IntN(200)) * time.Millisecond):
		}
	}
}

// some is what a new resource says.
func (p *person) some() spec {
	return spec{text: p.word(), items: p.items(), open: true}
}

// changed is what a resource says next.
func (p *person) changed(s spec) spec {
	switch p.dice.IntN(4) {
	case 0:
		s.items = p.items()
	case 1:
		s.open = !s.open
	case 2:
		s.moved, s.open = !s.moved, p.dice.IntN(2) == 0
	default:
		s.text = p.word()
	}
	return s
}

func (p *person) word() string { return fmt.Sprintf("t%d", p.dice.IntN(1000)) }

func (p *person) items() (all []string) {
	for _, item := range []string{"a", "b", "c", "d"} {
		if p.dice.IntN(2) == 0 {
			all = append(all, item)
		}
	}
	return all
}

// insist sends a request until the server has surely carried it out.
func (w *world) insist(ctx context.Context, what string, send func(context.Context) error) {
	for ctx.Err() == nil {
		each, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := send(each)
		cancel()
		if err == nil {
			return
		}
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			w.t.Errorf("%s: %v", what, err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// put creates a resource or changes its spec. Edits go to the end even when the
// time is over, so that what is there is known.
func (w *world) put(_ context.Context, r *resource, s spec) {
	ctx := context.Background()
	w.model.came(r)
	w.model.edit(r, &s)
	o := r.object()
	o.Object["spec"] = s.object()
	body, err := o.MarshalJSON()
	if err != nil {
		w.t.Error(err)
		return
	}
	w.insist(ctx, "writing "+r.name, func(ctx context.Context) error {
		return w.admin.Patch(ctx, r.object(), client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("people"), client.ForceOwnership)
	})
	r.now = &s
}

// remove deletes a resource and waits until it is gone, for as long as the
// chaos lasts; the end of the test waits as well.
func (w *world) remove(ctx context.Context, r *resource) {
	w.model.edit(r, nil)
	w.insist(context.Background(), "deleting "+r.name, func(ctx context.Context) error {
		return client.IgnoreNotFound(w.admin.Delete(ctx, r.object()))
	})
	w.insist(ctx, "waiting for the end of "+r.name, func(ctx context.Context) error {
		err := w.admin.Get(ctx, client.ObjectKeyFromObject(r.object()), r.object())
		if err == nil {
			return fmt.Errorf("%s is still there", r.name)
		}
		return client.IgnoreNotFound(err)
	})
	r.now = nil
}

// child is a child of the resource that is always wanted.
func (r *resource) child() *unstructured.Unstructured {
	suffix := map[string]string{"row": "", "vault": "-seen", "gate": "-first", "outpost": "-first", "graft": "-first", "stone": "-stone"}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	if r.kind == "row" {
		o.SetKind("Service")
	}
	o.SetNamespace(r.namespace)
	o.SetName(r.name + suffix[r.kind])
	return o
}

func (p *person) deleteChild(ctx context.Context, r *resource) {
	_ = p.admin.Delete(ctx, r.child()) // somebody tries, and may fail
}

func (p *person) stripChild(ctx context.Context, r *resource) {
	body := fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, api.LabelOwnerUID)
	_ = p.admin.Patch(ctx, r.child(), client.RawPatch(types.MergePatchType, body)) // somebody tries, and may fail
}
