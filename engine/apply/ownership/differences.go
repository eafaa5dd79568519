package ownership

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// A Difference is a path at which the answer to an apply says something else
// than was sent. It never holds a value.
type Difference struct {
	Path string
	// Normalised says that the server only wrote the same in another way: an
	// equal quantity, a zero value left out, base64 without line ends.
	Normalised bool
	// Unset says that the value sent is zero, which the server takes for not set, so
	// that its default may stand there.
	Unset bool
}

// Differences lists, sorted by path, where answer, the object that the server
// gave back, differs from sent, the document applied. Only sent's paths are
// compared, so that defaults and other people's fields are no difference.
// Items of lists are matched by common key fields where they identify each
// item, else by their index.
func Differences(sent, answer map[string]any) []Difference {
	c := comparison{secret: sent["kind"] == "Secret" && sent["apiVersion"] == "v1"}
	c.compareFields(goFieldOf(sent), sent, answer)
	slices.SortFunc(c.found, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return c.found
}

type comparison struct {
	path   fieldpath.Path
	found  []Difference
	secret bool
}

// compareFields compares the fields of two maps.
func (c *comparison) compareFields(in goField, sent, answer map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if isIgnoredField(c.path, name) {
			continue
		}
		c.path = append(c.path, fieldElement(name))
		switch got, of := answer[name], in.fieldNamed(name); {
		case got == nil && sent[name] == nil:
		case got == nil:
			c.add(Difference{Normalised: isEmpty(sent[name]) || isZero(sent[name]) && of.mayOmit()})
		case isZero(sent[name]) && !isZero(got) && of.mayDefault():
			c.add(Difference{Unset: true})
		default:
			c.compareValues(of, sent[name], got)
		}
		c.path = c.path[:len(c.path)-1]
	}
}

// add records a difference at the path walked so far.
func (c *comparison) add(d Difference) {
	d.Path = formatPath(c.path)
	c.found = append(c.found, d)
}

// compareValues compares two values that are both there.
func (c *comparison) compareValues(of goField, sent, got any) {
	if isEmpty(sent) && isEmpty(got) {
		return
	}
	switch s := sent.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			c.compareFields(of, s, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			c.compareLists(of.itemField(), s, g)
			return
		}
	default:
		if sameScalar(sent, got) {
			return
		}
		c.add(Difference{Normalised: c.isNormalised(sent, got)})
		return
	}
	c.add(Difference{})
}

// compareLists compares lists: finalizers as a set that others may add to, items with key fields
// one by one, all others as they stand.
func (c *comparison) compareLists(of goField, sent, got []any) {
	if c.isAt("metadata", "finalizers") {
		for _, s := range sent {
			if !slices.ContainsFunc(got, func(g any) bool { return sameScalar(s, g) }) {
				c.add(Difference{})
				return
			}
		}
		return
	}
	if keys := identifyingKeys(sent, got); keys != nil {
		c.compareByKey(of, sent, got, keys)
		return
	}
	if len(sent) != len(got) {
		c.add(Difference{})
		return
	}
	for i := range sent {
		c.path = append(c.path, fieldpath.PathElement{Index: &i})
		c.compareValues(of, sent[i], got[i])
		c.path = c.path[:len(c.path)-1]
	}
}

// compareByKey compares lists whose items have keys.
func (c *comparison) compareByKey(of goField, sent, got []any, keys []string) {
	for _, item := range sent {
		m := item.(map[string]any)
		given := givenKeys(m, keys)
		g, ok := findCounterpart(got, m, given)
		c.path = append(c.path, fieldpath.PathElement{Key: &given})
		if ok {
			c.compareValues(of, m, g)
		} else {
			c.add(Difference{})
		}
		c.path = c.path[:len(c.path)-1]
	}
}

// findCounterpart finds the item of got that is m, whose keys are given. A port without protocol is
// one of TCP, if there is one.
func findCounterpart(got []any, m map[string]any, given value.FieldList) (any, bool) {
	if m["port"] != nil || m["containerPort"] != nil {
		full := append(given.Copy(), value.Field{Name: "protocol", Value: value.NewValueInterface("TCP")})
		if g, ok := findByKeys(got, fieldpath.PathElement{Key: &full}); ok && m["protocol"] == nil {
			return g, true
		}
	}
	return findByKeys(got, fieldpath.PathElement{Key: &given})
}

// isAt reports whether the path walked so far is exactly that of these fields.
func (c *comparison) isAt(names ...string) bool {
	if len(c.path) != len(names) {
		return false
	}
	for i, name := range names {
		if !isField(c.path[i], name) {
			return false
		}
	}
	return true
}

// keySets are the key fields of the associative lists of Kubernetes, those
// that identify best first.
var keySets = [][]string{
	{"name"}, {"containerPort", "protocol"}, {"port", "protocol"}, {"key"}, {"uid"}, {"ip"},
	{"type"}, {"mountPath"}, {"devicePath"}, {"topologyKey"},
}

// identifyingKeys returns the key fields that tell the items of both lists apart, or nil if there
// are none. The first of a set must be in every item.
func identifyingKeys(sent, got []any) []string {
	for _, keys := range keySets {
		if areDistinct(sent, keys) && areDistinct(got, keys) {
			return keys
		}
	}
	return nil
}

// areDistinct reports whether these keys tell the items of a list apart.
func areDistinct(list []any, keys []string) bool {
	seen := make(map[[2]any]bool, len(list))
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok || m[keys[0]] == nil {
			return false
		}
		id := [2]any{scalarKey(m[keys[0]])}
		if len(keys) > 1 {
			id[1] = scalarKey(m[keys[1]])
		}
		if id[0] == nil || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// scalarKey is v as a map's key, nil if it is a collection.
func scalarKey(v any) any {
	if n, ok := toNumber(v); ok {
		return n
	}
	if isCollection(v) {
		return nil
	}
	return v
}
