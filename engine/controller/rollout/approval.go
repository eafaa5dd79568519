package rollout

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// An Approval is what a person approves of a stopped rollout.
type Approval struct {
	// Stop is the stop that is meant, as Record.Stop names it, so that another
	// one of the same folder still has to be shown.
	Stop string
	// AllWaves: no later wave stops for that reason either.
	AllWaves bool
	// Only are resources, as NAMESPACE/NAME, that the new version may serve with
	// what it would delete of them, while the rollout stays stopped. None: it goes
	// on.
	Only []string
}

const (
	allWaves = "all-waves"
	only     = "only"
)

// String returns the approval as it stands on the CRD.
func (a Approval) String() string {
	switch {
	case len(a.Only) > 0:
		return a.Stop + " " + only + " " + strings.Join(a.Only, " ")
	case a.AllWaves:
		return a.Stop + " " + allWaves
	}
	return a.Stop
}

// ReadApproval reads an approval; what is none is one of no stop.
func ReadApproval(text string) Approval {
	switch words := strings.Fields(text); {
	case len(words) == 1:
		return Approval{Stop: words[0]}
	case len(words) == 2 && words[1] == allWaves:
		return Approval{Stop: words[0], AllWaves: true}
	case len(words) > 2 && words[1] == only:
		return Approval{Stop: words[0], Only: words[2:]}
	}
	return Approval{}
}

// Approve lets a stopped rollout go on past what stopped it: the deletions and
// the resources that it named. What comes up later stops it again.
func (r *Rollout) Approve(a Approval, now time.Time) {
	if r.state != Stopped || !r.reason.MayApprove() {
		return
	}
	if len(a.Only) > 0 {
		r.pick(a.Only)
		return
	}
	r.allWaves[r.reason] = r.allWaves[r.reason] || a.AllWaves && r.reason.MayAllWaves()
	wave := r.order[r.first:r.released]
	switch r.reason {
	case Deletes:
		for _, d := range r.wanted() {
			r.approved[d.key()] = true
		}
	case RenderFailed:
		for _, name := range r.Failed() {
			r.approved[failure(r.members[name].UID)] = true
		}
	case NotReady:
		for _, name := range r.late() {
			r.members[name].forced = true
		}
	case Paused:
		r.approved[pause(r.wave)] = true
	case Refused:
		for _, name := range wave {
			m := r.members[name]
			m.forgiven, m.forced = true, m.forced || m.refused || m.forbidden != ""
		}
	}
	r.state, r.reason, r.message, r.since = Running, "", "", now
	r.check()
}

// pick approves that the new version serves some resources now, and deletes of
// them what it is known to delete.
func (r *Rollout) pick(names []string) {
	for _, name := range resourcesOf(names) {
		m := r.members[name]
		if m == nil || m.left {
			continue
		}
		r.approved[picked(m.UID)] = true
		for _, c := range m.wants(true) {
			r.approved[deletion{m.UID, c}.key()] = true
		}
	}
}

// mayMove reports whether a wave, or an approval of it alone, lets the new version
// serve a member, which was tried as it is.
func (r *Rollout) mayMove(m *member) bool {
	switch {
	case m.paused || m.notPreviewed || m.Error != "":
		return false
	case m.released && r.state == Running:
		return true
	}
	return r.approved[picked(m.UID)] && !slices.ContainsFunc(m.wants(true),
		func(c Child) bool { return !r.approved[deletion{m.UID, c}.key()] })
}

// resume takes up what was approved of this rollout before this process began.
func (r *Rollout) resume(before Record) {
	r.approved = readSet(before.Set)
	for _, reason := range before.Approved {
		r.allWaves[reason] = reason.MayAllWaves()
	}
	if !before.Began.IsZero() {
		r.began = before.Began
	}
}

// MayApprove reports whether an approval lets a rollout go on that stopped for this reason.
func (r Reason) MayApprove() bool { return r != RollbackFailed }

// MayAllWaves reports whether an approval may be good for later waves too. Deletions
// are approved one by one, and what cannot be rendered stays as it is.
func (r Reason) MayAllWaves() bool { return r == NotReady || r == Refused || r == Paused }

// goPast notes what the present wave leaves behind that is not ready again.
func (r *Rollout) goPast() {
	for _, name := range r.order[r.first:r.released] {
		if m := r.members[name]; !m.left && !m.paused && !m.well() {
			m.forced = true
		}
	}
}

// Forced are the resources that the rollout went past although they were not
// ready, and that are not ready still.
func (r *Rollout) Forced() []types.NamespacedName {
	return r.which(func(m *member) bool { return m.forced && !m.left && !m.well() })
}

// unapproved are those of some resources that nobody approved to stay behind.
func (r *Rollout) unapproved(names []types.NamespacedName) []types.NamespacedName {
	return slices.DeleteFunc(slices.Clone(names), func(name types.NamespacedName) bool {
		return r.approved[failure(r.members[name].UID)]
	})
}

// A set holds hashes of what was approved: a long list must fit into an
// annotation.
type set map[string]bool

// A key has 48 bits: two that differ are not taken for the same.
const keyLength = 8

func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:keyLength]
}

// key tells deletions apart: by the resource and the very object.
func (d deletion) key() string { return deletionKey(d.of, d.UID, d.String()) }

func deletionKey(of, child types.UID, name string) string {
	return keyOf(string(of), string(child), name)
}

// failure tells resources apart that cannot be rendered.
func failure(of types.UID) string { return keyOf(string(of)) }

// picked tells resources apart that are approved to be moved alone.
func picked(of types.UID) string { return keyOf(string(of), only) }

// pause tells the waves apart after which the rollout pauses.
func pause(wave int) string { return keyOf("pause", strconv.Itoa(wave)) }

// mostKept is how many things a set in a record keeps. Approvals beyond are asked for
// again after a restart; of resources that were reached beyond it is found out.
const mostKept = 4096

// MostKept is how many resources all sets of versions that were abandoned keep
// together in a record: an object has 256 KiB of annotations.
const MostKept = 2 * mostKept

// A Set is a set of resources as a record keeps it.
type Set struct {
	set
	cut bool
}

// isCut ends the text of a set of which something was left out.
const isCut = "+"

// SetOf is the set of some resources.
func SetOf(uids []types.UID) Set {
	s := Set{set: set{}}
	for _, uid := range uids {
		s.set[reached(uid)] = true
	}
	return s
}

// ReadSet reads a set.
func ReadSet(text string) Set { return Set{readSet(text), strings.HasSuffix(text, isCut)} }

// Has reports whether a resource is in the set.
func (s Set) Has(uid types.UID) bool { return len(s.set) > 0 && s.set[reached(uid)] }

// Full reports whether the set may have been cut when it was written.
func (s Set) Full() bool { return s.cut || len(s.set) >= mostKept }

// Cut returns the text of at most so many resources of the set, and how many they are.
// What is left out shows when it is read.
func (s Set) Cut(most int) (text string, count int) {
	keys := s.all()
	count = min(len(keys), most)
	text = strings.Join(keys[:count], "")
	if s.cut || count < len(keys) {
		text += isCut
	}
	return text, count
}

// Join returns a set with what either has.
func (s Set) Join(o Set) Set {
	both := Set{set{}, s.cut || o.cut}
	maps.Copy(both.set, s.set)
	maps.Copy(both.set, o.set)
	return both
}

// Remove removes what another set has.
func (s Set) Remove(o Set) {
	maps.DeleteFunc(s.set, func(key string, _ bool) bool { return o.set[key] })
}

func reached(uid types.UID) string { return keyOf(string(uid), "reached") }

// all are the set's keys, in order.
func (s set) all() []string { return slices.Sorted(maps.Keys(s)) }

// String returns the set's keys, one behind the other.
func (s set) String() string {
	keys := s.all()
	return strings.Join(keys[:min(len(keys), mostKept)], "")
}

func readSet(text string) set {
	s := set{}
	for ; len(text) >= keyLength; text = text[keyLength:] {
		s[text[:keyLength]] = true
	}
	return s
}
