package rights

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// aggregate begins the labels by which a cluster puts rules into its own roles
// view, edit and admin.
const aggregate = "rbac.authorization.k8s.io/aggregate-to-"

// userView and userEdit end the names of the roles of people.
const userView, userEdit = "view", "edit"

// UserRoles makes the roles of the people who read and write the resources of a
// kind. The cluster's own roles view, edit and admin take them up.
func UserRoles(crd *schema.CRD) []Role {
	role := func(name, about string, verbs []string, into ...string) Role {
		labels := map[string]string{}
		for _, of := range into {
			labels[aggregate+of] = "true"
		}
		return Role{
			Name: "jacquard:" + crd.Name + ":" + name, Holder: Users, Labels: labels,
			About: fmt.Sprintf("Lets people %s %s (%s).", about, crd.Kind, crd.Name),
			Rules: []Rule{{Group: crd.Group, Resource: crd.Plural, Verbs: verbs}},
		}
	}
	return []Role{
		role(userView, "see", []string{"get", "list", "watch"}, "view", "edit", "admin"),
		role(userEdit, "write", []string{"create", "update", "patch", "delete", "deletecollection"}, "edit", "admin"),
	}
}
