package funcs

import (
	"cmp"
	"fmt"
	"math"
)

var compareFuncs = map[string]any{
	"eq":        sized{2, -1, equalsAny},
	"ne":        notEqual,
	"lt":        makeOrder(func(c int) bool { return c < 0 }),
	"le":        makeOrder(func(c int) bool { return c <= 0 }),
	"gt":        makeOrder(func(c int) bool { return c > 0 }),
	"ge":        makeOrder(func(c int) bool { return c >= 0 }),
	"deepEqual": areEqual,
}

// equalsAny reports whether the first argument equals any of the others.
func equalsAny(args ...any) (bool, error) {
	for _, other := range args[1:] {
		same, err := areSame(args[0], other)
		if same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func notEqual(a, b any) (bool, error) {
	same, err := areSame(a, b)
	return !same, err
}

// areSame is equal for values of one kind. Other kinds but nil are an error: such
// a comparison is a mistake that would never be true.
func areSame(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if groupOf(a) != groupOf(b) {
		return false, fmt.Errorf("cannot compare %s with %s", kindName(a), kindName(b))
	}
	return areEqual(a, b), nil
}

// groupOf is the kind of a value where all numbers are of one kind.
func groupOf(v any) string {
	if _, ok := v.(int64); ok {
		return kindName(float64(0))
	}
	return kindName(v)
}

// areEqual reports whether two values are the same. Numbers are the same by what
// they amount to: 1 and 1.0.
func areEqual(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case int64, float64:
		switch b.(type) {
		case int64, float64:
			return compareNumbers(a, b) == 0
		}
		return false
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !areEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range a {
		other, ok := b[key]
		if !ok || !areEqual(v, other) {
			return false
		}
	}
	return true
}

// makeOrder makes lt, le, gt and ge.
func makeOrder(want func(int) bool) func(a, b some) (bool, error) {
	return func(a, b some) (bool, error) {
		if a, ok := a.(string); ok {
			if b, ok := b.(string); ok {
				return want(cmp.Compare(a, b)), nil
			}
		}
		if groupOf(a) != groupOf(b) || groupOf(a) != groupOf(float64(0)) {
			return false, fmt.Errorf("cannot order %s and %s", kindName(a), kindName(b))
		}
		return want(compareNumbers(a, b)), nil
	}
}

// compareNumbers compares int64 and float64 without rounding either.
func compareNumbers(a, b any) int {
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
		return compareMixed(a, b.(float64))
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
		return -compareMixed(b.(int64), a)
	}
	return 0
}

func compareMixed(n int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63 || f != f:
		return 1
	}
	down := math.Floor(f)
	if c := cmp.Compare(n, int64(down)); c != 0 || f == down {
		return c
	}
	return -1
}
