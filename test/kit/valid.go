package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/jacquard-operator/jacquard/author/rbac"
)

// valid waits until the API server knows of roles: it takes them up a moment
// after they were written.
func (c *Cluster) valid(ctx context.Context, who rbacv1.Subject, roles []rbac.Role) error {
	for _, role := range roles {
		for _, rule := range role.Rules {
			if err := c.decides(ctx, review(who, role.Namespace, rule), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// Allowed waits until the API server lets a user do something, see valid.
func (c *Cluster) Allowed(t testing.TB, user string, what authorizationv1.ResourceAttributes) {
	t.Helper()
	r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &what}}
	if err := c.decides(context.Background(), r, true); err != nil {
		t.Fatal(err)
	}
}

// invalid waits until the API server knows that rights were taken, but for those
// that other roles give.
func (c *Cluster) invalid(ctx context.Context, who rbacv1.Subject, taken, roles []rbac.Role) error {
	for _, t := range taken {
		if given(roles, t.Namespace, t.Rules[0]) {
			continue
		}
		if err := c.decides(ctx, review(who, t.Namespace, t.Rules[0]), false); err != nil {
			return err
		}
	}
	return nil
}

// given reports whether some role may give the right to a rule's only verb.
func given(roles []rbac.Role, namespace string, q rbac.Rule) bool {
	gives := func(r rbac.Rule) bool {
		return (r.Group == q.Group || r.Group == "*") && (r.Resource == q.Resource || strings.HasPrefix(r.Resource, "*")) &&
			slices.Contains(r.Verbs, q.Verbs[0]) && (len(r.Names) == 0 || len(q.Names) > 0 && slices.Contains(r.Names, q.Names[0]))
	}
	return slices.ContainsFunc(roles, func(r rbac.Role) bool {
		return (r.Namespace == "" || r.Namespace == namespace) && slices.ContainsFunc(r.Rules, gives)
	})
}

func (c *Cluster) decides(ctx context.Context, r *authorizationv1.SubjectAccessReview, allowed bool) error {
	return poll(func() error {
		asked := r.DeepCopy()
		if err := c.Client.Create(ctx, asked); err != nil {
			return err
		}
		if asked.Status.Allowed != allowed {
			return fmt.Errorf("the API server does not take up that the right to %v is %t", r.Spec.ResourceAttributes, allowed)
		}
		return nil
	})
}

// review asks for the first verb of a rule.
func review(who rbacv1.Subject, namespace string, rule rbac.Rule) *authorizationv1.SubjectAccessReview {
	resource, sub, _ := strings.Cut(rule.Resource, "/")
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: rule.Verbs[0], Group: rule.Group, Resource: resource, Subresource: sub,
	}
	if len(rule.Names) > 0 {
		attributes.Name = rule.Names[0]
	}
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: username(who),
		ResourceAttributes: attributes}}
}

// username is a subject as requests name it.
func username(who rbacv1.Subject) string {
	if who.Kind == "ServiceAccount" {
		return "system:serviceaccount:" + who.Namespace + ":" + who.Name
	}
	return who.Name
}
