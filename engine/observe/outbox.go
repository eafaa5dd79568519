package observe

import "k8s.io/apimachinery/pkg/types"

// An outbox collects, under a kind's mutex, what is to be told after it is
// unlocked.
type outbox struct {
	changed  map[owner]bool
	synced   bool
	troubled bool
	mute     bool // a feed that is not the current one changes nothing yet
}

func (o *outbox) change(whose owner) {
	if o.mute || whose == (owner{}) {
		return
	}
	if o.changed == nil {
		o.changed = map[owner]bool{}
	}
	o.changed[whose] = true
}

// differences tells the owners of whatever differs between two views.
func (o *outbox) differences(before, after map[types.NamespacedName]Live) {
	for key, b := range before {
		a, still := after[key]
		if !still || !a.same(b) {
			o.change(b.owner())
		}
	}
	for key, a := range after {
		b, had := before[key]
		if !had || !a.same(b) {
			o.change(a.owner())
		}
	}
}
