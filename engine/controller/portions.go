package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A portion is a kind's resources in one namespace, or in all, as far as this process is
// to know them. Each has a watch of its own, so that a namespace which is gone, or in
// which the operator has no rights any more, keeps nobody from the others.
//
// It is client-go's reflector over a store of its own, since an informer cannot come to
// know more or less than at first.
type portion struct {
	namespace string // "": all
	// source is where what is selected comes from.
	source func(replicas.Selection) cache.ListerWatcher
	// told is called when a trouble came or went.
	told    func()
	trouble atomic.Pointer[trouble]

	// delivering is held while a change is taken and told of, so that changes are told of
	// in their order; mu is taken after it, and held by nobody who is told.
	delivering sync.Mutex
	mu         sync.Mutex
	items      map[cache.ObjectName]*live.Packed
	synced     bool
	// selected is what items are all of, and wanted what they are to be; chosen ends the
	// watch of what was wanted before.
	selected, wanted choice
	chosen           context.CancelFunc
	follower         cache.ResourceEventHandler
}

// A trouble is why resources could not be listed or watched, and when.
type trouble struct {
	err error
	at  time.Time
}

// fresh is how long a trouble counts that did not come again: a cache tries again
// at least every half a minute.
const fresh = 2 * time.Minute

// failed notes a trouble.
func (p *portion) failed(err error) { p.trouble.Store(&trouble{err, time.Now()}) }

// forbidden reports whether the resources may not be listed as far as is known.
func (p *portion) forbidden() bool {
	t := p.trouble.Load()
	return t != nil && apierrors.IsForbidden(t.err) && (!p.hasSynced() || time.Since(t.at) < fresh)
}

// portions are a kind's resources, as far as they are known.
type portions []*portion

var _ reconcile.Resources = portions{}

// Get returns a resource, decoded anew. What is in a namespace that is not served is
// not found, and what is not known is an error.
func (all portions) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	resource, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("reading a resource: into a %T", into)
	}
	o, err := all.find(name)
	if err != nil {
		return err
	}
	if o == nil {
		gvk := into.GetObjectKind().GroupVersionKind()
		return apierrors.NewNotFound(apischema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, name.Name)
	}
	unpacked, err := o.Unpack()
	if err == nil {
		resource.Object = unpacked.Object
	}
	return err
}

// find returns a resource as the cache has it, nil if there is none of that name. The
// error says that it is not known.
func (all portions) find(name client.ObjectKey) (*live.Packed, error) {
	for _, p := range all {
		switch {
		case p.namespace != "" && p.namespace != name.Namespace:
		default:
			o, known := p.get(cache.NewObjectName(name.Namespace, name.Name))
			if !known {
				return nil, errors.New("they have not been listed yet")
			}
			return o, nil
		}
	}
	return nil, nil
}

// all returns the resources that are known.
func (all portions) all() (known []*live.Packed) {
	for _, p := range all {
		known = append(known, p.all()...)
	}
	return known
}

// listed reports whether the resources are known, but for those in namespaces in
// which they may not be listed.
func (all portions) listed() bool {
	some := false
	for _, p := range all {
		if !p.hasSynced() && !p.forbidden() {
			return false
		}
		some = some || p.hasSynced()
	}
	return some
}

// lists reports whether resources are being listed, and nothing is known to be wrong with
// that.
func (all portions) lists() bool {
	return slices.ContainsFunc(all, func(p *portion) bool { return !p.has(p.choice()) && p.trouble.Load() == nil })
}

// troubles says in which namespaces the resources may not be listed, and why.
func (all portions) troubles() (text string, n int) {
	var texts []string
	for _, p := range all {
		if !p.forbidden() {
			continue
		}
		where := "resources"
		if p.namespace != "" {
			where += " in namespace " + p.namespace
		}
		texts = append(texts, where+" cannot be listed: "+p.trouble.Load().err.Error())
	}
	return strings.Join(texts, "; "), len(texts)
}

// begin watches until ctx ends.
func (all portions) begin(ctx context.Context) {
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() { p.run(ctx) })
	}
	running.Wait()
}

// choose says what is to be known from now on. What is known stays so until that has been
// listed.
func (all portions) choose(wanted choice) {
	for _, p := range all {
		p.choose(wanted)
	}
}

// have reports whether the resources that were chosen last are known, but for those in
// namespaces in which they may not be listed.
func (all portions) have() bool {
	return !slices.ContainsFunc(all, func(p *portion) bool { return !p.has(p.choice()) && !p.forbidden() })
}

// chose reports whether just these resources are known, with the same exception.
func (all portions) chose(wanted choice) bool {
	return !slices.ContainsFunc(all, func(p *portion) bool { return !p.has(wanted) && !p.forbidden() })
}
