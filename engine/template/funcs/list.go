package funcs

import (
	"errors"
	"slices"
)

var listFuncs = map[string]any{
	"list": makeList, "tuple": makeList,
	"append": pushItem, "mustAppend": pushItem,
	"push": pushItem, "mustPush": pushItem,
	"prepend": prependItem, "mustPrepend": prependItem,
	"concat": concatLists,
	"chunk":  chunkList, "mustChunk": chunkList,
	"reverse": reverseList, "mustReverse": reverseList,
	"first": firstItem, "mustFirst": firstItem,
	"last": lastItem, "mustLast": lastItem,
	"rest": restItems, "mustRest": restItems,
	"initial": initialItems, "mustInitial": initialItems,
}

func makeList(lim Limits, items ...any) ([]any, error) {
	return slices.Clone(items), fitsNodes(lim, items...)
}

// A spare lies behind the last item of a list that push made, where nobody
// looks. Whoever appends to that list takes its place: a list that a loop makes
// is not copied, and counted, for each of its items. A list that ends earlier
// in the same memory has an item there, and is copied.
type spare struct {
	nodes int // of the list
}

func pushItem(lim Limits, list []any, item any) ([]any, error) {
	c := counter{left: lim.Nodes - 1}
	free, found := spareOf(list)
	err := errNone
	switch {
	case !found:
		err = c.countValue(list, 2)
	case free.nodes <= c.left:
		c.left, err = c.left-free.nodes, nil
	}
	if err == nil {
		err = c.countValue(item, 2)
	}
	if errors.Is(err, errDeep) {
		return nil, err
	}
	if err != nil {
		return nil, tooMany(lim)
	}
	if !found {
		list = slices.Clip(list)
	}
	out := append(list, item)
	room := append(out, &spare{lim.Nodes - 1 - c.left})
	return room[:len(out)], nil
}

// spareOf is what lies behind a list.
func spareOf(list []any) (*spare, bool) {
	if len(list) == cap(list) {
		return nil, false
	}
	free, found := list[:len(list)+1][len(list)].(*spare)
	return free, found
}

func prependItem(lim Limits, list []any, item any) ([]any, error) {
	if err := fitsNodes(lim, list, item); err != nil {
		return nil, err
	}
	return append([]any{item}, list...), nil
}

func concatLists(lim Limits, lists ...any) ([]any, error) {
	for i, v := range lists {
		if _, ok := v.([]any); !ok && v != nil {
			return nil, wrapArgument(i, mustBe("a list", v))
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

// chunkList parts a list into lists of a size; the last may be shorter.
func chunkList(lim Limits, size int64, list []any) ([]any, error) {
	if size < 1 {
		return nil, wrapArgument(0, errors.New("must be at least 1"))
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

func reverseList(list []any) []any {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func firstItem(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func lastItem(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

func restItems(list []any) []any { return slices.Clip(list[min(1, len(list)):]) }

func initialItems(list []any) []any { return slices.Clip(list[:max(0, len(list)-1)]) }
