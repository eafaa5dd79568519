package funcs

import "hash/maphash"

var searchFuncs = map[string]any{
	"has": hasItem, "mustHas": hasItem,
	"without": withoutItems, "mustWithout": withoutItems,
	"uniq": uniqueItems, "mustUniq": uniqueItems,
	"compact": compactList, "mustCompact": compactList,
}

func hasItem(item any, list []any) bool {
	for _, v := range list {
		if areEqual(item, v) {
			return true
		}
	}
	return false
}

func withoutItems(list []any, unwanted ...any) []any {
	out := []any{}
	for _, v := range list {
		if !hasItem(v, unwanted) {
			out = append(out, v)
		}
	}
	return out
}

// compactList leaves out what is empty.
func compactList(list []any) []any {
	out := []any{}
	for _, v := range list {
		if !isEmpty(v) {
			out = append(out, v)
		}
	}
	return out
}

// uniqueItems keeps the first of items that are equal. It compares only items of the
// same hash: a list of ten thousand is no matter of seconds.
func uniqueItems(list []any) []any {
	out := []any{}
	seen := map[uint64][]any{}
	for _, v := range list {
		h := hashValue(v)
		if hasItem(v, seen[h]) {
			continue
		}
		seen[h] = append(seen[h], v)
		out = append(out, v)
	}
	return out
}

var hashSeed = maphash.MakeSeed()

// hashValue gives equal values the same number. It decides only what is compared,
// so that it differs from process to process changes no result.
func hashValue(v any) uint64 {
	switch v := v.(type) {
	case []any:
		sum := uint64(len(v)) + 1
		for _, item := range v {
			sum = sum*31 + hashValue(item)
		}
		return sum
	case map[string]any:
		sum := uint64(len(v)) + 2
		for key, item := range v {
			sum += maphash.String(hashSeed, key) ^ (hashValue(item) * 31)
		}
		return sum
	case float64:
		// A whole number has the hash of the integer that it equals.
		return maphash.Comparable(hashSeed, wholeIfFits(v))
	}
	return maphash.Comparable(hashSeed, v)
}
