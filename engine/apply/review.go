package apply

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// A Reviewer asks the API server who may do what. That changes nothing.
type Reviewer struct {
	client *authorizationclient.AuthorizationV1Client
	whoami *authenticationclient.AuthenticationV1Client
	// User is whose rights are asked for, as requests name them; "" are those of
	// whoever asks. Groups are all of the user's.
	User   string
	Groups []string
}

// NewReviewer returns a Reviewer of the rights of whoever asks.
func NewReviewer(cfg *rest.Config) (*Reviewer, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the API server is fair to its clients
	client, err := authorizationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	whoami, err := authenticationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Reviewer{client: client, whoami: whoami}, nil
}

// Self is the user name of whoever asks, and the groups, unless it is a service
// account, whose go without saying.
func (r *Reviewer) Self(ctx context.Context) (user string, groups []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	answer, err := r.whoami.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("asking for its own name: %w", err)
	}
	user = answer.Status.UserInfo.Username
	if !strings.HasPrefix(user, "system:serviceaccount:") {
		groups = answer.Status.UserInfo.Groups
	}
	return user, groups, nil
}

// Knows reports whether the API server knows a token; an error: it could not be asked.
func (r *Reviewer) Knows(ctx context.Context, token string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	answer, err := r.whoami.TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("reviewing a token: %w", err)
	}
	return answer.Status.Authenticated, nil
}

// Allowed reports whether the user may do something.
func (r *Reviewer) Allowed(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if r.User == "" {
		answer, err := r.client.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("asking for its own permissions: %w", err)
		}
		return answer.Status.Allowed, nil
	}
	answer, err := r.client.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: r.User, Groups: r.Groups, ResourceAttributes: &what}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking for the permissions of %s: %w", r.User, err)
	}
	return answer.Status.Allowed, nil
}
