package health

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// Allowed reports whether an account may do something.
type Allowed func(ctx context.Context, who Account, q rbac.Request) (bool, error)

// An Account is a user as requests name it, and its groups, but those of a
// service account.
type Account struct {
	User   string
	Groups []string
}

// findMissingRights finds the rights that the operator needs and does not have. It asks the API
// server about what the folders need, and otherwise reads the messages of resources.
func (l *look) findMissingRights(ctx context.Context, i *Installation) {
	if i.report == nil || l.Allowed == nil || i.Leader.State == verdict.Uninstalled { // who is gone needs none
		return
	}
	roles, err := l.neededRoles(i)
	if err != nil {
		l.addUnknown("some rights of "+i.Identity, err)
	}
	if i.Account == "" {
		err = errors.New("its account is not known")
	} else {
		var missing []rbac.Role
		missing, err = rbac.Missing(roles, func(q rbac.Request) (bool, error) { return l.Allowed(ctx, Account{i.Account, i.Groups}, q) })
		for _, role := range missing {
			for _, rule := range role.Rules {
				i.Lacks = append(i.Lacks, fmt.Sprintf("%s: %s  # %s", role.Where(), rule, rule.Because()))
			}
		}
	}
	if err == nil {
		return
	}
	l.addUnknown("the rights of "+i.Identity+", but for what its resources tell", err)
	i.Lacks = missingRules(i)
}

var rule = regexp.MustCompile(`the missing rule, in (.*?\})`)

// missingRules returns the missing rules that the messages of kinds and resources name.
func missingRules(i *Installation) []string {
	seen := map[string]bool{}
	take := func(text string) {
		for _, m := range rule.FindAllStringSubmatch(text, -1) {
			seen[m[1]] = true
		}
	}
	for _, k := range i.Kinds {
		take(k.Message)
		for _, r := range k.NotReady {
			take(r.Message)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// neededRoles returns the roles that the operator needs, as far as folders are known. The error
// joins what is not known.
func (l *look) neededRoles(i *Installation) ([]rbac.Role, error) {
	roles := rbac.Base(rbac.Installation{Namespace: i.Namespace, Namespaces: i.Namespaces, Identity: i.Identity, Divides: i.Members != nil})
	errs := []error{i.unread}
	for _, k := range i.Kinds {
		err := k.unread
		if k.compiled != nil {
			var of []rbac.Role
			of, err = l.rightsOf(k.compiled, i)
			roles = append(roles, of...)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, err))
		}
	}
	return slices.DeleteFunc(roles, func(r rbac.Role) bool { return r.Holder != rbac.Operator }), errors.Join(errs...)
}

// rightsOf are the roles that serving a kind needs.
func (l *look) rightsOf(k *kind.Kind, i *Installation) ([]rbac.Role, error) {
	absent := map[apischema.GroupResource]bool{}
	roles, err := rbac.Of(rbac.Input{CRD: k.CRD, Kind: k, Namespaces: i.Namespaces, Plural: func(gvk apischema.GroupVersionKind) string {
		r, served := l.Served().Resource(gvk)
		if served || l.Served().Unknown(gvk.Group) != nil {
			return r.GVR.Resource
		}
		name := strings.ToLower(gvk.Kind) + ".not-served"
		absent[apischema.GroupResource{Group: gvk.Group, Resource: name}] = true
		return name
	}})
	return dropAbsent(roles, absent), err
}

// dropAbsent leaves out rules about APIs that the cluster does not serve. They are not needed
// before it does, and nobody knows by which names it would.
func dropAbsent(roles []rbac.Role, absent map[apischema.GroupResource]bool) []rbac.Role {
	var left []rbac.Role
	for _, role := range roles {
		role.Rules = slices.DeleteFunc(slices.Clone(role.Rules), func(r rbac.Rule) bool {
			name, _, _ := strings.Cut(r.Resource, "/")
			return absent[apischema.GroupResource{Group: r.Group, Resource: name}]
		})
		if len(role.Rules) > 0 {
			left = append(left, role)
		}
	}
	return left
}
