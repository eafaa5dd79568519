// Package replicas divides the custom resources that one installation serves among
// its replicas. docs/decisions/0013-replicas.md says why it is as it is, and
// docs/architecture.md what it promises; a test explores a model of it.
//
// Resources are in buckets, by a hash of their namespace or of their uid. One Lease of
// the installation says, as a [Division], which replica serves which bucket. Each
// replica has a Lease of its own besides, and:
//
//   - a replica serves a bucket only while the Division says so and its own Lease was
//     renewed lately;
//   - the Division gives away a bucket only by its owner, who serves it no more, or
//     once the server has said that the owner's Lease is gone;
//   - a Lease of a replica goes when that replica ends, or once it was not renewed for
//     its duration, and never comes back.
//
// Without it, users lose more replicas than one that works: it says which of them
// serves what.
package replicas

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
)

// Buckets is how many buckets there are unless an installation says otherwise.
const Buckets = 16

// A Division says which replica serves what. Replicas are named by their Leases.
type Division struct {
	// Leader does what is to be done once for the whole installation; "" is nobody.
	Leader string `json:"leader,omitempty"`
	// Bounds are the hashes of namespaces at which buckets begin: sixteen hexadecimal
	// digits each, in order; the first is zero.
	Bounds []string `json:"bounds"`
	// Owners serve the buckets, one each; "" is nobody.
	Owners []string `json:"owners"`
	// ByUID are namespaced kinds whose resources are divided by their uids all the same,
	// in order.
	ByUID []string `json:"byUID,omitempty"`
	// Whole are kinds of which the leader serves all resources, as long as a folder
	// rolls out, with the replicas that have yet to give theirs away.
	Whole map[string][]string `json:"whole,omitempty"`
	// Next are to become the bounds once no bucket has an owner.
	Next []string `json:"next,omitempty"`
}

// New is a division into n buckets of the same width that nobody serves.
func New(n int) Division { return Division{Bounds: Equal(n), Owners: make([]string, n)} }

// Equal are the bounds of n buckets of the same width.
func Equal(n int) []string {
	bounds := make([]string, n)
	for i := range bounds {
		begin, _ := bits.Div64(uint64(i), 0, uint64(n))
		bounds[i] = fmt.Sprintf("%016x", begin)
	}
	return bounds
}

// Read reads a division; ok is false for anything else.
func Read(text string) (d Division, ok bool) {
	if json.Unmarshal([]byte(text), &d) != nil || len(d.Bounds) == 0 || len(d.Owners) != len(d.Bounds) || d.Bounds[0] != Equal(1)[0] ||
		!slices.IsSorted(d.Bounds) {
		return Division{}, false
	}
	return d, true
}

// String returns the division as JSON.
func (d Division) String() string {
	text, err := json.Marshal(d)
	if err != nil { // it holds nothing but texts
		panic(err)
	}
	return string(text)
}

func (d Division) clone() Division {
	d.Owners, d.Whole, d.ByUID = slices.Clone(d.Owners), maps.Clone(d.Whole), slices.Clone(d.ByUID)
	if d.Whole == nil {
		d.Whole = map[string][]string{}
	}
	return d
}

// Owner is the replica that serves a resource of a kind; "" is nobody.
func (d Division) Owner(kind string, o metav1.Object) string {
	if _, whole := d.Whole[kind]; whole {
		return d.Leader
	}
	return d.Owners[bucketOf(d.Bounds, keyOf(d.ByUID, kind, o.GetNamespace()), o)]
}

// keyOf is by what a resource of a kind is divided that is in a namespace, or in none.
func keyOf(byUID []string, kind, namespace string) Key {
	if namespace == "" || slices.Contains(byUID, kind) {
		return ByUID
	}
	return ByNamespace
}

// bucketOf is the bucket of an object.
func bucketOf(bounds []string, by Key, o metav1.Object) int {
	if by == ByUID {
		return bucket(bounds, by, string(o.GetUID()))
	}
	return bucket(bounds, by, o.GetNamespace())
}

// A Key says by what the resources of a kind are divided.
type Key string

// The keys that the API server knows too.
const (
	ByNamespace Key = "object.metadata.namespace"
	ByUID       Key = "object.metadata.uid"
)

// bucket is the bucket of a value. Uids are spread evenly, so their buckets have the
// same width, whatever the bounds of namespaces are.
func bucket(bounds []string, by Key, value string) int {
	if by == ByUID {
		bounds = Equal(len(bounds))
	}
	hash := sharding.HashField(value)
	return sort.Search(len(bounds), func(i int) bool { return bounds[i] > hash }) - 1
}

// assign says which replica should own which of n buckets: the one with the highest
// hash of both names that has room still (rendezvous hashing, Thaler and Ravishankar
// 1998, with a bound on the load). Numbers of buckets differ by at most one.
func assign(n int, replicas []string) []string {
	owners := make([]string, n)
	if len(replicas) == 0 {
		return owners
	}
	least, larger := n/len(replicas), n%len(replicas)
	has := map[string]int{}
	for i := range owners {
		best := uint64(0)
		for _, r := range replicas {
			if has[r] > least || has[r] == least && larger == 0 {
				continue
			}
			sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", r, i))
			if weight := binary.BigEndian.Uint64(sum[:]); owners[i] == "" || weight > best {
				owners[i], best = r, weight
			}
		}
		if has[owners[i]]++; has[owners[i]] > least {
			larger--
		}
	}
	return owners
}

// A Share is what one replica serves. The zero Share is nothing.
type Share struct {
	// Leads: the replica does what is to be done once for the whole installation.
	Leads bool

	bounds []string
	own    []bool
	byUID  []string
	// whole are kinds that are not divided: whether the replica serves all of them, or
	// nothing.
	whole map[string]bool
}

// All is the share of a process that is alone.
func All() Share { return Share{Leads: true, bounds: Equal(1), own: []bool{true}} }

// ShareOf returns what a division has a replica serve once nothing of it is about to be
// given away.
func (d Division) ShareOf(name string) Share {
	s := Share{Leads: d.Leader == name, bounds: d.Bounds, own: make([]bool, len(d.Owners)), byUID: d.ByUID, whole: map[string]bool{}}
	for i, owner := range d.Owners {
		s.own[i] = owner == name && len(d.Next) == 0
	}
	for kind := range d.Whole {
		s.whole[kind] = s.Leads
	}
	return s
}

// Digest identifies which resources are in the share.
func (s Share) Digest() string {
	sum := sha256.Sum256(fmt.Append(nil, s.bounds, s.own, s.byUID, s.whole))
	return hex.EncodeToString(sum[:4])
}

// Serves reports whether a resource of a kind belongs to the share.
func (s Share) Serves(kind string, o metav1.Object) bool {
	if all, is := s.whole[kind]; is {
		return all
	}
	return s.everything() || len(s.own) > 0 && s.own[s.Bucket(kind, o)]
}

func (s Share) everything() bool { return len(s.own) > 0 && !slices.Contains(s.own, false) }

// None reports whether the share is nothing.
func (s Share) None() bool {
	return !s.Leads && !slices.Contains(s.own, true)
}

// Whole reports whether the share is everything: all resources of all kinds.
func (s Share) Whole() bool { return s.everything() && len(s.whole) == 0 }

// Rolls reports whether one replica serves all resources of some kind, since a folder rolls
// out.
func (s Share) Rolls() bool { return len(s.whole) > 0 }

// AllOf reports whether the replica serves all resources of a kind since a folder rolls
// out, and Closed whether another one does.
func (s Share) AllOf(kind string) bool { return s.whole[kind] }

// Closed reports whether another replica serves all resources of a kind.
func (s Share) Closed(kind string) bool {
	all, is := s.whole[kind]
	return is && !all
}

// Kinds are those that are not divided like all others.
func (s Share) Kinds() []string { return slices.AppendSeq(slices.Clone(s.byUID), maps.Keys(s.whole)) }

// Same reports whether two shares are the same.
func (s Share) Same(o Share) bool {
	return s.Leads == o.Leads && slices.Equal(s.bounds, o.bounds) && slices.Equal(s.own, o.own) && maps.Equal(s.whole, o.whole) &&
		slices.Equal(s.byUID, o.byUID)
}

// ByUID reports whether a kind with namespaces is divided by uid.
func (s Share) ByUID(kind string) bool { return slices.Contains(s.byUID, kind) }

// Bucket is the bucket of a resource of a kind.
func (s Share) Bucket(kind string, o metav1.Object) int {
	return bucketOf(s.bounds, keyOf(s.byUID, kind, o.GetNamespace()), o)
}

// Buckets are those that the replica serves.
func (s Share) Buckets() (all []int) {
	for i, is := range s.own {
		if is {
			all = append(all, i)
		}
	}
	return all
}

// Selection is the part of a kind's resources that belongs to the share. What has no
// namespace is selected by its uid.
func (s Share) Selection(kind string, namespaced bool) Selection {
	by := ByUID
	if namespaced {
		by = keyOf(s.byUID, kind, "any")
	}
	if all, is := s.whole[kind]; is {
		return Selection{by: by, all: all}
	}
	if s.everything() {
		return Selection{by: by, all: true}
	}
	bounds := s.bounds
	if by == ByUID {
		bounds = Equal(len(bounds))
	}
	chosen := Selection{by: by}
	for i, is := range s.own {
		end := pastAll
		if i+1 < len(bounds) {
			end = bounds[i+1]
		}
		switch last := len(chosen.ranges) - 1; {
		case !is:
		case last >= 0 && chosen.ranges[last].end == bounds[i]:
			chosen.ranges[last].end = end
		default:
			chosen.ranges = append(chosen.ranges, hashes{bounds[i], end})
		}
	}
	return chosen
}

// A Selection is a part of the objects of a kind, by the hash of their namespace or of a
// uid. It is a value. The zero Selection is nothing.
type Selection struct {
	by     Key
	all    bool
	ranges []hashes
}

// hashes are a range: from begin up to end, which is not in it.
type hashes struct{ begin, end string }

// pastAll is the end of the last range.
const pastAll = "10000000000000000"

// Everything selects all objects.
func Everything() Selection { return Selection{all: true} }

// Has reports whether an object in a namespace, or of a uid, is selected.
func (s Selection) Has(namespace, uid string) bool {
	if s.all {
		return true
	}
	value := namespace
	if s.by == ByUID {
		value = uid
	}
	hash := sharding.HashField(value)
	return slices.ContainsFunc(s.ranges, func(r hashes) bool { return r.begin <= hash && (r.end == pastAll || hash < r.end) })
}

// By is what the selection goes by.
func (s Selection) By() Key { return s.by }

// All reports whether it selects everything, and None whether it selects nothing.
func (s Selection) All() bool { return s.all }

// None reports whether it selects nothing.
func (s Selection) None() bool { return !s.all && len(s.ranges) == 0 }

// Same reports whether two selections select the same.
func (s Selection) Same(o Selection) bool { return s.String() == o.String() && s.all == o.all }

// String is the selection as the API server's parameter shardSelector; "" for everything,
// and for nothing, which is not to be asked for.
func (s Selection) String() string {
	if s.all {
		return ""
	}
	parts := make([]string, len(s.ranges))
	for i, r := range s.ranges {
		parts[i] = fmt.Sprintf("shardRange(%s, '0x%s', '0x%s')", s.by, r.begin, r.end)
	}
	return strings.Join(parts, " || ")
}
