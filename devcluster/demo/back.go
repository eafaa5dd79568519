package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// bringBack deletes a child and shows how long it is gone.
func (d *demo) bringBack(ctx context.Context) error {
	d.screen.printHeading("A child, deleted and back")
	owner, name, err := d.withDeployment(ctx)
	if err != nil {
		return err
	}
	in := d.client.dynamic.Resource(deployments).Namespace(owner.GetNamespace())
	before, err := in.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading a Deployment: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	events, err := in.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(), ResourceVersion: before.GetResourceVersion(),
	})
	if err != nil {
		return fmt.Errorf("watching a Deployment: %w", err)
	}
	defer events.Stop()
	d.screen.printStep("kubectl delete deployment %s --namespace %s", name, owner.GetNamespace())
	begun := time.Now()
	if err := in.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting a Deployment: %w", err)
	}
	back, err := awaitCreated(ctx, events)
	if err != nil {
		return d.withOperatorLog(fmt.Errorf("waiting for Deployment %s to come back: %w", name, err))
	}
	took := time.Since(begun)
	if back.GetUID() == before.GetUID() {
		return fmt.Errorf("the Deployment %s was not deleted", name)
	}
	d.screen.printStep("Deployment %s is back after %d ms, with another uid", name, took.Milliseconds())
	err = awaitSuccess(ctx, d.limit, func() error { return d.allReady(ctx) })
	if err != nil {
		return d.withOperatorLog(err)
	}
	d.screen.printStep("%s is Ready, with all Pods, %.1f s after the deletion", describeObject(owner.Unstructured),
		time.Since(begun).Seconds())
	return nil
}

// withDeployment returns a resource that has a Deployment, and its name.
func (d *demo) withDeployment(ctx context.Context) (item, string, error) {
	ours, err := d.client.listCategory(ctx)
	if err != nil {
		return item{}, "", err
	}
	for _, i := range ours {
		children, _, _ := unstructured.NestedSlice(i.Object, "status", "children")
		for _, entry := range children {
			child, _ := entry.(map[string]any)
			if name, _ := child["name"].(string); child["kind"] == "Deployment" {
				return i, name, nil
			}
		}
	}
	return item{}, "", errors.New("no resource has a Deployment")
}

// awaitCreated returns the next object that was created, according to a watch.
func awaitCreated(ctx context.Context, events watch.Interface) (*unstructured.Unstructured, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case event, open := <-events.ResultChan():
			if !open {
				return nil, errors.New("the watch ended")
			}
			if object, ok := event.Object.(*unstructured.Unstructured); ok && event.Type == watch.Added {
				return object, nil
			}
		}
	}
}

// allReady is nil once every resource is ready.
func (d *demo) allReady(ctx context.Context) error {
	items, err := d.client.listCategory(ctx)
	if err != nil {
		return err
	}
	return notReady(items)
}
