package observe

import "k8s.io/apimachinery/pkg/types"

// An outbox collects, under a kind's mutex, what is to be told after it is
// unlocked.
type outbox struct {
	keeper   keeper
	changed  map[owner]bool
	synced   bool
	troubled bool
	trouble  error // what is wrong now
	mute     bool  // a feed that is not the current one changes nothing yet
}

// change tells whom it concerns that an object is, or was, like this.
func (o *outbox) change(l Live) {
	if !o.mute {
		o.add(o.keeper.concerned(l))
	}
}

func (o *outbox) add(all []owner) {
	for _, whose := range all {
		if whose == (owner{}) {
			continue
		}
		if o.changed == nil {
			o.changed = map[owner]bool{}
		}
		o.changed[whose] = true
	}
}

// differences tells whom whatever differs between two views concerns.
func (o *outbox) differences(before, after map[types.NamespacedName]Live) {
	for key, b := range before {
		a, still := after[key]
		if !still || !a.same(b) {
			o.change(b)
		}
	}
	for key, a := range after {
		b, had := before[key]
		if !had || !a.same(b) {
			o.change(a)
		}
	}
}

// turned tells how the state of a kind became another.
func (o *outbox) turned(before, after State) {
	o.trouble = after.Err
	o.troubled = text(after.Err) != text(before.Err)
	if before.Phase != after.Phase || o.troubled && after.Phase != Synced {
		o.add(o.keeper.everybody())
	}
}
