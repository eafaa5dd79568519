package funcs

import (
	"errors"
	"maps"
	"slices"
)

var dictFuncs = map[string]any{
	"dict":     makeDict,
	"set":      setKey,
	"unset":    unsetKey,
	"keys":     sized{1, -1, listKeys},
	"values":   listValues,
	"pluck":    pluckKey,
	"pick":     pickKeys,
	"omit":     omitKeys,
	"deepCopy": deepCopy, "mustDeepCopy": deepCopy,
}

// makeDict makes a map of keys and values in turn; of equal keys the last counts.
func makeDict(lim Limits, pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, wrapArgument(len(pairs)-1, errors.New("is a key without a value"))
	}
	value := func(i int) any { return pairs[2*i+1] }
	if err := fitsNodesOf(lim, len(pairs)/2, value); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, wrapArgument(i, mustBe("a string, the key of a map", pairs[i]))
		}
		out[key] = pairs[i+1]
	}
	return out, nil
}

// setKey gives a copy of the map with one more entry.
func setKey(lim Limits, m map[string]any, key string, v any) (map[string]any, error) {
	if err := fitsNodes(lim, m, v); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	out[key] = v
	return out, nil
}

// unsetKey gives a copy of the map without one entry.
func unsetKey(m map[string]any, key string) map[string]any {
	return omitKeys(m, key)
}

// listKeys gives the keys of all maps, sorted.
func listKeys(lim Limits, dicts ...any) ([]any, error) {
	var out []string
	for i, v := range dicts {
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, wrapArgument(i, mustBe("a map", v))
		}
		if len(out)+len(m) >= lim.Nodes {
			return nil, tooMany(lim)
		}
		out = slices.AppendSeq(out, maps.Keys(m))
	}
	slices.Sort(out)
	return anyList(out), nil
}

// listValues gives the values in the order of their keys.
func listValues(m map[string]any) []any {
	out := make([]any, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[key])
	}
	return out
}

// pluckKey gives what the maps have under a key.
func pluckKey(lim Limits, key string, dicts ...any) ([]any, error) {
	out := []any{}
	for i, v := range dicts {
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, wrapArgument(i+1, mustBe("a map", v))
		}
		if v, ok := m[key]; ok {
			out = append(out, v)
		}
	}
	return out, fitsNodes(lim, out...)
}

func pickKeys(m map[string]any, wanted ...string) map[string]any {
	out := map[string]any{}
	for _, key := range wanted {
		if v, ok := m[key]; ok {
			out[key] = v
		}
	}
	return out
}

func omitKeys(m map[string]any, unwanted ...string) map[string]any {
	out := make(map[string]any, len(m))
	maps.Copy(out, m)
	for _, key := range unwanted {
		delete(out, key)
	}
	return out
}

// deepCopy gives its argument: no function changes a value, so none needs a
// copy.
func deepCopy(v any) any { return v }
