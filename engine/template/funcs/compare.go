package funcs

import (
	"cmp"
	"fmt"
	"math"
)

var compareFuncs = map[string]any{
	"eq":        sized{2, -1, eq},
	"ne":        ne,
	"lt":        ordered(func(c int) bool { return c < 0 }),
	"le":        ordered(func(c int) bool { return c <= 0 }),
	"gt":        ordered(func(c int) bool { return c > 0 }),
	"ge":        ordered(func(c int) bool { return c >= 0 }),
	"deepEqual": equal,
}

// eq reports whether the first argument equals any of the others.
func eq(args ...any) (bool, error) {
	for _, other := range args[1:] {
		same, err := same(args[0], other)
		if same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func ne(a, b any) (bool, error) {
	same, err := same(a, b)
	return !same, err
}

// same is equal for values of one kind. Other kinds but nil are an error: such
// a comparison is a mistake that would never be true.
func same(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if group(a) != group(b) {
		return false, fmt.Errorf("cannot compare %s with %s", kind(a), kind(b))
	}
	return equal(a, b), nil
}

// group is the kind of a value where all numbers are of one kind.
func group(v any) string {
	if _, ok := v.(int64); ok {
		return kind(float64(0))
	}
	return kind(v)
}

// equal reports whether two values are the same. Numbers are the same by what
// they amount to: 1 and 1.0.
func equal(a, b any) bool {
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
		if !equal(a[i], b[i]) {
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
		if !ok || !equal(v, other) {
			return false
		}
	}
	return true
}

// ordered makes lt, le, gt and ge.
func ordered(want func(int) bool) func(a, b some) (bool, error) {
	return func(a, b some) (bool, error) {
		if a, ok := a.(string); ok {
			if b, ok := b.(string); ok {
				return want(cmp.Compare(a, b)), nil
			}
		}
		if group(a) != group(b) || group(a) != group(float64(0)) {
			return false, fmt.Errorf("cannot order %s and %s", kind(a), kind(b))
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
