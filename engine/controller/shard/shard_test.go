package shard

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/api"
)

func of(t *testing.T, selector string, namespaces ...string) Shard {
	t.Helper()
	s, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	return Shard{Identity: "x/" + selector, Namespaces: namespaces, Selector: s}
}

func TestDisjoint(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", false},
		{"", "team=a", false},
		{"team=a", "team=b", true},
		{"team=a", "env=b", false},
		{"team==a", "team!=a", true},
		{"team=a", "team!=b", false},
		{"team in (a,b)", "team in (b,c)", false},
		{"team in (a,b)", "team notin (a,b,c)", true},
		{"team in (a,b)", "team notin (a)", false},
		{"team", "!team", true},
		{"team=a", "!team", true},
		{"team notin (a)", "!team", false},
		{"team notin (a)", "team notin (b)", false},
		{"team", "team", false},
		{"team=a,env=x", "team=a,env=y", true},
		{"team=a,env=x", "team=b,env=x", true},
		{"team in (a,b),team notin (b)", "team=b", true},
		{"size>5", "size<3", false}, // not proved
		{"size>5", "!size", true},
		{"team=a,team=b", "", true}, // matches nothing
	} {
		if a, b := of(t, c.a), of(t, c.b); areDisjoint(a, b) != c.want || areDisjoint(b, a) != c.want {
			t.Errorf("%q and %q disjoint: not %t", c.a, c.b, c.want)
		}
	}
	if !areDisjoint(of(t, "", "a", "b"), of(t, "", "c")) || areDisjoint(of(t, "", "a", "b"), of(t, "", "b", "c")) ||
		areDisjoint(of(t, "", "a"), of(t, "team=a")) {
		t.Error("namespaces")
	}
	if !areDisjoint(of(t, "team=a", "a", "b"), of(t, "team=b", "b")) {
		t.Error("both")
	}
}

// TestDisjointIsTrue: no object belongs to two shares that are said to be
// disjoint.
func TestDisjointIsTrue(t *testing.T) {
	parts := []string{"a=1", "a!=1", "a in (1,2)", "a notin (1,2)", "a", "!a", "b=1", "b!=1", "b", "!b", "a>1", "a<2"}
	namespaces := [][]string{nil, {"m"}, {"n"}, {"m", "n"}}
	some := func() Shard {
		s := of(t, parts[rand.IntN(len(parts))]+","+parts[rand.IntN(len(parts))])
		s.Namespaces = namespaces[rand.IntN(len(namespaces))]
		return s
	}
	proved := 0
	for range 5000 {
		a, b := some(), some()
		if !areDisjoint(a, b) {
			continue
		}
		proved++
		for _, namespace := range []string{"m", "n"} {
			for _, va := range []string{"", "1", "2", "3"} {
				for _, vb := range []string{"", "1", "2"} {
					set := map[string]string{"a": va, "b": vb}
					for k, v := range set {
						if v == "" {
							delete(set, k)
						}
					}
					if o := (&metav1.ObjectMeta{Namespace: namespace, Labels: set}); a.Covers(o) && b.Covers(o) {
						t.Fatalf("%s and %s cover %s %v", a, b, namespace, set)
					}
				}
			}
		}
	}
	if proved == 0 {
		t.Error("nothing was proved")
	}
}

func TestClaims(t *testing.T) {
	a, b, whole := of(t, "team in (b,a)", "n2", "n1"), of(t, "team=c"), Shard{Identity: "home/jacquard"}
	a.Identity, b.Identity = "ops/a", "ops/b"
	crd := &metav1.ObjectMeta{Annotations: map[string]string{"other": "x"}}
	for _, s := range []Shard{a, b, whole} {
		key, text := s.Claim()
		crd.Annotations[key] = text
	}
	if got := crd.Annotations[a.Key(api.AnnotationOperator)]; got != `{"identity":"ops/a","namespaces":["n1","n2"],"selector":"team in (a,b)"}` {
		t.Error(got)
	}
	if crd.Annotations[api.AnnotationOperator] != "home/jacquard" {
		t.Error("the claim of all resources is the identity")
	}
	claims := Claims(crd)
	if len(claims) != 3 || claims[0].Key != api.AnnotationOperator || claims[1].Identity != "ops/a" ||
		claims[2].String() != "the resources with team=c" {
		t.Fatal(claims)
	}
	if c := a.Conflict(claims); c == nil || c.Identity != whole.Identity {
		t.Error(c)
	}
	if c := a.Conflict(claims[1:]); c != nil {
		t.Error(c)
	}
	at := &metav1.ObjectMeta{Namespace: "n1", Labels: map[string]string{"team": "c"}}
	if claims[1].Covers(at) || !claims[2].Covers(at) {
		t.Errorf("%v covers %v", claims, at)
	}
	crd.Annotations[prefix+"odd"] = "?"
	if c := b.Conflict(Claims(crd)[1:]); c == nil || c.Key != prefix+"odd" {
		t.Error("what cannot be read claims everything")
	}
}

func TestKeys(t *testing.T) {
	s := of(t, "team=a")
	s.Identity = "ops/team-a"
	if got := s.Key(api.AnnotationRollout); got != "rollout.jacquard.dev/team-a-1c8868dc" {
		t.Error(got)
	}
	if got := (Shard{Identity: s.Identity}).Key(api.AnnotationRollout); got != api.AnnotationRollout {
		t.Error(got)
	}
	if got := s.OfKind(false).Key(api.AnnotationRollout); got == api.AnnotationRollout {
		t.Error("labels tell resources apart wherever they live")
	}
	if n := (Shard{Identity: "ops", Namespaces: []string{"a"}}); !n.OfKind(false).Whole() || n.OfKind(true).Whole() {
		t.Error("namespaces tell no resources apart that live in none")
	}
	if CheckIdentity("ops/team-a") != nil || CheckIdentity("ops/Team A") == nil || CheckIdentity("") == nil {
		t.Error("identities")
	}
}

// TestStake: a claim of a share begins without records, and ends what the
// installation, or one that served everything, had before.
func TestStake(t *testing.T) {
	before, now := of(t, "team=a"), of(t, "team=b")
	before.Identity, now.Identity = "ops/a", "ops/a"
	other := of(t, "team=c")
	crd := &metav1.ObjectMeta{Annotations: map[string]string{
		api.AnnotationRolledOut: "whole", api.AnnotationChildKinds: "ConfigMap",
		now.Key(api.AnnotationRolledOut): "mine", other.Key(api.AnnotationRolledOut): "theirs",
	}}
	for _, s := range []Shard{before, other} {
		key, text := s.Claim()
		crd.Annotations[key] = text
	}
	key, text := now.Claim()
	if diff := cmp.Diff(map[string]any{key: text, api.AnnotationRolledOut: nil, now.Key(api.AnnotationRolledOut): nil},
		now.ClaimAnnotation(crd)); diff != "" {
		t.Error(diff)
	}
	whole := Shard{Identity: "ops/a"}
	if diff := cmp.Diff(map[string]any{
		api.AnnotationOperator: "ops/a", before.Key(api.AnnotationOperator): nil, now.Key(api.AnnotationRolledOut): nil,
	}, whole.ClaimAnnotation(crd)); diff != "" {
		t.Error(diff)
	}
}
