package funcs

import (
	"errors"
	"slices"
)

var listFuncs = map[string]any{
	"list": list, "tuple": list,
	"append": push, "mustAppend": push,
	"push": push, "mustPush": push,
	"prepend": prepend, "mustPrepend": prepend,
	"concat": concat,
	"chunk":  chunk, "mustChunk": chunk,
	"reverse": reverse, "mustReverse": reverse,
	"first": first, "mustFirst": first,
	"last": last, "mustLast": last,
	"rest": rest, "mustRest": rest,
	"initial": initial, "mustInitial": initial,
}

func list(lim Limits, items ...any) ([]any, error) {
	return slices.Clone(items), fitsNodes(lim, items...)
}

func push(lim Limits, list []any, item any) ([]any, error) {
	if err := fitsNodes(lim, list, item); err != nil {
		return nil, err
	}
	return append(slices.Clip(list), item), nil
}

func prepend(lim Limits, list []any, item any) ([]any, error) {
	if err := fitsNodes(lim, list, item); err != nil {
		return nil, err
	}
	return append([]any{item}, list...), nil
}

func concat(lim Limits, lists ...any) ([]any, error) {
	for i, v := range lists {
		if _, ok := v.([]any); !ok && v != nil {
			return nil, argument(i, mustBe("a list", v))
		}
	}
	if err := fitsNodes(lim, lists...); err != nil {
		return nil, err
	}
	var out []any
	for _, v := range lists {
		items, _ := v.([]any)
		out = append(out, items...)
	}
	return out, nil
}

// chunk parts a list into lists of a size; the last may be shorter.
func chunk(lim Limits, size int64, list []any) ([]any, error) {
	if size < 1 {
		return nil, argument(0, errors.New("must be at least 1"))
	}
	chunks := (int64(len(list)) + size - 1) / max(1, size)
	if size >= int64(len(list)) {
		chunks = min(1, int64(len(list)))
	}
	if err := fitsNodesOf(lim, int(chunks)+1, func(i int) any {
		if i == 0 {
			return list
		}
		return nil
	}); err != nil {
		return nil, err
	}
	out := make([]any, 0, chunks)
	for part := range slices.Chunk(list, int(min(size, int64(len(list))+1))) {
		out = append(out, part)
	}
	return out, nil
}

func reverse(list []any) []any {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func last(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

func rest(list []any) []any { return list[min(1, len(list)):] }

func initial(list []any) []any { return slices.Clip(list[:max(0, len(list)-1)]) }
