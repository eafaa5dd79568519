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
	changes  []Change // in their order, where a policy needs more than owners
	synced   bool
	troubled bool
	trouble  error // what is wrong now
	// otherTrouble: it was something else before, or nothing.
	otherTrouble bool
	mute         bool // a watch that is not the current one changes nothing yet
	isFirst      bool // what changes was in the first list
}

// addChange adds what follows from a change of an object.
func (o *notifications) addChange(c Change) {
	if c.IsFirst = o.isFirst; !o.mute {
		o.policy.noteChange(o, c)
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

// addDifferences adds what follows from the differences between two views.
func (o *notifications) addDifferences(before, after map[types.NamespacedName]live.Object, isSame func(a, b live.Object) bool) {
	for key, b := range before {
		if a, still := after[key]; !still || !isSame(a, b) {
			o.addChange(Change{Before: b, After: a})
		}
	}
	for key, a := range after {
		if _, had := before[key]; !had {
			o.addChange(Change{After: a})
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
