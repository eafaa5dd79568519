// Package shard says which of the custom resources of a kind an installation
// serves: all, or a share by namespace and label. Shares that are provably
// disjoint may be served side by side, each with records of its own on the
// kind's CRD. It is pure.
//
// Without it, users lose two operators that serve different resources of one kind.
package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Shard is an installation and the resources of a kind that it serves.
type Shard struct {
	// Identity names the installation.
	Identity string
	// Namespaces are those of the resources; none means all.
	Namespaces []string
	// Selector is what their labels must match; nil means anything.
	Selector labels.Selector
}

// Whole reports whether it is all resources of the kind.
func (s Shard) Whole() bool { return len(s.Namespaces) == 0 && !s.hasSelector() }

// hasSelector reports whether labels restrict the share.
func (s Shard) hasSelector() bool { return s.Selector != nil && !s.Selector.Empty() }

// OfKind is the share of a kind, which lives in namespaces or does not: of one
// that does not, namespaces leave nothing out.
func (s Shard) OfKind(namespaced bool) Shard {
	if !namespaced {
		s.Namespaces = nil
	}
	return s
}

// Covers reports whether a resource belongs to the share.
func (s Shard) Covers(o metav1.Object) bool {
	if len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, o.GetNamespace()) {
		return false
	}
	return !s.hasSelector() || s.Selector.Matches(labels.Set(o.GetLabels()))
}

// String says which resources it is, for people.
func (s Shard) String() string {
	var parts []string
	if len(s.Namespaces) > 0 {
		parts = append(parts, "in "+strings.Join(s.sortedNamespaces(), ", "))
	}
	if s.hasSelector() {
		parts = append(parts, "with "+s.Selector.String())
	}
	if len(parts) == 0 {
		return "all resources"
	}
	return "the resources " + strings.Join(parts, " ")
}

// sortedNamespaces returns the namespaces, each once.
func (s Shard) sortedNamespaces() []string {
	all := slices.Clone(s.Namespaces)
	slices.Sort(all)
	return slices.Compact(all)
}

// Key is the annotation in which the installation keeps a record about the kind:
// key itself if it serves all resources, so that whoever serves them next finds
// it, and else a key of its own: jacquard.dev/rollout becomes
// rollout.jacquard.dev/NAME-HASH, with the last part and the hash of its
// identity.
func (s Shard) Key(key string) string {
	if s.Whole() {
		return key
	}
	_, record, _ := strings.Cut(key, "/")
	return record + "." + api.Domain + "/" + s.keySuffix()
}

// longest is how much of an identity is shown in a key, whose name may have 63
// characters.
const longest = 50

// keySuffix returns what distinguishes the keys of this installation.
func (s Shard) keySuffix() string { return ID(s.Identity) }

// ID is an identity as a name in keys and values of labels: its last part, and a hash.
func ID(identity string) string {
	last := path.Base(identity)
	sum := sha256.Sum256([]byte(identity))
	return last[:min(len(last), longest)] + "-" + hex.EncodeToString(sum[:4])
}

// CheckIdentity says why an identity cannot name an installation: its last part
// names the Lease of its leader and its records.
func CheckIdentity(identity string) error {
	if wrong := validation.IsDNS1123Subdomain(path.Base(identity)); len(wrong) > 0 {
		return fmt.Errorf("identity %q: %q, its last part, names a Lease: it may have small letters, digits, - and . only", identity,
			path.Base(identity))
	}
	if !utf8.ValidString(identity) {
		return fmt.Errorf("identity %q: it is not UTF-8", identity)
	}
	return nil
}
