package shard

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
)

// areDisjoint reports whether no resource can belong to both shares, whatever its labels: they have
// no namespace in common, or they require of one label what cannot be true at once.
func areDisjoint(a, b Shard) bool {
	if len(a.Namespaces) > 0 && len(b.Namespaces) > 0 &&
		!slices.ContainsFunc(a.Namespaces, func(n string) bool { return slices.Contains(b.Namespaces, n) }) {
		return true
	}
	all := map[string]*values{}
	for _, s := range []Shard{a, b} {
		if !s.hasSelector() {
			continue
		}
		requirements, selectable := s.Selector.Requirements()
		if !selectable { // it matches nothing
			return true
		}
		for _, r := range requirements {
			v := all[r.Key()]
			if v == nil {
				v = &values{absent: true}
				all[r.Key()] = v
			}
			v.addRequirement(r)
		}
	}
	for _, v := range all {
		if v.areNone() {
			return true
		}
	}
	return false
}

// values are those that a label may have.
type values struct {
	// absent: the resource may be without the label.
	absent bool
	// among are the values it may have if it has the label, nil: any; but for
	// those of not.
	among sets.Set[string]
	not   sets.Set[string]
}

// addRequirement takes in one more requirement. Comparisons of numbers only require that the label
// is there.
func (v *values) addRequirement(r labels.Requirement) {
	switch given := sets.New(r.ValuesUnsorted()...); r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		v.absent = false
		v.restrictTo(given)
	case selection.NotIn, selection.NotEquals:
		v.not = v.not.Union(given)
	case selection.DoesNotExist:
		v.restrictTo(sets.New[string]())
	case selection.Exists, selection.GreaterThan, selection.LessThan:
		v.absent = false
	}
}

// restrictTo excludes all values but some.
func (v *values) restrictTo(given sets.Set[string]) {
	if v.among != nil {
		given = v.among.Intersection(given)
	}
	v.among = given
}

// areNone reports whether the label can neither have a value nor be absent.
func (v *values) areNone() bool {
	return !v.absent && v.among != nil && v.among.Difference(v.not).Len() == 0
}
