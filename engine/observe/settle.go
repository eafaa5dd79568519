package observe

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var errUndiscovered = errors.New("discovery has not answered yet")

// settle brings the kinds that are watched in line with what is wanted and
// served.
func (c *Children) settle() {
	c.mu.Lock()
	wanted := map[schema.GroupVersionKind]Need{}
	for _, kinds := range c.holders {
		for gvk, need := range kinds {
			wanted[gvk] = max(wanted[gvk], need)
		}
	}
	for gvk, k := range c.kinds {
		if _, still := wanted[gvk]; !still {
			k.mu.Lock()
			k.forget()
			k.mu.Unlock()
			delete(c.kinds, gvk)
		}
	}
	tell := []func(){}
	for gvk, need := range wanted {
		k := c.kinds[gvk]
		if k == nil {
			k = &kind{gvk: gvk, children: c, stands: newStands(), unknown: errUndiscovered}
			c.kinds[gvk] = k
		}
		if c.ctx != nil && c.ctx.Err() == nil && c.served != nil {
			tell = append(tell, k.settle(need, c.served))
		}
	}
	c.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

// settle brings the watches of one kind in line; the function that it returns
// tells about it. It needs the mutex of Children.
func (k *kind) settle(need Need, served *Served) func() {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := text(k.trouble())
	r, found := served.Resource(k.gvk)
	k.phase, k.unknown = Unsynced, served.Unknown(k.gvk.Group)
	switch {
	case !found && k.unknown == nil:
		k.phase = NotServed
		k.forget()
	case !found:
	case watchable(r) != nil:
		k.unknown = watchable(r)
		k.forget()
	default:
		k.run(need, r)
	}
	after := k.trouble()
	started := before == errUndiscovered.Error() && after == nil
	o := &outbox{troubled: text(after) != before && !started}
	return func() { k.told(o, after) }
}

// run starts or replaces the feed where it does not give what is needed.
func (k *kind) run(need Need, r Resource) {
	if k.current != nil && (k.current.resource.GVR != r.GVR || k.current.resource.Namespaced != r.Namespaced) {
		k.forget()
	}
	if k.current != nil && !k.current.listings && k.current.need != need {
		k.current.stop()
		k.current = nil
	}
	if k.next != nil && k.next.need != need {
		k.next.stop()
		k.next = nil
	}
	switch {
	case k.current == nil:
		k.current = k.start(need, r)
	case k.current.need != need && k.next == nil:
		k.next = k.start(need, r)
	}
}
