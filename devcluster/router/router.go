// Package router stands in for OpenShift's router: it admits Routes.
package router

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// routes are what OpenShift's router serves.
var routes = schema.GroupVersionResource{Group: "route.openshift.io", Version: "v1", Resource: "routes"}

// lookForRoutes is how often the router looks whether there are Routes at all.
const lookForRoutes = 500 * time.Millisecond

// Run is `devcluster router`: it admits Routes as OpenShift's router does, by their status, as
// long as the cluster has such a kind; until then, and when the CRD goes, it
// looks again every now and then.
func Run(args []string) error {
	flags := flag.NewFlagSet("devcluster router", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "`FILE` to connect with")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1 // no limit of our own
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for ctx.Err() == nil {
		if err := admitRoutes(ctx, client); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
			fmt.Fprintln(os.Stderr, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookForRoutes):
		}
	}
	return nil
}

// admitRoutes admits all Routes that there are and that come, until the watch
// ends. A cluster without Routes answers "not found".
func admitRoutes(ctx context.Context, client dynamic.Interface) error {
	list, err := client.Resource(routes).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Routes: %w", err)
	}
	for i := range list.Items {
		admitRoute(ctx, client, &list.Items[i])
	}
	changes, err := client.Resource(routes).Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return fmt.Errorf("watching Routes: %w", err)
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		route, ok := change.Object.(*unstructured.Unstructured)
		if !ok || route.GetKind() != "Route" {
			return fmt.Errorf("watching Routes: %w", apierrors.FromObject(change.Object))
		}
		if change.Type != "DELETED" {
			admitRoute(ctx, client, route)
		}
	}
	return nil
}

// admitRoute writes the status of a Route that has not the one it should. What
// fails is logged and tried again with the Route's next change.
func admitRoute(ctx context.Context, client dynamic.Interface, route *unstructured.Unstructured) {
	host, _, _ := unstructured.NestedString(route.Object, "spec", "host")
	if host == "" {
		host = fmt.Sprintf("%s-%s.apps.example.test", route.GetName(), route.GetNamespace())
	}
	if route.GetDeletionTimestamp() != nil || admittedHost(route) == host {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"ingress": []any{map[string]any{
		"host":       host,
		"routerName": "default",
		"conditions": []any{map[string]any{"type": "Admitted", "status": "True"}},
	}}}})
	if err == nil {
		_, err = client.Resource(routes).Namespace(route.GetNamespace()).Patch(ctx, route.GetName(),
			types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "openshift-router"}, "status")
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "admitting Route %s/%s: %v\n", route.GetNamespace(), route.GetName(), err)
	}
}

// admittedHost returns the host under which the default router has admitted a
// Route, or "".
func admittedHost(route *unstructured.Unstructured) string {
	ingress, _, _ := unstructured.NestedSlice(route.Object, "status", "ingress")
	for _, entry := range ingress {
		entry, _ := entry.(map[string]any)
		if entry["routerName"] != "default" {
			continue
		}
		conditions, _, _ := unstructured.NestedSlice(entry, "conditions")
		for _, condition := range conditions {
			condition, _ := condition.(map[string]any)
			if condition["type"] == "Admitted" && condition["status"] == "True" {
				host, _ := entry["host"].(string)
				return host
			}
		}
	}
	return ""
}
