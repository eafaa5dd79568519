package liveview

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// Claims are what installations say on the CRD of the resources that they serve;
// none if it may not be read.
func (k *Kind) Claims() []shard.Claim {
	if k.CRD == nil || k.Unread != nil {
		return nil
	}
	return shard.Claims(k.CRD)
}

// Look chooses whose resources are looked at: those of the installation of this
// identity, or, if it is "", of the only one that serves the kind. Where nobody
// does, they are all resources.
func (k *Kind) Look(identity string) error {
	claims := k.Claims()
	var names []string
	for _, c := range claims {
		if c.Identity == identity || identity == "" && len(claims) == 1 {
			k.Share = c.Shard
			return nil
		}
		names = append(names, c.Identity)
	}
	switch {
	case len(claims) == 0:
		return nil
	case identity == "":
		return fmt.Errorf("looking at %s: several installations serve a share of it each: say --installation %s", k.Name, strings.Join(names, " or "))
	}
	return fmt.Errorf("looking at %s: %s does not serve it; these do: %s", k.Name, identity, strings.Join(names, ", "))
}

// Whose is the share that serves a resource: that which was chosen, or that which covers
// it.
func (k *Kind) Whose(resource metav1.Object) shard.Shard {
	if k.Share.Identity == "" {
		for _, c := range findClaims(k.Claims(), resource) {
			return c.Shard
		}
	}
	return k.Share
}

// servingShare returns the share that serves the resources of a view: the one that was chosen, or
// that of the first resource.
func (v *View) servingShare() shard.Shard {
	if len(v.resources) == 0 {
		return v.kind.Share
	}
	return v.kind.Whose(v.resources[0])
}

// Revision returns the digest of the folder that serves the first resource, as far as the CRD
// and the children tell; "" if they do not.
func (v *View) Revision() string {
	if v.kind.CRD == nil || v.kind.Unread != nil || len(v.resources) == 0 {
		return ""
	}
	record := rollout.ReadRecord(v.kind.CRD.Annotations, v.servingShare().Key)
	var marks []rollout.Revision
	if record.IsUnfinished() {
		marks = v.readMarks(v.resources[0])
	}
	if serving := record.Serving(marks).Digest; serving != rollout.Unknown {
		return serving
	}
	return ""
}

// readMarks returns the revisions that the children of a resource carry.
func (v *View) readMarks(resource metav1.Object) (marks []rollout.Revision) {
	for gvk := range v.version.Children {
		children, _ := v.children.Of(gvk, resource.GetUID()) // what is wrong is among the troubles
		for _, child := range children {
			if mark, ok := rollout.ParseRevision(plan.WrittenBy(child.Meta)); ok {
				marks = append(marks, mark)
			}
		}
	}
	return marks
}

// Unserved says why no installation serves a resource although the kind is
// served; "" if one does, or if the kind is not served.
func (k *Kind) Unserved(resource metav1.Object) string {
	claims := k.Claims()
	if len(claims) == 0 || len(findClaims(claims, resource)) > 0 {
		return ""
	}
	var all []string
	for _, c := range claims {
		all = append(all, fmt.Sprintf("%s serves %s", c.Identity, c.Shard))
	}
	return "no installation serves this resource: " + strings.Join(all, "; ")
}
