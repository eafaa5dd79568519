package status

// Same reports whether every field of desired is in live with the same value, and
// none of the conditions and children that only the engine writes is left over
// there. What status.yaml no longer says is not seen: that shows in the fields
// of our entry in managedFields. Numbers are compared as
// numbers, conditions by their type, other lists exactly; lastTransitionTime is
// ignored where the condition's status is the same.
func Same(desired, live map[string]any) bool {
	for name, want := range desired {
		if name == "conditions" {
			if l, ok := want.([]any); ok && !sameConditions(l, live) {
				return false
			}
			continue
		}
		got, ok := live[name]
		if !ok && want != nil || !within(want, got) {
			return false
		}
	}
	return !leftOver(desired, live)
}

// SameGeneration reports whether two statuses are about the same generation: of the
// fields that can tell, a CRD may declare either.
func SameGeneration(a, b map[string]any) bool {
	return sameScalar(a["observedGeneration"], b["observedGeneration"]) &&
		sameScalar(conditionOf(a, "Ready")["observedGeneration"], conditionOf(b, "Ready")["observedGeneration"])
}

// leftOver reports whether live still has something of the engine's that desired
// has no more.
func leftOver(desired, live map[string]any) bool {
	for _, kind := range transient {
		if conditionOf(live, kind) != nil && conditionOf(desired, kind) == nil {
			return true
		}
	}
	l, _ := live["children"].([]any)
	return len(l) > 0 && desired["children"] == nil
}

func sameConditions(desired []any, live map[string]any) bool {
	for _, item := range desired {
		want, ok := item.(map[string]any)
		if !ok {
			return false
		}
		got := conditionOf(live, text(want, "type"))
		if got == nil || text(got, "status") != text(want, "status") {
			return false
		}
		for name, v := range want {
			if name != "lastTransitionTime" && !within(v, got[name]) {
				return false
			}
		}
	}
	return true
}

// within reports whether want is in got: maps by their fields, lists exactly.
func within(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, v := range w {
			if part, there := g[name]; !there && v != nil || !within(v, part) {
				return false
			}
		}
		return true
	case []any:
		return equalLists(w, got)
	}
	return sameScalar(want, got)
}

func equalLists(want []any, got any) bool {
	g, ok := got.([]any)
	if !ok || len(g) != len(want) {
		return false
	}
	for i := range want {
		if !equal(want[i], g[i]) {
			return false
		}
	}
	return true
}

// equal reports whether two items of a list are the same: one within the other,
// both ways.
func equal(a, b any) bool { return within(a, b) && within(b, a) }

func sameScalar(a, b any) bool {
	x, isInt := a.(int64)
	y, isIntToo := b.(int64)
	if isInt && isIntToo {
		return x == y
	}
	f, ok := float(a)
	g, okToo := float(b)
	if ok || okToo {
		return ok && okToo && f == g
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}
