package load

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Workers is the parallelism of the raw client and of the load generator.
const Workers = 10

// FieldManager is the field manager of what the harness itself applies.
const FieldManager = "bench"

// Client sends ready-made JSON bodies without a rate limit.
type Client struct {
	rest   rest.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// NewClient makes a client.
func NewClient(cfg *rest.Config) (*Client, error) {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{
		rest:   cs.CoreV1().RESTClient(),
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
	}, nil
}

// Path is the URL path of a collection.
func Path(gvr schema.GroupVersionResource, namespace string) string {
	p := "/apis/" + gvr.Group + "/" + gvr.Version
	if gvr.Group == "" {
		p = "/api/" + gvr.Version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + gvr.Resource
}

// The resources of the children.
var (
	Deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	Services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// Create posts the object.
func (c *Client) Create(ctx context.Context, gvr schema.GroupVersionResource, namespace string, body []byte) error {
	return c.rest.Post().AbsPath(Path(gvr, namespace)).Body(body).Do(ctx).Error()
}

// Apply sends a forced server-side apply.
func (c *Client) Apply(ctx context.Context, gvr schema.GroupVersionResource, k Key, body []byte) error {
	return c.rest.Patch(types.ApplyPatchType).AbsPath(Path(gvr, k.Namespace), k.Name).
		Param("fieldManager", FieldManager).Param("force", "true").Body(body).Do(ctx).Error()
}

// A Patch is a JSON merge patch of an object, or of its subresource, under the
// name of a field manager.
type Patch struct {
	Of                   schema.GroupVersionResource
	Subresource, Manager string
	Body                 []byte
}

// MergePatch sends a patch of the object of this name.
func (c *Client) MergePatch(ctx context.Context, k Key, p Patch) error {
	return c.rest.Patch(types.MergePatchType).AbsPath(Path(p.Of, k.Namespace), k.Name, p.Subresource).
		Param("fieldManager", p.Manager).Body(p.Body).Do(ctx).Error()
}

// Delete deletes the object; one that is not there is no error.
func (c *Client) Delete(ctx context.Context, gvr schema.GroupVersionResource, k Key) error {
	err := c.rest.Delete().AbsPath(Path(gvr, k.Namespace), k.Name).Do(ctx).Error()
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

// CreateNamespaces makes the namespaces.
func (c *Client) CreateNamespaces(ctx context.Context, names ...string) error {
	for _, n := range names {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, n)
		err := c.Create(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", body)
		if err != nil && !errors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// Resource finds the resource of a kind, waiting for it to be served.
func (c *Client) Resource(ctx context.Context, gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	for {
		m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err == nil {
			return m, nil
		}
		c.mapper.Reset()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%v is not served: %w", gvk, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// ApplyManifest applies the objects in order, waiting for each one's kind to be served.
func (c *Client) ApplyManifest(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		m, err := c.Resource(ctx, o.GroupVersionKind())
		if err != nil {
			return err
		}
		if m.Scope.Name() == meta.RESTScopeNameNamespace && o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
		body, err := o.MarshalJSON()
		if err != nil {
			return err
		}
		k := Key{o.GetNamespace(), o.GetName()}
		err = c.Apply(ctx, m.Resource, k, body)
		// A kind can be in discovery a moment before its storage answers.
		for i := 0; i < 50 && errors.IsNotFound(err); i++ {
			time.Sleep(100 * time.Millisecond)
			err = c.Apply(ctx, m.Resource, k, body)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// Each calls f for every index in [0, n) from ten workers and returns the first error.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan int)
	var wg sync.WaitGroup
	for range Workers {
		wg.Go(func() {
			for i := range work {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case work <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

// RawResult is what the machine and the API server can do without an operator.
type RawResult struct {
	ApplySeconds  float64 `json:"applySeconds"`  // 2N children, server-side apply
	UpdateSeconds float64 `json:"updateSeconds"` // N Deployments, server-side apply with a new image
	CreateSeconds float64 `json:"createSeconds"` // 2N children, POST
}

// Raw measures the raw client on 2N children and removes them again.
func (c *Client) Raw(ctx context.Context, n int) (RawResult, error) {
	var r RawResult
	keys := Keys("raw", n)
	if err := c.CreateNamespaces(ctx, Namespaces(keys)...); err != nil {
		return r, err
	}
	v1, v2 := make([][]byte, n), make([][]byte, n)
	services := make([][]byte, n)
	for i, k := range keys {
		v1[i], v2[i], services[i] = RawDeployment(k, ImageV1), RawDeployment(k, ImageV2), RawService(k)
	}
	post := func(ctx context.Context, i int) error {
		if err := c.Create(ctx, Deployments, keys[i].Namespace, v1[i]); err != nil {
			return err
		}
		return c.Create(ctx, Services, keys[i].Namespace, services[i])
	}
	remove := func(ctx context.Context, i int) error {
		if err := c.Delete(ctx, Deployments, keys[i]); err != nil {
			return err
		}
		return c.Delete(ctx, Services, keys[i])
	}
	timed := func(into *float64, n int, f func(context.Context, int) error) error {
		start := time.Now()
		err := Each(ctx, n, f)
		if into != nil {
			*into = time.Since(start).Seconds()
		}
		return err
	}
	steps := []struct {
		into *float64
		n    int
		f    func(context.Context, int) error
	}{
		{nil, min(n, 200), post}, // warm-up
		{nil, min(n, 200), remove},
		{&r.CreateSeconds, n, post},
		{nil, n, remove},
		{&r.ApplySeconds, n, func(ctx context.Context, i int) error {
			if err := c.Apply(ctx, Deployments, keys[i], v1[i]); err != nil {
				return err
			}
			return c.Apply(ctx, Services, keys[i], services[i])
		}},
		{&r.UpdateSeconds, n, func(ctx context.Context, i int) error {
			return c.Apply(ctx, Deployments, keys[i], v2[i])
		}},
		{nil, n, remove},
	}
	for _, s := range steps {
		if err := timed(s.into, s.n, s.f); err != nil {
			return r, err
		}
	}
	return r, nil
}

// RenderAll renders the custom resources of all keys.
func RenderAll(t *Template, keys []Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		raw, err := t.Render(k)
		if err != nil {
			return nil, err
		}
		out[i] = bytes.TrimSpace(raw)
	}
	return out, nil
}
