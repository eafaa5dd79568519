package replicas

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Buckets is how many buckets there are unless an installation sets another number.
const Buckets = 16

// A Division records which replica serves what. Replicas are named by their Leases.
type Division struct {
	// Leader does what is done once for the whole installation; "" is nobody.
	Leader string `json:"leader,omitempty"`
	// Owners serve the buckets, one each; "" is nobody. A bucket is a range of the hash of a
	// resource's uid. All have the same width.
	Owners []string `json:"owners"`
	// Exclusive are the kinds of which the leader serves all resources, as in a rollout. Each
	// has the replicas that have yet to give theirs away.
	Exclusive map[string][]string `json:"exclusive,omitempty"`
}

// New returns a division into n buckets that nobody serves.
func New(n int) Division { return Division{Owners: make([]string, n)} }

// Parse parses what String returns. It refuses anything else, such as the divisions by namespace
// of earlier versions: whoever meets one waits until its replicas have ended.
func Parse(text string) (d Division, ok bool) {
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil || len(d.Owners) == 0 {
		return Division{}, false
	}
	return d, true
}

// String returns the division as JSON.
func (d Division) String() string {
	text, err := json.Marshal(d)
	if err != nil { // there is nothing but texts in it
		panic(err)
	}
	return string(text)
}

// Digest identifies the division. The Lease of a replica confirms a division by it.
func (d Division) Digest() string {
	sum := sha256.Sum256([]byte(d.String()))
	return hex.EncodeToString(sum[:8])
}

func (d Division) clone() Division {
	d.Owners, d.Exclusive = slices.Clone(d.Owners), maps.Clone(d.Exclusive)
	if d.Exclusive == nil {
		d.Exclusive = map[string][]string{}
	}
	return d
}

// isOwned reports whether a replica serves a bucket.
func (d Division) isOwned() bool {
	return slices.ContainsFunc(d.Owners, func(owner string) bool { return owner != "" })
}

// Owner returns the replica that serves a resource of a kind; "" is nobody.
func (d Division) Owner(kind string, uid types.UID) string {
	if _, isExclusive := d.Exclusive[kind]; isExclusive {
		return d.Leader
	}
	return d.Owners[bucketOf(uid, len(d.Owners))]
}

// bucketOf returns the bucket of a resource among n buckets of the same width, by the 64-bit
// FNV-1a hash of its uid.
func bucketOf(uid types.UID, n int) int {
	h := fnv.New64a()
	h.Write([]byte(uid)) // which cannot fail
	bucket, _ := bits.Mul64(h.Sum64(), uint64(n))
	return int(bucket)
}

// assignBuckets returns the replica that should own each of n buckets: the one with the highest
// hash of both names that has room (rendezvous hashing, Thaler and Ravishankar 1998, with a bound
// on the load). Numbers of buckets differ by at most one.
func assignBuckets(n int, replicas []string) []string {
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
	// Leads is true if the replica does what is done once for the whole installation.
	Leads bool
	// owns is whether the replica serves a bucket, for each of them.
	owns []bool
	// exclusive are the kinds that are not divided: whether the replica serves all their
	// resources, or none.
	exclusive map[string]bool
}

// All returns the share of a process that is alone.
func All() Share { return Share{Leads: true, owns: []bool{true}} }

// ShareOf returns what a division has a replica serve.
func (d Division) ShareOf(name string) Share {
	s := Share{Leads: d.Leader == name, owns: make([]bool, len(d.Owners)), exclusive: map[string]bool{}}
	for i, owner := range d.Owners {
		s.owns[i] = owner == name
	}
	for kind := range d.Exclusive {
		s.exclusive[kind] = s.Leads
	}
	return s
}

// Part returns which resources of a kind belong to the share.
func (s Share) Part(kind string) Part {
	all, isExclusive := s.exclusive[kind]
	switch {
	case isExclusive && all || !isExclusive && len(s.owns) > 0 && !slices.Contains(s.owns, false):
		return Everything
	case isExclusive || !slices.Contains(s.owns, true):
		return Part{}
	}
	text := bytes.Repeat([]byte("0"), len(s.owns))
	for _, i := range s.Buckets() {
		text[i] = '1'
	}
	return Part{string(text)}
}

// Serves reports whether a resource of a kind belongs to the share.
func (s Share) Serves(kind string, uid types.UID) bool { return s.Part(kind).Has(uid) }

// IsNothing reports whether the replica neither leads nor serves any bucket.
func (s Share) IsNothing() bool { return !s.Leads && !slices.Contains(s.owns, true) }

// IsEverything reports whether the replica serves all resources of all kinds.
func (s Share) IsEverything() bool { return s.Part("") == Everything && len(s.exclusive) == 0 }

// IsExclusive reports whether the replica alone serves the resources of a kind while other
// kinds may be divided.
func (s Share) IsExclusive(kind string) bool { return s.exclusive[kind] }

// IsElsewhere reports whether another replica serves all resources of a kind.
func (s Share) IsElsewhere(kind string) bool {
	all, isExclusive := s.exclusive[kind]
	return isExclusive && !all
}

// ExclusiveKinds returns the kinds that are not divided.
func (s Share) ExclusiveKinds() []string { return slices.Sorted(maps.Keys(s.exclusive)) }

// Buckets returns the buckets that the replica serves.
func (s Share) Buckets() (all []int) {
	for i, owns := range s.owns {
		if owns {
			all = append(all, i)
		}
	}
	return all
}

// Equal reports whether two shares are the same.
func (s Share) Equal(o Share) bool {
	return s.Leads == o.Leads && slices.Equal(s.owns, o.owns) && maps.Equal(s.exclusive, o.exclusive)
}

// A Part is a part of the resources of a kind, by the hash of their uids. It is comparable. The
// zero Part is nothing.
type Part struct {
	// owns has a 1 for each bucket of the part, and a 0 for each other one.
	owns string
}

// Everything is the part that has all resources.
var Everything = Part{"1"}

// Has reports whether the part contains the resource with a uid.
func (p Part) Has(uid types.UID) bool {
	return p == Everything || p != Part{} && p.owns[bucketOf(uid, len(p.owns))] == '1'
}

// String describes the part by its buckets.
func (p Part) String() string { return p.owns }
