package liveview

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// A lister lists one page of objects of a kind.
type lister func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error)

// bodyLister returns a lister of whole objects. The namespace "" means all of them.
func bodyLister(client dynamic.Interface, r live.Resource, namespace string) lister {
	return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		if r.Namespaced && namespace != "" {
			return client.Resource(r.GVR).Namespace(namespace).List(ctx, opts)
		}
		return client.Resource(r.GVR).List(ctx, opts)
	}
}

// metadataLister returns a lister of the metadata of objects. The namespace "" means all of them.
func (s *Survey) metadataLister(r live.Resource, namespace string) lister {
	return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		if r.Namespaced && namespace != "" {
			return s.metadata.Resource(r.GVR).Namespace(namespace).List(ctx, opts)
		}
		return s.metadata.Resource(r.GVR).List(ctx, opts)
	}
}

// listAll lists everything, in pages. Its error is the server's answer.
func (l lister) listAll(ctx context.Context, opts metav1.ListOptions) ([]metav1.Object, error) {
	list, _, err := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		page, err := l(ctx, opts)
		return page, cluster.Explain(ctx, err, l)
	}).List(ctx, opts)
	if err != nil {
		return nil, err
	}
	var found []metav1.Object
	err = meta.EachListItem(list, func(o runtime.Object) error {
		one, err := meta.Accessor(o)
		if err == nil {
			found = append(found, one)
		}
		return err
	})
	return found, err
}

// objectOf makes a Live of what a lister found.
func objectOf(r live.Resource, o metav1.Object) live.Object {
	if u, whole := o.(*unstructured.Unstructured); whole {
		u.SetGroupVersionKind(r.GVK)
		return live.Object{GVK: r.GVK, Meta: u, Body: u.Object}
	}
	return live.Object{GVK: r.GVK, Meta: o}
}

// classifyError adds to an error what could not be read, and which rule of RBAC is missing.
func classifyError(doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, refusals.Classify(err))
}

// impersonateAccount returns a client that acts as a service account, namespace/name.
func impersonateAccount(cfg *rest.Config, account string) (dynamic.Interface, error) {
	namespace, name, _ := strings.Cut(account, "/")
	cfg = rest.CopyConfig(cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("acting as service account %s: %w", account, err)
	}
	return client, nil
}
