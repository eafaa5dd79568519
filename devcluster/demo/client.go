package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// category is what all kinds of the operator are in, as in
// `kubectl get jacquard`.
const category = "jacquard"

// A client asks one cluster.
type client struct {
	host string
	// namespace is the one that it lists and applies to; "" is any, and default
	// for what does not say its own.
	namespace string
	http      *http.Client
	discovery *discovery.DiscoveryClient
	dynamic   *dynamic.DynamicClient
}

// A resource is one that the cluster serves, in its preferred version.
type resource struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
	ours       bool // is of the category
}

// newClient returns a client with the access of a kubeconfig.
func newClient(kubeconfig string) (*client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1 // no limit of our own
	c := &client{host: config.Host}
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, c.http); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, c.http); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// homeNamespace returns the namespace of what the demo makes by itself.
func (c *client) homeNamespace() string { return cmp.Or(c.namespace, metav1.NamespaceDefault) }

// listResources returns everything that can be listed.
func (c *client) listResources() ([]resource, error) {
	lists, err := c.discovery.ServerPreferredResources()
	// An API whose server is down is not one that the demo is about.
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("asking what the cluster serves: %w", err)
	}
	var all []resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("asking what the cluster serves: %w", err)
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") {
				all = append(all, resource{version.WithResource(r.Name), r.Kind, r.Namespaced, slices.Contains(r.Categories, category)})
			}
		}
	}
	return all, nil
}

// An item is one object and what the cluster's printer says about it.
type item struct {
	*unstructured.Unstructured
	crd   string      // name of the CRD, if it is a custom resource
	cells [][2]string // column and text, in the printer's order
}

// list returns the objects of a resource.
func (c *client) list(ctx context.Context, r resource) ([]item, error) {
	path := "/apis/" + r.Group + "/" + r.Version + "/"
	if c.namespace != "" && r.namespaced {
		path += "namespaces/" + c.namespace + "/"
	}
	table, err := c.fetchTable(ctx, path+r.Resource+"?includeObject=Object")
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", r.GroupResource(), err)
	}
	items := make([]item, len(table.Rows))
	for i, row := range table.Rows {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(row.Object.Raw); err != nil { // which keeps integers whole
			return nil, fmt.Errorf("listing %s: %w", r.GroupResource(), err)
		}
		items[i].Unstructured, items[i].crd = object, r.GroupResource().String()
		for j, column := range table.ColumnDefinitions {
			if j < len(row.Cells) && row.Cells[j] != nil { // some printers forget a cell, or a column
				items[i].cells = append(items[i].cells, [2]string{column.Name, fmt.Sprint(row.Cells[j])})
			}
		}
	}
	return items, nil
}

// fetchTable returns what the server prints for a list.
func (c *client) fetchTable(ctx context.Context, path string) (*metav1.Table, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, body)
	}
	table := &metav1.Table{}
	return table, json.Unmarshal(body, table)
}

// listCategory returns all objects of the category's resources.
func (c *client) listCategory(ctx context.Context) ([]item, error) {
	resources, err := c.listResources()
	if err != nil {
		return nil, err
	}
	var all []item
	for _, r := range resources {
		if !r.ours {
			continue
		}
		items, err := c.list(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}

// cellOf returns the text of a column, or "" if there is none.
func (i item) cellOf(column string) string {
	for _, cell := range i.cells {
		if cell[0] == column {
			return cell[1]
		}
	}
	return ""
}
