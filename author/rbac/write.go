package rbac

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Binding says to whom roles are bound.
type Binding struct {
	// Operator is the operator's account; the zero Subject means that its roles are
	// bound by others.
	Operator rbacv1.Subject
	// Namespaces are where the role of an account is bound: those of resources.
	Namespaces []string
}

// Write writes roles and their bindings as YAML, each rule below a comment that
// says what needs it. It ends with the first error of the writer.
func Write(to io.Writer, roles []Role, b Binding) error {
	var text strings.Builder
	for _, r := range roles {
		r.write(&text)
		for _, one := range b.bindRole(r) {
			one.write(&text)
		}
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// kindName returns Role or ClusterRole.
func (r Role) kindName() string {
	if r.Namespace != "" {
		return "Role"
	}
	return "ClusterRole"
}

func (r Role) write(to *strings.Builder) {
	fmt.Fprintf(to, "---\n%sapiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", formatComment(r.About), r.kindName(),
		formatScalar(r.Name))
	if r.Namespace != "" {
		fmt.Fprintf(to, "  namespace: %s\n", formatScalar(r.Namespace))
	}
	if len(r.Labels) > 0 {
		to.WriteString("  labels:\n")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		fmt.Fprintf(to, "    %s: %s\n", key, formatScalar(r.Labels[key]))
	}
	to.WriteString("rules:\n")
	for _, rule := range r.Rules {
		for _, why := range rule.Why {
			to.WriteString(formatComment(why))
		}
		fmt.Fprintf(to, "- apiGroups: %s\n  resources: %s\n", formatList(rule.Group), formatList(rule.Resource))
		if len(rule.Names) > 0 {
			fmt.Fprintf(to, "  resourceNames: %s\n", formatList(rule.Names...))
		}
		fmt.Fprintf(to, "  verbs: %s\n", formatList(rule.Verbs...))
	}
}

// formatComment returns a text as a comment of YAML, on one line. The text may hold names of files,
// and so any line break that YAML knows.
func formatComment(text string) string {
	return "# " + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text) + "\n"
}

// A bound is a RoleBinding or ClusterRoleBinding.
type bound struct {
	role      Role
	namespace string
	subject   rbacv1.Subject
}

// bindRole returns the bindings of a role. The account that kind.yaml names is in the namespace of
// each resource, so its role has a binding for each of b.Namespaces.
func (b Binding) bindRole(r Role) []bound {
	switch {
	case r.Holder == Users, r.Labels[api.LabelAggregateTo] != "": // others, or another role, decide
		return nil
	case r.Holder == Operator && b.Operator.Kind == "":
		return nil
	case r.Holder == Operator:
		return []bound{{role: r, namespace: r.Namespace, subject: b.Operator}}
	}
	var all []bound
	for _, namespace := range b.Namespaces {
		one := bound{role: r, namespace: r.Namespace, subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: r.Account}}
		if r.Own {
			one.namespace = namespace
		}
		all = append(all, one)
	}
	return all
}

func (b bound) write(to *strings.Builder) {
	kind, name := "ClusterRoleBinding", b.role.Name
	if b.namespace != "" {
		kind = "RoleBinding"
	}
	if b.role.Holder == Account && b.namespace != b.subject.Namespace { // several accounts have it
		name += ":" + b.subject.Namespace
	}
	fmt.Fprintf(to, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", kind, formatScalar(name))
	if b.namespace != "" {
		fmt.Fprintf(to, "  namespace: %s\n", formatScalar(b.namespace))
	}
	fmt.Fprintf(to, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: %s\nsubjects:\n- kind: %s\n  name: %s\n",
		b.role.kindName(), formatScalar(b.role.Name), b.subject.Kind, formatScalar(b.subject.Name))
	if b.subject.Namespace != "" {
		fmt.Fprintf(to, "  namespace: %s\n", formatScalar(b.subject.Namespace))
	}
	if b.subject.APIGroup != "" {
		fmt.Fprintf(to, "  apiGroup: %s\n", b.subject.APIGroup)
	}
}

// plain is a text that YAML reads as that text.
var plain = regexp.MustCompile(`^[a-z][a-z0-9]*([-./][a-z0-9]+)*$`)

// formatScalar returns a text as YAML.
func formatScalar(s string) string {
	if !plain.MatchString(s) || slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, s) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// formatList returns a list of texts as YAML, on one line.
func formatList(all ...string) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = formatScalar(s)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
