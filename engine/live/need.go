package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A Need is which fields of an object are needed, besides its metadata. It is the sorted
// paths of these fields, none of which is below another, so that equal needs are equal
// values.
type Need string

const (
	// Metadata is no field of the body at all.
	Metadata Need = ""
	// Readiness is what an object is judged by of whose kind nothing is known.
	Readiness Need = "spec" + betweenPaths + "status"
	// Identity is what says which object it is: a body with its kind, name and uid.
	Identity Need = "kind"
	// Body is the whole object, such as the data of a ConfigMap.
	Body Need = "*"
)

const (
	betweenPaths = "\n"
	betweenNames = "\t"
)

// alwaysKept are the paths that an unpacked object has in any case.
var alwaysKept = [][]string{
	{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "generation"},
	{"metadata", "deletionTimestamp"},
}

// NeedOf returns the need of the fields with these paths, which are names from the top of
// an object. A field whose name a Need cannot have is needed with all that is beside it.
func NeedOf(paths ...[]string) Need {
	var cut [][]string
	for _, path := range paths {
		if i := slices.IndexFunc(path, isUnfit); i >= 0 {
			path = path[:i]
		}
		if len(path) == 0 || slices.Equal(path, []string{"metadata"}) {
			return Body
		}
		if !slices.ContainsFunc(alwaysKept, func(kept []string) bool { return isBelow(path, kept) }) {
			cut = append(cut, path)
		}
	}
	slices.SortFunc(cut, slices.Compare[[]string])
	var texts []string
	var last []string
	for _, path := range cut {
		if last == nil || !isBelow(path, last) {
			texts, last = append(texts, strings.Join(path, betweenNames)), path
		}
	}
	return Need(strings.Join(texts, betweenPaths))
}

func isUnfit(name string) bool { return strings.ContainsAny(name, betweenPaths+betweenNames) }

// isBelow reports whether a path is another one or below it.
func isBelow(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// String returns the need as people write it.
func (n Need) String() string {
	switch n {
	case Metadata, Identity:
		return "metadata"
	case Body:
		return "the whole object"
	}
	return strings.NewReplacer(betweenPaths, ", ", betweenNames, ".").Replace(string(n))
}

// splitPaths returns the paths of a need that is neither Metadata nor Body.
func (n Need) splitPaths() [][]string {
	var all [][]string
	for text := range strings.SplitSeq(string(n), betweenPaths) {
		all = append(all, strings.Split(text, betweenNames))
	}
	return all
}

// Merge returns the need of what either needs.
func (n Need) Merge(o Need) Need {
	switch {
	case n == o || o == Metadata || n == Body:
		return n
	case n == Metadata || o == Body:
		return o
	}
	return NeedOf(slices.Concat(n.splitPaths(), o.splitPaths())...)
}

// Covers reports whether who has what n needs has all that o needs.
func (n Need) Covers(o Need) bool { return n.Merge(o) == n }

// Includes reports whether the field of a path is needed, or something below it.
func (n Need) Includes(path ...string) bool {
	switch n {
	case Metadata:
		return false
	case Body:
		return true
	}
	return slices.ContainsFunc(n.splitPaths(), func(p []string) bool { return isBelow(path, p) || isBelow(p, path) })
}

// pickJSON returns the JSON of an object with these fields alone; the paths are sorted. What
// is no object stays as it is.
func pickJSON(object json.RawMessage, paths [][]string) json.RawMessage {
	var all map[string]json.RawMessage
	if len(paths[0]) == 0 || utiljson.Unmarshal(object, &all) != nil || all == nil {
		return object
	}
	picked, err := json.Marshal(pickNames(all, paths, json.RawMessage("null"), pickJSON))
	if err != nil {
		return object
	}
	return picked
}

// pickFields returns what pickJSON does, of a value, which is shared.
func pickFields(value any, paths [][]string) any {
	all, isMap := value.(map[string]any)
	if len(paths[0]) == 0 || !isMap {
		return value
	}
	return pickNames(all, paths, nil, pickFields)
}

// pickNames picks of the fields of a map those with the first names of sorted paths. A map
// that is not empty stays so: of one without any of these fields the first name is kept.
func pickNames[V any](all map[string]V, paths [][]string, null V, pickBelow func(V, [][]string) V) map[string]V {
	picked := map[string]V{}
	for from, to := 0, 0; from < len(paths); from = to {
		name, below := paths[from][0], [][]string{}
		for ; to < len(paths) && paths[to][0] == name; to++ {
			below = append(below, paths[to][1:])
		}
		if value, found := all[name]; found {
			picked[name] = pickBelow(value, below)
		}
	}
	if len(picked) == 0 && len(all) > 0 {
		picked[slices.Min(slices.Collect(maps.Keys(all)))] = null
	}
	return picked
}
