package replicas

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/sharding"
)

// Bounds are the bounds of n buckets with about as many resources each, where
// namespaces have so many. FNV-1a hardly mixes the last characters of a text, so names
// with a common beginning are close to each other, and buckets of the same width do not
// tell them apart. Where there are fewer namespaces than buckets, the widest are halved.
func Bounds(n int, resources map[string]int) []string {
	weights, total := map[string]int{}, 0
	for namespace, count := range resources {
		weights[sharding.HashField(namespace)] += count
		total += count
	}
	bounds := []string{Equal(1)[0]}
	passed := 0
	for _, hash := range slices.Sorted(maps.Keys(weights)) {
		if len(bounds) < n && passed*n >= total*len(bounds) && hash != bounds[0] {
			bounds = append(bounds, hash)
		}
		passed += weights[hash]
	}
	for len(bounds) < n {
		bounds = halved(bounds)
	}
	return bounds
}

// halved are bounds with one more, in the middle of the widest bucket.
func halved(bounds []string) []string {
	at, widest, middle := 0, uint64(0), uint64(0)
	for i, bound := range bounds {
		begin, end := number(bound), uint64(0) // which is 2^64
		if i+1 < len(bounds) {
			end = number(bounds[i+1])
		}
		if width := end - begin - 1; width > widest {
			at, widest, middle = i+1, width, begin+width/2+1
		}
	}
	return slices.Insert(slices.Clone(bounds), at, fmt.Sprintf("%016x", middle))
}

func number(bound string) uint64 {
	n, err := strconv.ParseUint(bound, 16, 64)
	if err != nil { // Read would have refused it
		panic(err)
	}
	return n
}

// Most is how many resources the replica would serve that serves the most, with such
// bounds, where namespaces have so many.
func Most(bounds, replicas []string, resources map[string]int) int {
	owners, has := assign(len(bounds), slices.Sorted(slices.Values(replicas))), map[string]int{}
	for namespace, count := range resources {
		has[owners[bucket(bounds, ByNamespace, namespace)]] += count
	}
	return slices.Max(append(slices.Collect(maps.Values(has)), 0))
}
