package health

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/apply"
)

// Review asks the API server who may do what, with the rights of whoever asks.
func Review(cfg *rest.Config) (Allowed, error) {
	reviewer, err := apply.NewReviewer(cfg)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, who Account, q rbac.Request) (bool, error) {
		reviewer.User, reviewer.Groups = who.User, who.listGroups()
		return reviewer.Allowed(ctx, attributesOf(q))
	}, nil
}

// attributesOf returns a request as the API server's authorizer sees it.
func attributesOf(q rbac.Request) authorizationv1.ResourceAttributes {
	resource, sub, _ := strings.Cut(q.Resource, "/")
	return authorizationv1.ResourceAttributes{
		Namespace: q.Namespace, Name: q.Name, Verb: q.Verb, Group: q.Group, Resource: resource, Subresource: sub,
	}
}

// listGroups returns the groups that the API server would put the account into.
func (a Account) listGroups() []string {
	all := append([]string{"system:authenticated"}, a.Groups...)
	if account, is := strings.CutPrefix(a.User, "system:serviceaccount:"); is {
		namespace, _, _ := strings.Cut(account, ":")
		all = append(all, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return all
}
