package cluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// The notifications collect, under a kind's mutex, what is to be told after it is
// unlocked.
type notifications struct {
	policy   storePolicy
	changed  map[owner]bool
	synced   bool
	troubled bool
	trouble  error // what is wrong now
	// otherTrouble: it was something else before, or nothing.
	otherTrouble bool
	mute         bool // a watch that is not the current one changes nothing yet
}

// addChange adds whom it concerns that an object is, or was, like this.
func (o *notifications) addChange(l live.Object) {
	if !o.mute {
		o.add(o.policy.ownersOf(l))
	}
}

func (o *notifications) add(all []owner) {
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

// addDifferences adds whom the differences between two views concern.
func (o *notifications) addDifferences(before, after map[types.NamespacedName]live.Object) {
	for key, b := range before {
		a, still := after[key]
		if !still || !a.Same(b) {
			o.addChange(b)
		}
	}
	for key, a := range after {
		b, had := before[key]
		if !had || !a.Same(b) {
			o.addChange(a)
		}
	}
}

// addTransition adds whom a change of the state of a kind concerns.
func (o *notifications) addTransition(before, after live.State) {
	o.trouble = after.Err
	o.otherTrouble = errorText(after.Err) != errorText(before.Err)
	o.troubled = o.otherTrouble || after.Err != nil && before.Phase != after.Phase
	if before.Phase != after.Phase || o.troubled && after.Phase != live.Synced {
		o.add(o.policy.allReaders())
	}
}
