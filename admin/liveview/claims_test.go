package liveview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// TestClaimIdentities: the identities are those of all claims of a CRD, also of one that cannot be read.
func TestClaimIdentities(t *testing.T) {
	got := ClaimIdentities(&metav1.ObjectMeta{Annotations: map[string]string{
		"jacquard.dev/operator":            "jacquard/jacquard",
		"operator.jacquard.dev/team-a-12":  `{"identity":"ops/team-a","selector":"team=a"}`,
		"operator.jacquard.dev/team-a-13":  `{"identity":"ops/team-a","selector":"team=c"}`,
		"operator.jacquard.dev/unreadable": "{",
		"jacquard.dev/child-kinds":         "ConfigMap",
	}})
	if diff := cmp.Diff([]string{`"unreadable"`, "jacquard/jacquard", "ops/team-a"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFindClaims: only the claims that cover a resource are found.
func TestFindClaims(t *testing.T) {
	claims := shard.Claims(&metav1.ObjectMeta{Annotations: map[string]string{
		"operator.jacquard.dev/team-a-12": `{"identity":"ops/a","selector":"team in (a,b)"}`,
		"operator.jacquard.dev/team-c-13": `{"identity":"ops/b","selector":"team=c"}`,
	}})
	for team, want := range map[string]int{"c": 1, "d": 0} {
		found := findClaims(claims, &metav1.ObjectMeta{Namespace: "n1", Labels: map[string]string{"team": team}})
		if len(found) != want || want == 1 && found[0].Identity != "ops/b" {
			t.Errorf("team %s: %v", team, found)
		}
	}
}
