package apply

import (
	"fmt"
	"regexp"
)

// lacking is how RBAC refuses a request.
var lacking = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?`)

// missingRule is the rule that would allow what RBAC refused, and where it would
// have to stand; "" if it was not RBAC that refused.
func missingRule(message string) string {
	m := lacking.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	where := "a ClusterRole"
	if m[4] != "" {
		where = fmt.Sprintf("a Role in namespace %q", m[4])
	}
	return fmt.Sprintf("%s: {apiGroups: [%q], resources: [%q], verbs: [%q]}", where, m[3], m[2], m[1])
}
