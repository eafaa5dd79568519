package refusals

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// How the API server refuses what somebody has no right to: by RBAC, and where
// the admission plugin OwnerReferencesPermissionEnforcement is on, to whoever
// may not block the deletion of the owner, or not delete what they give one.
var (
	lacking  = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?`)
	blocking = regexp.MustCompile(`cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on`)
	owning   = regexp.MustCompile(`^(\S+) "[^"]*" is forbidden: cannot set an ownerRef on a resource you can't delete`)
	granting = regexp.MustCompile(`(?s)^(\S+) "[^"]*" is forbidden: (user .* is attempting to grant RBAC permissions not currently held).*`)
	creating = regexp.MustCompile(`^(\S+) "[^"]*" is forbidden: (RBAC: .*)?$`) // a create by apply, before Kubernetes 1.32
	unmapped = regexp.MustCompile(`cannot set blockOwnerDeletion in this case because cannot find RESTMapping`)
)

// missingRule is the rule that would allow what was refused to whoever wrote
// the document, and where it would have to stand; "" if it was not a right that was missing.
func missingRule(message string, document map[string]any) string {
	if m := lacking.FindStringSubmatch(message); m != nil {
		return formatRule(m[1], m[2], m[3], m[4])
	}
	o := &unstructured.Unstructured{Object: document}
	if owner, ok := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner]); ok && blocking.MatchString(message) {
		plural, group, _ := strings.Cut(owner.Kind, ".")
		return formatRule("update", plural+"/finalizers", group, owner.Namespace)
	}
	if m := granting.FindStringSubmatch(message); m != nil {
		return grantingRule(m[1], o)
	}
	if m := owning.FindStringSubmatch(message); m != nil {
		plural, group, _ := strings.Cut(m[1], ".")
		return formatRule("delete", plural, group, o.GetNamespace())
	}
	if m := creating.FindStringSubmatch(message); m != nil {
		plural, group, _ := strings.Cut(m[1], ".")
		return formatRule("create", plural, group, o.GetNamespace())
	}
	return ""
}

// grantingRule is the rule by which somebody may write a role with rights, or a
// binding to a role, that they do not have themselves.
func grantingRule(resource string, o *unstructured.Unstructured) string {
	plural, group, _ := strings.Cut(resource, ".")
	if !strings.HasSuffix(plural, "bindings") {
		return formatRule("escalate", plural, group, o.GetNamespace())
	}
	of, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind")
	if of == "Role" {
		return formatRule("bind", "roles", group, o.GetNamespace())
	}
	return formatRule("bind", "clusterroles", group, o.GetNamespace())
}

func formatRule(verb, resource, group, namespace string) string {
	where := "a ClusterRole"
	if namespace != "" {
		where = fmt.Sprintf("a Role in namespace %q", namespace)
	}
	return fmt.Sprintf("%s: {apiGroups: [%q], resources: [%q], verbs: [%q]}", where, group, resource, verb)
}

// roleKind is how the API server refuses a binding to what is no role.
var roleKind = regexp.MustCompile(`unsupported role reference kind: .*`)

// hideRights returns what the server says, without the rights and references of a role or binding,
// which are values of the document.
func hideRights(message string) string {
	message = roleKind.ReplaceAllString(message, "unsupported role reference kind")
	return granting.ReplaceAllString(message, `$1 is forbidden: $2`)
}
