package funcs

import "maps"

var mergeFuncs = map[string]any{
	"merge": makeMerge(fillMap), "mustMerge": makeMerge(fillMap),
	"mergeOverwrite": makeMerge(overwriteMap), "mustMergeOverwrite": makeMerge(overwriteMap),
}

// mergedShare is the part of the limit of nodes that a merge may have: it is
// the one function that copies at every depth, and so also parts that were
// shared before.
const mergedShare = 4

// makeMerge makes a function that merges maps into the first, from left to right.
func makeMerge(into func(dst, src map[string]any) map[string]any) any {
	return func(lim Limits, dst map[string]any, srcs ...any) (map[string]any, error) {
		for i, v := range srcs {
			if _, ok := v.(map[string]any); !ok && v != nil {
				return nil, wrapArgument(i+1, mustBe("a map", v))
			}
		}
		lim.Nodes /= mergedShare
		if err := fitsNodes(lim, append([]any{dst}, srcs...)...); err != nil {
			return nil, err
		}
		for _, v := range srcs {
			src, _ := v.(map[string]any)
			dst = into(dst, src)
		}
		return dst, nil
	}
}

// fillMap adds what the first map lacks or has empty, at every depth of maps.
func fillMap(dst, src map[string]any) map[string]any {
	out := withRoom(dst, src)
	for key, v := range src {
		have, there := out[key]
		if below, ok := bothMaps(have, v); ok {
			if out[key] = fillMap(below[0], below[1]); isEmpty(out[key]) {
				out[key] = v
			}
			continue
		}
		if v != nil && (!there || isEmpty(have)) {
			out[key] = v
		}
	}
	return out
}

// overwriteMap takes what the second map has, at every depth of maps.
func overwriteMap(dst, src map[string]any) map[string]any {
	out := withRoom(dst, src)
	for key, v := range src {
		if below, ok := bothMaps(out[key], v); ok {
			out[key] = overwriteMap(below[0], below[1])
			continue
		}
		out[key] = v
	}
	return out
}

func bothMaps(a, b any) ([2]map[string]any, bool) {
	x, ok := a.(map[string]any)
	if !ok {
		return [2]map[string]any{}, false
	}
	y, ok := b.(map[string]any)
	return [2]map[string]any{x, y}, ok
}

// withRoom copies one level of a map, with room for another's entries.
func withRoom(m, other map[string]any) map[string]any {
	out := make(map[string]any, max(len(m), len(other)))
	maps.Copy(out, m)
	return out
}
