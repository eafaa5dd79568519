package ownership

import "reflect"

// sameScalar reports whether two values are equal, where numbers are compared as
// numbers.
func sameScalar(a, b any) bool {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		return ok && s == t
	}
	if x, ok := toNumber(a); ok {
		y, ok := toNumber(b)
		return ok && x == y && sameInt(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// sameInt compares integers as such: float64 loses those beyond 2^53.
func sameInt(a, b any) bool {
	x, ok := a.(int64)
	if !ok {
		return true
	}
	y, ok := b.(int64)
	return !ok || x == y
}

// toNumber returns a number as a float64.
func toNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int32:
		return float64(v), true
	}
	return 0, false
}
