package funcs

import "hash/maphash"

var searchFuncs = map[string]any{
	"has": has, "mustHas": has,
	"without": without, "mustWithout": without,
	"uniq": uniq, "mustUniq": uniq,
	"compact": compact, "mustCompact": compact,
}

func has(item any, list []any) bool {
	for _, v := range list {
		if equal(item, v) {
			return true
		}
	}
	return false
}

func without(list []any, unwanted ...any) []any {
	out := []any{}
	for _, v := range list {
		if !has(v, unwanted) {
			out = append(out, v)
		}
	}
	return out
}

// compact leaves out what is empty.
func compact(list []any) []any {
	out := []any{}
	for _, v := range list {
		if !empty(v) {
			out = append(out, v)
		}
	}
	return out
}

// uniq keeps the first of items that are equal. It compares only items of the
// same hash: a list of ten thousand is no matter of seconds.
func uniq(list []any) []any {
	out := []any{}
	seen := map[uint64][]any{}
	for _, v := range list {
		h := hash(v)
		if has(v, seen[h]) {
			continue
		}
		seen[h] = append(seen[h], v)
		out = append(out, v)
	}
	return out
}

var hashSeed = maphash.MakeSeed()

// hash gives equal values the same number. It decides only what is compared,
// so that it differs from process to process changes no result.
func hash(v any) uint64 {
	switch v := v.(type) {
	case []any:
		sum := uint64(len(v)) + 1
		for _, item := range v {
			sum = sum*31 + hash(item)
		}
		return sum
	case map[string]any:
		sum := uint64(len(v)) + 2
		for key, item := range v {
			sum += maphash.String(hashSeed, key) ^ (hash(item) * 31)
		}
		return sum
	case float64:
		// A whole number has the hash of the integer that it equals.
		return maphash.Comparable(hashSeed, wholeIfFits(v))
	}
	return maphash.Comparable(hashSeed, v)
}
