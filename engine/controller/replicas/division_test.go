package replicas

import (
	"crypto/sha256"
	"fmt"
	"testing"

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
		owners := assignBuckets(16, names)
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
		for i, owner := range assignBuckets(16, append(names, "another")) {
			if owner != owners[i] {
				moved++
			}
		}
		if most := 16/(n+1) + 5; moved > most {
			t.Errorf("replica %d moves %d buckets, want at most %d", n+1, moved, most)
		}
	}
}

// TestPart: each resource is served by one replica, which is its owner by the division.
func TestPart(t *testing.T) {
	d := New(16)
	d.Leader, d.Exclusive = "b", map[string][]string{"exclusive": nil}
	copy(d.Owners, assignBuckets(16, []string{"a", "b", "c"}))
	has := map[string]int{}
	for _, kind := range []string{"divided", "exclusive"} {
		for n := range 600 {
			uid, by := types.UID(fmt.Sprintf("%x", sha256.Sum256([]byte{byte(n), byte(n >> 8)}))[:36]), []string{}
			for _, self := range []string{"a", "b", "c"} {
				if d.ShareOf(self).Serves(kind, uid) {
					by = append(by, self)
				}
			}
			if len(by) != 1 || by[0] != d.Owner(kind, uid) || kind == "exclusive" && by[0] != "b" {
				t.Fatalf("%s of %s is served by %v, and its owner is %q", uid, kind, by, d.Owner(kind, uid))
			}
			if kind == "divided" {
				has[by[0]]++
			}
		}
	}
	for name, n := range has {
		if n < 120 || n > 280 {
			t.Errorf("of 600 resources %s serves %d", name, n)
		}
	}
}

// TestBucketOf: buckets are ranges of 64-bit FNV-1a, all of the same width.
func TestBucketOf(t *testing.T) {
	for uid, want := range map[types.UID][2]int{"": {12, 3}, "a": {10, 2}, "foobar": {8, 2}} { // cbf29ce4…, af63dc4c…, 85944171…
		if got := [2]int{bucketOf(uid, 16), bucketOf(uid, 4)}; got != want {
			t.Errorf("%q is in %v, want %v", uid, got, want)
		}
	}
}

// TestShareOfOne: a replica that has all buckets serves everything, and one without any nothing.
func TestShareOfOne(t *testing.T) {
	d := New(4)
	for i := range d.Owners {
		d.Owners[i] = "a"
	}
	if s := (view{self: "a", division: d}).presentShare(); s.Part("k") != Everything || !s.IsEverything() {
		t.Errorf("one replica serves %+v", s)
	}
	if s := (view{self: "b", division: d, alive: map[string]bool{"a": true}}).presentShare(); s.Part("k") != (Part{}) || !s.IsNothing() {
		t.Errorf("a replica without buckets serves %+v", s)
	}
	if All().Part("k") != Everything || (Share{}).Part("k") != (Part{}) || (Part{}).Has("a") {
		t.Error("a process that is alone serves everything, and the zero Share nothing")
	}
}

// TestUnconfirmed: a Lease that does not confirm the division gets no buckets, and one that does
// gets its part. An owner keeps its buckets, whatever it has seen.
func TestUnconfirmed(t *testing.T) {
	d := New(16)
	for i := range d.Owners {
		d.Owners[i] = "a"
	}
	for _, c := range []struct {
		confirms bool
		want     int
	}{{false, 0}, {true, 8}, {false, 8}} {
		v := view{self: "a", division: d, alive: map[string]bool{"b": c.confirms}, buckets: 16}
		if change := v.nextDivision(true); change != nil {
			d = *change
		}
		if got := len(d.ShareOf("b").Buckets()); got != c.want {
			t.Errorf("if it confirms the division: %v, it has %d buckets, want %d", c.confirms, got, c.want)
		}
	}
}

// TestNumberOfBuckets: their number changes once nobody owns any.
func TestNumberOfBuckets(t *testing.T) {
	d := New(4)
	d.Owners[2] = "b"
	v := view{self: "a", division: d, alive: map[string]bool{"b": true}, gone: map[string]bool{}, buckets: 8}
	if change := v.nextDivision(true); change == nil || len(change.Owners) != 4 {
		t.Errorf("while b owns one it becomes %v", change)
	}
	v.alive, v.gone = nil, map[string]bool{"b": true}
	if change := v.nextDivision(true); change == nil || len(change.ShareOf("a").Buckets()) != 8 {
		t.Errorf("once nobody owns any it becomes %v", change)
	}
}

// TestParse: what is no division is refused, and what was written is read.
func TestParse(t *testing.T) {
	d := New(3)
	d.Leader, d.Owners[1], d.Exclusive = "a", "b", map[string][]string{"k": {"b"}}
	if got, ok := Parse(d.String()); !ok || got.String() != d.String() {
		t.Errorf("read %v as %v", d, got)
	}
	for _, text := range []string{"", "{}", `{"owners":[]}`, `{"bounds":["0000000000000000"],"owners":["a"]}`} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q is taken for a division", text)
		}
	}
}
