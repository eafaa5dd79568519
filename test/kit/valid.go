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

// awaitGranted waits until the API server knows of roles. It takes them up a moment after they were
// written.
func (c *Cluster) awaitGranted(ctx context.Context, who rbacv1.Subject, roles []rbac.Role) error {
	for _, role := range roles {
		for _, rule := range role.Rules {
			if err := c.awaitDecision(ctx, newReview(who, role.Namespace, rule), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// Allowed waits until the API server lets a user do something, see awaitGranted.
func (c *Cluster) Allowed(t testing.TB, user string, what authorizationv1.ResourceAttributes) {
	t.Helper()
	r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &what}}
	if err := c.awaitDecision(context.Background(), r, true); err != nil {
		t.Fatal(err)
	}
}

// awaitWithdrawn waits until the API server knows that rights were taken. It skips those that other
// roles give.
func (c *Cluster) awaitWithdrawn(ctx context.Context, who rbacv1.Subject, taken, roles []rbac.Role) error {
	for _, t := range taken {
		if isGranted(roles, t.Namespace, t.Rules[0]) {
			continue
		}
		if err := c.awaitDecision(ctx, newReview(who, t.Namespace, t.Rules[0]), false); err != nil {
			return err
		}
	}
	return nil
}

// isGranted reports whether some role may give the right to a rule's only verb.
func isGranted(roles []rbac.Role, namespace string, q rbac.Rule) bool {
	gives := func(r rbac.Rule) bool {
		return (r.Group == q.Group || r.Group == "*") && (r.Resource == q.Resource || strings.HasPrefix(r.Resource, "*")) &&
			slices.Contains(r.Verbs, q.Verbs[0]) && (len(r.Names) == 0 || len(q.Names) > 0 && slices.Contains(r.Names, q.Names[0]))
	}
	return slices.ContainsFunc(roles, func(r rbac.Role) bool {
		return (r.Namespace == "" || r.Namespace == namespace) && slices.ContainsFunc(r.Rules, gives)
	})
}

// awaitDecision waits until the API server allows a request, or denies it if allowed is false.
func (c *Cluster) awaitDecision(ctx context.Context, r *authorizationv1.SubjectAccessReview, allowed bool) error {
	return awaitSuccess(func() error {
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

// newReview returns the review of whether an account may use the first verb of a rule.
func newReview(who rbacv1.Subject, namespace string, rule rbac.Rule) *authorizationv1.SubjectAccessReview {
	resource, sub, _ := strings.Cut(rule.Resource, "/")
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: rule.Verbs[0], Group: rule.Group, Resource: resource, Subresource: sub,
	}
	if len(rule.Names) > 0 {
		attributes.Name = rule.Names[0]
	}
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: usernameOf(who),
		ResourceAttributes: attributes}}
}

// usernameOf returns a subject as requests name it.
func usernameOf(who rbacv1.Subject) string {
	if who.Kind == "ServiceAccount" {
		return "system:serviceaccount:" + who.Namespace + ":" + who.Name
	}
	return who.Name
}
