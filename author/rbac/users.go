package rbac

import (
	"fmt"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// aggregate begins the labels by which a cluster puts rules into its own roles
// view, edit and admin.
const aggregate = "rbac.authorization.k8s.io/aggregate-to-"

// userView, userEdit and userAdmin end the names of the roles of people.
const userView, userEdit, userAdmin = "view", "edit", "admin"

// UserRoles makes the roles of the people who read and write the resources of a
// kind: each holds what the one before it holds. The cluster's own roles view,
// edit and admin take them up, unless whoever may write a resource reaches
// further by it than to objects of their own.
func UserRoles(crd *schema.CRD, k *kind.Kind) []Role {
	read := []Rule{{Group: crd.Group, Resource: crd.Plural, Verbs: []string{"get", "list", "watch"}}}
	write := []Rule{{Group: crd.Group, Resource: crd.Plural, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}}}
	if hasVersion(crd, func(v *schema.Version) bool { return v.Status }) {
		status := Rule{Group: crd.Group, Resource: crd.Plural + "/status", Verbs: []string{"get"}}
		read, write = append(read, status), append(write, status)
	}
	if hasVersion(crd, func(v *schema.Version) bool { return v.Scale != nil }) {
		scale := Rule{Group: crd.Group, Resource: crd.Plural + "/scale", Verbs: []string{"get"}}
		read = append(read, scale)
		scale.Verbs = []string{"get", "update", "patch"}
		write = append(write, scale)
	}
	all := slices.Clone(write)
	all[0].Verbs = append(slices.Clone(all[0].Verbs), "deletecollection")
	reaches := furtherReach(k)
	role := func(name, about string, rules []Rule, into ...string) Role {
		r := Role{
			Name: "jacquard:" + crd.Name + ":" + name, Holder: Users, Rules: rules,
			About: fmt.Sprintf("Lets people %s %s (%s).", about, crd.Kind, crd.Name),
		}
		if reaches != "" {
			r.About += " No role of the cluster takes it up, since " + reaches + ": bind it to whom you trust with that."
			return r
		}
		r.Labels = map[string]string{}
		for _, of := range into {
			r.Labels[aggregate+of] = "true"
		}
		return r
	}
	return []Role{
		role(userView, "see", read, "view", "edit", "admin"),
		role(userEdit, "see and write", write, "edit", "admin"),
		role(userAdmin, "see and write, and delete all at once,", all, "admin"),
	}
}

// furtherReach says why whoever may write resources of a kind reaches further by
// them than to objects of their own: the folder patches objects of others, grants
// rights, makes or reads something outside of their namespace, or makes what the
// cluster's own role edit does not let them make; "" if it does none of that.
func furtherReach(k *kind.Kind) string {
	for _, d := range k.Documents {
		if d.Patch() {
			return formatPlace(d.Start) + " patches objects of others (" + d.Kind + ")"
		}
	}
	for _, c := range k.Children {
		where, _ := k.Placement(c.GroupVersionKind)
		switch {
		case c.Group == rbac:
			return formatPlace(c.Place) + " grants rights (" + c.Kind + ")"
		case k.CRD.Namespaced && k.ClusterScoped(c.GroupVersionKind):
			return formatPlace(c.Place) + " makes objects without a namespace (" + c.Kind + ")"
		case where.Elsewhere():
			return formatPlace(c.Place) + " makes objects in other namespaces (" + c.Kind + ")"
		case k.CRD.Namespaced && !EditMakes(c.GroupKind()):
			return formatPlace(c.Place) + " makes objects that the cluster's own edit may not make (" + c.Kind + ")"
		}
	}
	return readsElsewhere(k)
}

// readsElsewhere says which objects of other namespaces a folder reads, whose
// contents may come out in children; "" if it reads none.
func readsElsewhere(k *kind.Kind) string {
	for _, r := range k.ReadKinds() {
		if len(r.Rules) > 0 && !k.ClusterScoped(r.GroupVersionKind) {
			return "it reads objects of other namespaces (" + r.Kind + ")"
		}
	}
	return ""
}

// hasVersion reports whether the CRD serves a version for which such returns true.
func hasVersion(crd *schema.CRD, such func(*schema.Version) bool) bool {
	return slices.ContainsFunc(crd.Versions, func(v *schema.Version) bool { return v.Served && such(v) })
}
