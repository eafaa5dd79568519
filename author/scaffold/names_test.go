package scaffold

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseNames: kinds and plurals say each other.
func TestParseNames(t *testing.T) {
	for what, want := range map[string]Names{
		"Website.example.com":    {Kind: "Website", Plural: "websites", Singular: "website"},
		"websites.example.com":   {Kind: "Website", Plural: "websites", Singular: "website"},
		"Policy.example.com":     {Kind: "Policy", Plural: "policies", Singular: "policy"},
		"policies.example.com":   {Kind: "Policy", Plural: "policies", Singular: "policy"},
		"Gateway.example.com":    {Kind: "Gateway", Plural: "gateways", Singular: "gateway"},
		"Box.example.com":        {Kind: "Box", Plural: "boxes", Singular: "box"},
		"boxes.example.com":      {Kind: "Box", Plural: "boxes", Singular: "box"},
		"RedisCache.example.com": {Kind: "RedisCache", Plural: "rediscaches", Singular: "rediscache"},
	} {
		want.Group, want.Version = "example.com", "v1alpha1"
		got, err := ParseNames(what, Names{})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
	}
}

// TestMatching: what is made of a pattern matches it.
func TestMatching(t *testing.T) {
	for _, pattern := range []string{
		`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^v[0-9]+(alpha[0-9]+)?$`, `^(a|b){3}$`, `^\d{4}-\d{2}$`, `^[^a-z]+$`, `^sha256:[a-f0-9]{64}$`,
		`^(https?)://\S+$`, `^x.y\.z$`, `^(?i)on$`,
	} {
		found := false
		for _, text := range matchingTexts(pattern, 0) {
			found = found || regexp.MustCompile(pattern).MatchString(text)
		}
		if !found {
			t.Errorf("%s: none of %q matches", pattern, matchingTexts(pattern, 0))
		}
	}
}

// TestStem: what the names of objects have in common.
func TestStem(t *testing.T) {
	for want, names := range map[string][]string{
		"web":     {"web", "web-db", "web-cache"},
		"web-one": {"web-one"},
		"":        {"left", "right"},
		"redis":   {"redis-leader", "redis-follower", "frontend"},
		"a":       {"a-b", "a-c"},
	} {
		var all []*manifest
		for _, name := range names {
			all = append(all, &manifest{name: name})
		}
		if got := findStem(all); got != want {
			t.Errorf("%v: the stem is %q, want %q", names, got, want)
		}
	}
}
