package replicas

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
)

// TestAssign: numbers of buckets differ by at most one, and one replica more or less
// leaves most buckets where they are.
func TestAssign(t *testing.T) {
	for n := 1; n <= 20; n++ {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("replica-%d", i))
		}
		owners := assign(16, names)
		has := map[string]int{}
		for _, owner := range owners {
			has[owner]++
		}
		for _, name := range names {
			if c := has[name]; c < 16/n || c > (16+n-1)/n {
				t.Errorf("of %d replicas %s has %d buckets of 16", n, name, c)
			}
		}
		moved := 0
		for i, owner := range assign(16, append(names, "another")) {
			if owner != owners[i] {
				moved++
			}
		}
		if most := 16/(n+1) + 5; moved > most {
			t.Errorf("replica %d moves %d buckets, want at most %d", n+1, moved, most)
		}
	}
}

// TestSelection: a share serves just what its selection has, and Kubernetes' own selector
// of the same text has that too.
func TestSelection(t *testing.T) {
	d := New(16)
	d.Bounds[5], d.ByUID = "4c00000000000001", []string{"by-uid"}
	for i, owner := range assign(16, []string{"a", "b", "c"}) {
		d.Owners[i] = owner
	}
	served := map[string]int{}
	for _, kind := range []string{"k", "by-uid"} {
		for _, self := range []string{"a", "b", "c"} {
			share := view{self: self, division: d, alive: []string{"a", "b", "c"}}.share()
			selection := share.Selection(kind, true)
			theirs := selectorOf(selection)
			for n := range 500 {
				o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("ns-", n), UID: types.UID(fmt.Sprint(n))}}
				serves, has := share.Serves(kind, o), selection.Has(o.Namespace, string(o.UID))
				match, err := theirs.Matches(o)
				if serves != has || has != match || err != nil {
					t.Fatalf("%s of %s: serves %v, selects %v, Kubernetes' %v, %v", o.Namespace, kind, serves, has, match, err)
				}
				if serves {
					served[fmt.Sprint(kind, n)]++
				}
			}
			if theirs.String() != selection.String() {
				t.Errorf("selector %s, want %s", selection, theirs)
			}
		}
	}
	if len(served) != 1000 {
		t.Errorf("%d of 1000 are served", len(served))
	}
	for what, n := range served {
		if n != 1 {
			t.Errorf("%s is served %d times", what, n)
		}
	}
}

func selectorOf(s Selection) sharding.Selector {
	var ranges []sharding.ShardRangeRequirement
	for _, r := range s.ranges {
		ranges = append(ranges, sharding.ShardRangeRequirement{Key: string(s.by), Start: "0x" + r.begin, End: "0x" + r.end})
	}
	return sharding.NewSelector(ranges...)
}

// TestShareOfOne: who has all buckets asks for everything, and who has none for nothing.
func TestShareOfOne(t *testing.T) {
	d := New(4)
	for i := range d.Owners {
		d.Owners[i] = "a"
	}
	if s := (view{self: "a", division: d, alive: []string{"a"}}).share().Selection("k", true); !s.All() || s.String() != "" {
		t.Errorf("selection %q of one replica", s)
	}
	if s := (view{self: "b", division: d, alive: []string{"a", "b"}}).share().Selection("k", true); !s.None() {
		t.Errorf("selection %q of a replica that has nothing", s)
	}
	if !All().Selection("k", false).All() || (Share{}).Selection("k", false).Has("a", "b") {
		t.Error("alone, everything is selected, and by nobody, nothing")
	}
}

// TestRead: what is no division is refused, and what was written is read.
func TestRead(t *testing.T) {
	d := New(3)
	d.Leader, d.Owners[1], d.Whole = "a", "b", map[string][]string{"k": {"b"}}
	if got, ok := Read(d.String()); !ok || got.String() != d.String() {
		t.Errorf("read %v as %v", d, got)
	}
	for _, text := range []string{"", "{}", `{"bounds":["0000000000000000"],"owners":[]}`, `{"bounds":["1000000000000000"],"owners":[""]}`,
		`{"bounds":["0000000000000000","f000000000000000","1000000000000000"],"owners":["","",""]}`} {
		if _, ok := Read(text); ok {
			t.Errorf("%q is taken for a division", text)
		}
	}
}

// TestBounds: bounds by the namespaces that there are spread what equal ones do not.
func TestBounds(t *testing.T) {
	resources := map[string]int{}
	for i := range 99 {
		resources[fmt.Sprintf("team-%02d", i+1)] = 10
	}
	for name, bounds := range map[string][]string{"equal": Equal(16), "by namespaces": Bounds(16, resources)} {
		has := make([]int, 16)
		for namespace, n := range resources {
			has[bucket(bounds, ByNamespace, namespace)] += n
		}
		if most := slices.Max(has); (name == "equal") != (most > 70) {
			t.Errorf("%s: %v", name, has)
		}
	}
	names := []string{"a", "b", "c", "d"}
	if equal, chosen := Most(Equal(16), names, resources), Most(Bounds(16, resources), names, resources); equal < 900 || chosen > 300 {
		t.Errorf("of 990 resources one of four replicas would serve %d and, by the namespaces, %d", equal, chosen)
	}
	few := Bounds(16, map[string]int{"one": 5, "another": 3})
	if d, ok := Read(Division{Bounds: few, Owners: make([]string, 16)}.String()); !ok || len(slices.Compact(d.Bounds)) != 16 {
		t.Errorf("bounds by two namespaces: %v", few)
	}
	if !slices.Equal(Bounds(4, nil), Equal(4)) {
		t.Error("without namespaces bounds are not equal")
	}
}
