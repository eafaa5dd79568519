package kind

import (
	"slices"
	"strconv"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// ownershipPatch is what documents and retired kinds say of patches.
const ownershipPatch = "patch"

// GVK is the kind that the rule is about.
func (r RetiredRule) GVK() apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// Patch reports whether objects of the kind were patched, not made.
func (r RetiredRule) Patch() bool { return r.Ownership == ownershipPatch }

// Retires reports whether kind.yaml retires a kind that earlier folders made, or
// patched, in whatever version.
func (k *Kind) Retires(gk apischema.GroupKind, patched bool) bool {
	return slices.ContainsFunc(k.Settings.Retired, func(r RetiredRule) bool {
		return r.GVK().GroupKind() == gk && r.Patch() == patched
	})
}

// String returns the rule as a line of kind.yaml has it.
func (r RetiredRule) String() string {
	text := "{apiVersion: " + r.APIVersion + ", kind: " + r.Kind
	switch {
	case r.Namespaces.Rendered:
		text += ", namespaces: rendered"
	case r.Namespaces.Listed != nil:
		text += ", namespaces: [" + strings.Join(r.Namespaces.Listed, ", ") + "]"
	}
	if r.Patch() {
		text += ", ownership: " + r.Ownership
	}
	if r.Subresource != "" {
		text += ", subresource: " + r.Subresource
	}
	return text + "}"
}

// coversRule reports whether an entry keeps the rights that another one would.
func (r RetiredRule) coversRule(o RetiredRule) bool {
	return r.entryOf() == o.entryOf() && (r.Namespaces.Rendered || !o.Namespaces.Rendered &&
		!slices.ContainsFunc(o.Namespaces.Listed, func(namespace string) bool { return !slices.Contains(r.Namespaces.Listed, namespace) }))
}

// An entry is what an entry of retired names, in whatever version: there is one
// for each.
type entry struct {
	apischema.GroupKind
	ownership, subresource string
}

// entryOf returns what the rule is about.
func (r RetiredRule) entryOf() entry {
	return entry{r.GVK().GroupKind(), r.Ownership, r.Subresource}
}

// RetiredPlace is where an entry of retired stands in kind.yaml.
func (k *Kind) RetiredPlace(i int) template.Place { return k.written[retiredPath(i)] }

// A Dropped is what a folder made or patched and a later one neither does nor
// retires: the entry of retired that is lacking, and where it was made.
type Dropped struct {
	RetiredRule
	Place template.Place
}

// Dropped are what an earlier folder of the kind made or patched and this one
// neither does nor retires, in the order of their kinds.
func (k *Kind) Dropped(earlier *Kind) []Dropped {
	var all []Dropped
	for _, d := range earlier.listDroppable() {
		_, still := k.findMaker(d.RetiredRule)
		if !still && !slices.ContainsFunc(k.Settings.Retired, func(r RetiredRule) bool { return r.coversRule(d.RetiredRule) }) {
			all = append(all, d)
		}
	}
	return all
}

// listDroppable returns what the folder makes and patches, as it would be retired, each once.
func (k *Kind) listDroppable() []Dropped {
	var all []Dropped
	seen := map[entry]bool{}
	add := func(gvk apischema.GroupVersionKind, d Dropped) {
		d.APIVersion, d.Kind = gvk.GroupVersion().String(), gvk.Kind
		d.Namespaces, _ = k.Placement(gvk)
		if is := d.entryOf(); !seen[is] {
			seen[is] = true
			all = append(all, d)
		}
	}
	for _, c := range k.Children {
		add(c.GroupVersionKind, Dropped{Place: c.Place})
	}
	for _, d := range k.Documents {
		if d.Patch() {
			add(d.GroupVersionKind, Dropped{RetiredRule{Ownership: ownershipPatch, Subresource: d.Subresource()}, d.Start})
		}
	}
	return all
}

func retiredPath(i int) string { return "retired[" + strconv.Itoa(i) + "]" }

// findMaker returns where the folder still makes what an entry of retired names, or patches it.
func (k *Kind) findMaker(r RetiredRule) (at template.Place, does bool) {
	gk := r.GVK().GroupKind()
	if r.Patch() {
		i := slices.IndexFunc(k.Documents, func(d Document) bool {
			return d.Patch() && d.GroupKind() == gk && d.Subresource() == r.Subresource
		})
		if i < 0 {
			return at, false
		}
		return k.Documents[i].Start, true
	}
	i := slices.IndexFunc(k.Children, func(c Child) bool { return c.GroupKind() == gk })
	if i < 0 {
		return at, false
	}
	return k.Children[i].Place, true
}

// checkRetired checks the entries of retired.
func (c *settingsCheck) checkRetired() {
	first := map[entry]string{}
	for i, rule := range c.Retired {
		path := retiredPath(i)
		gvk, ok := c.parseKind(path, rule.APIVersion, rule.Kind)
		if !ok {
			continue
		}
		is := rule.entryOf()
		before, twice := first[is]
		at, does := c.kind.findMaker(rule)
		verb := "makes"
		if rule.Patch() {
			verb = "patches"
		}
		switch {
		case twice:
			c.addError(path, "%s names %s as %s does: make them one", path, gvk.Kind, before)
		case does:
			c.addError(path, "the folder still %s %s, at %s: take %s away", verb, gvk.Kind, at, path)
		case gvk.GroupKind() == c.own:
			c.addError(path, "a folder may not create its own kind %s", gvk.Kind)
		case isList(gvk):
			c.addError(path, "a List is not allowed: name the kind of its items")
		}
		first[is] = path
		c.retiredPatch(path, rule)
		c.checkPlaces(path, gvk, rule.Namespaces)
	}
}

func (c *settingsCheck) retiredPatch(path string, r RetiredRule) {
	switch {
	case r.Ownership != "" && !r.Patch():
		c.addError(path+".ownership", "%s.ownership can only be %s", path, ownershipPatch)
	case r.Subresource != "" && !r.Patch():
		c.addError(path+".subresource", "%s.subresource says what was patched: add ownership: %s", path, ownershipPatch)
	}
}
