package testcluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/jacquard-operator/jacquard/engine/rights"
)

// valid waits until the API server knows of roles: it takes them up a moment
// after they were written.
func (c *Cluster) valid(ctx context.Context, who rbacv1.Subject, roles []rights.Role) error {
	for _, role := range roles {
		for _, rule := range role.Rules {
			if err := c.allowed(ctx, review(who, role.Namespace, rule)); err != nil {
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
	if err := c.allowed(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) allowed(ctx context.Context, r *authorizationv1.SubjectAccessReview) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		asked := r.DeepCopy()
		if err := c.Client.Create(ctx, asked); err != nil {
			return err
		}
		if asked.Status.Allowed {
			return nil
		}
	}
	return fmt.Errorf("the API server does not take up the right to %v", r.Spec.ResourceAttributes)
}

// review asks for the first verb of a rule.
func review(who rbacv1.Subject, namespace string, rule rights.Rule) *authorizationv1.SubjectAccessReview {
	resource, sub, _ := strings.Cut(rule.Resource, "/")
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: rule.Verbs[0], Group: rule.Group, Resource: resource, Subresource: sub,
	}
	if len(rule.Names) > 0 {
		attributes.Name = rule.Names[0]
	}
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: username(who), ResourceAttributes: attributes}}
}

// username is a subject as requests name it.
func username(who rbacv1.Subject) string {
	if who.Kind == "ServiceAccount" {
		return "system:serviceaccount:" + who.Namespace + ":" + who.Name
	}
	return who.Name
}
