package cluster

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// An anchor is something that an object must have to match a selector: a
// namespace and a label. Of 1,000 selectors in one namespace, an object is
// compared with just the few whose anchor it has.
type anchor struct {
	namespace  string // empty: any
	key, value string // empty: the selector asks for no certain value
}

func anchorOf(namespace string, s labels.Selector) anchor {
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		values := r.ValuesUnsorted()
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if len(values) == 1 {
				return anchor{namespace: namespace, key: r.Key(), value: values[0]}
			}
		}
	}
	return anchor{namespace: namespace}
}

// anchorsOf yields every anchor that an object has.
func anchorsOf(namespace string, has labels.Set) iter.Seq[anchor] {
	return func(yield func(anchor) bool) {
		for _, in := range []string{"", namespace} {
			if !yield(anchor{namespace: in}) {
				return
			}
			for key, value := range has {
				if !yield(anchor{namespace: in, key: key, value: value}) {
					return
				}
			}
			if namespace == "" {
				return
			}
		}
	}
}
