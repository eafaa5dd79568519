package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Reader reads from the API server of one cluster itself, as one account.
type Reader struct {
	objects  dynamic.Interface
	metadata metadata.Interface
}

func newReader(cfg *rest.Config, httpClient *http.Client) (*Reader, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the API server is fair to its clients; a limiter here would let one kind hold up the others
	objects, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	meta, err := metadata.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a metadata client: %w", err)
	}
	return &Reader{objects: objects, metadata: meta}, nil
}

// objectsOf returns a client for the objects of a kind, in a namespace if they have one.
func (r *Reader) objectsOf(kind live.Resource, namespace string) dynamic.ResourceInterface {
	if !kind.Namespaced {
		return r.objects.Resource(kind.GVR)
	}
	return r.objects.Resource(kind.GVR).Namespace(namespace)
}

// metadataOf returns a client for the metadata of these objects.
func (r *Reader) metadataOf(kind live.Resource, namespace string) metadata.ResourceInterface {
	if !kind.Namespaced {
		return r.metadata.Resource(kind.GVR)
	}
	return r.metadata.Resource(kind.GVR).Namespace(namespace)
}

// Read reads an object.
func (r *Reader) Read(ctx context.Context, kind live.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	return sendRequest(ctx, nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return r.objectsOf(kind, namespace).Get(ctx, name, metav1.GetOptions{})
	})
}

// A Selection is which objects a list is of: those in a namespace, with labels that
// match, at most Limit of them.
type Selection struct {
	Namespace string
	Labels    labels.Selector
	Limit     int64
}

// List lists objects of a kind.
func (r *Reader) List(ctx context.Context, kind live.Resource, in Selection) (*unstructured.UnstructuredList, error) {
	return sendRequest(ctx, nil, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		return r.objectsOf(kind, in.Namespace).List(ctx, metav1.ListOptions{LabelSelector: in.Labels.String(), Limit: in.Limit})
	})
}

// CollectionVersion returns the resourceVersion that the collection of a kind has now. It is a
// consistent read of at most one object.
func (r *Reader) CollectionVersion(ctx context.Context, kind live.Resource, namespace string) (string, error) {
	found, err := r.listMetadata(ctx, kind, namespace, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return found.ResourceVersion, nil
}

// GetMetadata reads the metadata of an existing object, to tell whose it is.
func (r *Reader) GetMetadata(ctx context.Context, kind live.Resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	return sendRequest(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
		return r.metadataOf(kind, namespace).Get(ctx, name, metav1.GetOptions{})
	})
}

// Find does the same by a list, where there is no right to get; it returns nil if there is no
// such object.
func (r *Reader) Find(ctx context.Context, kind live.Resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	found, err := r.listMetadata(ctx, kind, namespace, metav1.ListOptions{FieldSelector: metav1.ObjectNameField + "=" + name})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

func (r *Reader) listMetadata(ctx context.Context, kind live.Resource, namespace string, opts metav1.ListOptions) (
	*metav1.PartialObjectMetadataList, error,
) {
	return sendRequest(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
		return r.metadataOf(kind, namespace).List(ctx, opts)
	})
}

// pageSize is how many objects one list may answer at once.
const pageSize = 500

// Some reports whether there is an object of a kind, in any namespace and with that label
// ("": any), that is meant.
func (r *Reader) Some(ctx context.Context, kind live.Resource, label string, meant func(metav1.Object) bool) (bool, error) {
	opts := metav1.ListOptions{LabelSelector: label, Limit: pageSize}
	for {
		page, err := r.listMetadata(ctx, kind, metav1.NamespaceAll, opts)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(page.Items, func(o metav1.PartialObjectMetadata) bool { return meant(&o) }) {
			return true, nil
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return false, nil
		}
	}
}
