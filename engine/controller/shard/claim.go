package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Claim is what an installation says on a CRD of the resources that it serves.
type Claim struct {
	// Key is the annotation that says it.
	Key string
	Shard
}

// claimText is how the claim of a share is written; that of all resources is
// the identity alone.
type claimText struct {
	Identity   string   `json:"identity"`
	Namespaces []string `json:"namespaces,omitempty"`
	Selector   string   `json:"selector,omitempty"`
}

// Claim is the share's claim as an annotation.
func (s Shard) Claim() (key, text string) {
	key = s.Key(api.AnnotationOperator)
	if s.Whole() {
		return key, s.Identity
	}
	t := claimText{Identity: s.Identity, Namespaces: s.sortedNamespaces()}
	if s.hasSelector() {
		t.Selector = s.Selector.String()
	}
	data, _ := json.Marshal(t) // texts
	return key, string(data)
}

// prefix begins the key of every claim of a share.
var prefix = strings.Replace(api.AnnotationOperator, api.Domain+"/", "", 1) + "." + api.Domain + "/"

// Claims are all claims on a CRD: that of all resources first, then by key. One
// that cannot be read claims everything, so that nobody serves beside it.
func Claims(crd metav1.Object) []Claim {
	var all []Claim
	annotations := crd.GetAnnotations()
	if identity := annotations[api.AnnotationOperator]; identity != "" {
		all = append(all, Claim{api.AnnotationOperator, Shard{Identity: identity}})
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, Claim{key, parseClaim(key, annotations[key])})
		}
	}
	return all
}

// parseClaim reads the text of a claim. One that cannot be read claims everything.
func parseClaim(key, text string) Shard {
	var t claimText
	if json.Unmarshal([]byte(text), &t) != nil || t.Identity == "" {
		return Shard{Identity: fmt.Sprintf("%q", strings.TrimPrefix(key, prefix))}
	}
	selector, err := labels.Parse(t.Selector)
	if err != nil {
		return Shard{Identity: t.Identity}
	}
	return Shard{Identity: t.Identity, Namespaces: t.Namespaces, Selector: selector}
}

// Conflict is a claim of another installation to resources which the share may
// cover too, or nil.
func (s Shard) Conflict(claims []Claim) *Claim {
	for i := range claims {
		if claims[i].Identity != s.Identity && !areDisjoint(s, claims[i].Shard) {
			return &claims[i]
		}
	}
	return nil
}

// Holds reports whether the installation has a claim, to this share or another.
func (s Shard) Holds(claims []Claim) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return c.Identity == s.Identity })
}

// ClaimAnnotation is how the annotations of a CRD change when the share is claimed; nil
// takes one off. A claim of a share begins without records: others may have
// changed its resources since they were written. For the same reason it ends
// those of an installation that served everything, and so does whoever takes over
// from one. What the installation claimed before ends.
func (s Shard) ClaimAnnotation(crd metav1.Object) map[string]any {
	write, have := map[string]any{}, crd.GetAnnotations()
	drop := func(key string) {
		if _, found := have[key]; found {
			write[key] = nil
		}
	}
	ended := []Shard{}
	for _, c := range Claims(crd) {
		if c.Identity == s.Identity {
			drop(c.Key)
			ended = append(ended, c.Shard)
		}
	}
	if !s.Whole() || len(ended) == 0 {
		ended = append(ended, s, Shard{Identity: s.Identity})
	}
	for _, e := range ended {
		for _, key := range records {
			drop(e.Key(key))
		}
	}
	key, text := s.Claim()
	write[key] = text
	return write
}

// Yield is how the annotations of a CRD change when an installation gives up its
// claim, with its records: whoever is next tries its folder like a changed one.
// It is nil if there is no claim of it, or others have some too.
func (s Shard) Yield(crd metav1.Object) map[string]any {
	write := map[string]any{}
	for _, c := range Claims(crd) {
		if c.Identity != s.Identity {
			return nil
		}
		write[c.Key] = nil
		for _, record := range records {
			if key := c.Shard.Key(record); crd.GetAnnotations()[key] != "" {
				write[key] = nil
			}
		}
	}
	if len(write) == 0 {
		return nil
	}
	return write
}

// records are the annotations by which an installation knows how far it is with
// a kind. They belong to a claim, and end with it.
var records = []string{api.AnnotationRolledOut, api.AnnotationRollout, api.AnnotationApproved, api.AnnotationRollback, api.AnnotationState,
	api.AnnotationStateLease}
