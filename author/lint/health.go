package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/status/health"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// checkHealth checks the health expressions of the folder and of its root. It also finds kinds of
// children that need one.
func (l *linter) checkHealth() {
	for _, e := range l.kind.HealthEntries {
		l.healthFields(e)
		for _, call := range e.EmptyAlls() {
			l.add(InvalidHealth, e.PlaceOf(call.Field, call.Offset),
				"filter(…).all(…) is true if filter finds nothing, as for a new object: write exists, or ask for size(…) > 0 too")
		}
	}
	for _, c := range l.kind.Children {
		if why := l.waitsFor(c.GroupVersionKind); why != "" && l.isForeign(c.GroupVersionKind) {
			l.add(UnknownHealth, c.Place, fmt.Sprintf("it is not known when a %s %s is ready, and %s: add this to healthCheckExprs in kind.yaml: %s",
				c.Kind, c.GroupVersion(), why, l.proposedEntry(c.GroupVersionKind)))
		}
	}
}

// healthFields finds fields that an entry reads and no kind that it decides for has.
func (l *linter) healthFields(e kind.HealthEntry) {
	types := map[apischema.GroupVersionKind]*schema.Type{}
	for _, gvk := range l.renderedKinds() {
		if l.kind.Health.FindAuthored(gvk.GroupKind()) != e.Rule {
			continue
		}
		t := l.catalog.Type(gvk)
		if t == nil {
			return // it may have any field
		}
		types[gvk] = t
	}
	byName := func(a, b apischema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) }
	sorted := slices.SortedFunc(maps.Keys(types), byName)
	for _, read := range e.Reads() {
		if read.Path[0] == "metadata" {
			continue // nobody's schema declares all of it
		}
		text := ""
		for _, gvk := range sorted {
			if text = missingField(types[gvk], gvk, read.Path); text == "" {
				break
			}
		}
		if text != "" {
			l.add(InvalidHealth, e.PlaceOf(read.Field, read.Offset), text)
		}
	}
}

// renderedKinds returns the kinds that the folder renders or patches.
func (l *linter) renderedKinds() []apischema.GroupVersionKind {
	var all []apischema.GroupVersionKind
	for _, c := range l.kind.Children {
		all = append(all, c.GroupVersionKind)
	}
	for _, d := range l.kind.Documents {
		all = append(all, d.GroupVersionKind)
	}
	return all
}

// missingField says that a type has no field of a path, and which one is meant; "" if it
// has, or may have.
func missingField(t *schema.Type, gvk apischema.GroupVersionKind, path health.Path) string {
	for i, name := range path {
		if name == health.Item {
			if t.Kind() != schema.KindList {
				return "" // of a map, these are its keys
			}
			t = t.Elem()
			continue
		}
		field, found := t.Field(name)
		if !found && len(t.Fields()) == 0 {
			return "" // a text or number: CEL says so
		}
		if !found {
			return describeUndeclared(gvk.Kind+" "+gvk.GroupVersion().String(), path[:i].String(), name, t)
		}
		t = field
	}
	return ""
}

// waitsFor says what waits until children of a kind are ready; "" if nothing does but
// Ready itself.
func (l *linter) waitsFor(gvk apischema.GroupVersionKind) string {
	for _, a := range l.kind.Asks {
		if a.Function == "await" && slices.Contains(l.kind.Makes(a.Args[0]), gvk) {
			return fmt.Sprintf("await %q waits for it", a.Args[0])
		}
	}
	if l.kind.SetsRollout() {
		return "a rollout waits for it"
	}
	return ""
}

// isForeign reports whether neither the operator nor an entry knows when objects of a
// kind are ready. A kind of the same roots reports Ready itself.
func (l *linter) isForeign(gvk apischema.GroupVersionKind) bool {
	crd, _ := l.catalog.Source(gvk.GroupKind())
	return !schema.BuiltIn(gvk) && !readiness.HasRule(gvk.GroupKind()) && l.catalog.Kinds[crd] == nil &&
		readiness.RuleFor(l.kind.Health, gvk.GroupKind()) == nil
}

// proposedEntry is an entry for a kind, as far as its schema shows what it reports.
func (l *linter) proposedEntry(gvk apischema.GroupVersionKind) string {
	current := "status.?conditions.orValue([]).exists(c, c.type == 'Ready' && c.status == 'True')"
	if t := l.catalog.Type(gvk); t != nil {
		status, _ := t.Field("status")
		_, conditions := status.Field("conditions")
		_, phase := status.Field("phase")
		switch {
		case status == nil || status.Kind() == schema.KindObject && len(status.Fields()) == 0:
			current = "true"
		case !conditions && phase:
			current = "status.?phase.orValue('') == 'Ready'"
		case !conditions:
			current = "has(status." + status.Fields()[0] + ")"
		}
	}
	return fmt.Sprintf("{apiVersion: %s, kind: %s, current: %q}", gvk.GroupVersion(), gvk.Kind, current)
}
