package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// usual are the built-in kinds that others make and own.
var usual = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
	{Group: "apps", Kind: "ReplicaSet"}, {Group: "batch", Kind: "CronJob"}, {Group: "batch", Kind: "Job"},
	{Kind: "Pod"}, {Kind: "PersistentVolumeClaim"},
}

// mostKinds bounds how many kinds are listed in a namespace.
const mostKinds = 40

// deepest bounds how far owner references are followed.
const deepest = 8

// addOwned adds what the children own: objects of the usual kinds, and of the groups of those
// children that are custom resources, in the children's namespaces.
func (t *Tree) addOwned(view *liveview.View, j judge) {
	kinds := t.ownableKinds(j.cluster.Served())
	owned := map[types.UID][]live.Object{}
	for _, namespace := range t.ownerNamespaces() {
		for _, r := range kinds {
			found, err := view.In(r, namespace)
			if err != nil {
				t.Notes = append(t.Notes, err.Error()+"; so what is of that kind is not shown")
			}
			for _, l := range found {
				for _, ref := range l.Meta.GetOwnerReferences() {
					owned[ref.UID] = append(owned[ref.UID], l)
				}
			}
		}
	}
	shown := map[types.UID]bool{}
	for _, n := range t.Children {
		shown[n.uid] = true
	}
	for _, n := range t.Children {
		if !n.Patched {
			n.addOwned(owned, j, shown, deepest)
		}
	}
}

// addOwned adds what a node owns, down to a depth. It leaves out objects that are shown already or
// idle.
func (n *Node) addOwned(owned map[types.UID][]live.Object, j judge, shown map[types.UID]bool, depth int) {
	if depth == 0 {
		return
	}
	for _, l := range owned[n.uid] {
		if shown[l.Meta.GetUID()] || isIdle(l) {
			continue
		}
		shown[l.Meta.GetUID()] = true
		one := j.judgeObject(l)
		one.File = "" // annotations are copied down
		n.Owns = append(n.Owns, one)
		one.addOwned(owned, j, shown, depth-1)
	}
}

// isIdle reports whether an object is a ReplicaSet of an earlier rollout.
func isIdle(l live.Object) bool {
	if l.GVK.Kind != "ReplicaSet" {
		return false
	}
	wanted, _, _ := unstructured.NestedInt64(l.Body, "spec", "replicas")
	has, _, _ := unstructured.NestedInt64(l.Body, "status", "replicas")
	return wanted == 0 && has == 0
}

// ownableKinds returns the kinds that children may own.
func (t *Tree) ownableKinds(served *cluster.Served) []live.Resource {
	var all []live.Resource
	for _, gk := range usual {
		if r, found := served.Preferred(gk); found {
			all = append(all, r)
		}
	}
	for _, n := range t.Children {
		gv, err := schema.ParseGroupVersion(n.APIVersion)
		if err != nil || crdschema.BuiltIn(gv.WithKind(n.Kind)) {
			continue
		}
		for _, r := range served.InGroup(gv.Group) {
			if !slices.ContainsFunc(all, func(have live.Resource) bool { return have.GVR == r.GVR }) && len(all) < mostKinds {
				all = append(all, r)
			}
		}
	}
	return all
}

// ownerNamespaces returns the namespaces of the children that may own something.
func (t *Tree) ownerNamespaces() []string {
	var all []string
	for _, n := range t.Children {
		if n.Namespace != "" && !n.Patched && !slices.Contains(all, n.Namespace) {
			all = append(all, n.Namespace)
		}
	}
	slices.Sort(all)
	return all
}
