package eject

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// TestOwns: an owner reference is taken off if it is to the resource that the
// label names, and of a kind that is ejected; all others stay.
func TestOwns(t *testing.T) {
	gone := kinds{names: map[string]bool{"webs.example.com": true}, uids: map[string]bool{"known": true}}
	web := func(uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Web", UID: uid}
	}
	deployment := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", UID: "gone"}
	for name, c := range map[string]struct {
		label, owner string
		reference    metav1.OwnerReference
		want         bool
	}{
		"its resource":                {"known", "webs.example.com/ns/a", web("known"), true},
		"its resource, which is gone": {"gone", "webs.example.com/ns/a", web("gone"), true},
		"another of the same kind":    {"known", "webs.example.com/ns/a", web("other"), false},
		"without our label":           {"", "webs.example.com/ns/a", web("known"), false},
		"of a kind that stays":        {"stays", "teams.example.com/ns/a", web("stays"), false},
		"of another group":            {"gone", "webs.example.com/ns/a", deployment, false},
	} {
		o := &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationOwner: c.owner}}
		if c.label != "" {
			o.Labels = map[string]string{api.LabelOwnerUID: c.label}
		}
		if got := gone.isOurReference(o, c.reference); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
