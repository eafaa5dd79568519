package liveview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
