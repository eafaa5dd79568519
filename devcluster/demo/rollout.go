package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The kind that is rolled out, and its images. No registry has a name that ends
// in .invalid (RFC 2606).
const (
	siteKind  = "sites.demo.example.com"
	siteCount = 6
	goodImage = "registry.k8s.io/pause:3.10"
	badImage  = "registry.invalid/pause:3.11"
)

// rollOut changes a folder so that its Pods cannot start, sees the rollout stop
// at the first resource, and puts the folder back.
func (d *demo) rollOut(ctx context.Context) error {
	d.screen.printHeading("A bad image, stopped at the first wave of a rollout")
	if err := d.makeSites(ctx); err != nil {
		return err
	}
	file := filepath.Join(d.dir, "site", "templates", siteKind, "deployment.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading a template: %w", err)
	}
	bad := strings.ReplaceAll(string(text), goodImage, badImage)
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
		return fmt.Errorf("writing a template: %w", err)
	}
	shown := d.relativePath("site", "templates", siteKind, "deployment.yaml")
	d.screen.printStep("changed the image in %s to %s, which nobody can pull", shown, badImage)
	if err := d.awaitStop(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("writing a template: %w", err)
	}
	d.screen.printStep("put %s back", goodImage)
	begun := time.Now()
	err = awaitSuccess(ctx, d.limit, func() error {
		if bad, _, err := d.countSites(ctx); err != nil || bad > 0 {
			return errors.Join(err, fmt.Errorf("%d Deployments have the bad image", bad))
		}
		return d.allReady(ctx)
	})
	if err != nil {
		return d.withOperatorLog(fmt.Errorf("putting the image back: %w", err))
	}
	d.screen.printStep("the image is back everywhere after %.1f s, and all %d Sites are Ready", time.Since(begun).Seconds(), siteCount)
	return nil
}

// makeSites applies the resources of the kind and waits until all are ready.
func (d *demo) makeSites(ctx context.Context) error {
	for n := range siteCount {
		site := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "demo.example.com/v1", "kind": "Site", "metadata": map[string]any{"name": fmt.Sprintf("site-%d", n+1)},
			"spec": map[string]any{},
		}}
		if err := awaitSuccess(ctx, d.limit, func() error { return d.client.applyObject(ctx, site) }); err != nil {
			return d.withOperatorLog(err)
		}
	}
	err := awaitSuccess(ctx, d.limit, func() error {
		if _, there, err := d.countSites(ctx); err != nil || there < siteCount {
			return errors.Join(err, fmt.Errorf("%d of %d Deployments are available", there, siteCount))
		}
		return d.allReady(ctx)
	})
	if err != nil {
		return d.withOperatorLog(fmt.Errorf("waiting for the Sites: %w", err))
	}
	d.screen.printStep("%d Sites are Ready; each is a Deployment with %s", siteCount, goodImage)
	return nil
}

// awaitStop waits until the rollout has stopped, and counts what it reached.
func (d *demo) awaitStop(ctx context.Context) error {
	var said string
	var record struct {
		State, Message string
		Wave           int
	}
	err := awaitSuccess(ctx, d.limit, func() error {
		crd, err := d.client.dynamic.Resource(definitions).Get(ctx, siteKind, metav1.GetOptions{})
		if err != nil {
			return err
		}
		text := ""
		for key, value := range crd.GetAnnotations() {
			if strings.HasPrefix(key, "jacquard.dev/rollout") || strings.HasPrefix(key, "rollout.jacquard.dev/") {
				text = value
			}
		}
		if text != "" && json.Unmarshal([]byte(text), &record) != nil {
			return fmt.Errorf("the record of the rollout is %q", text)
		}
		if record.State == "Running" && said != record.State {
			d.screen.printStep("wave %d: one of %d Sites has the new image; it has 5 s to become Ready", record.Wave, siteCount)
			said = record.State
		}
		if record.State != "Stopped" {
			return fmt.Errorf("the rollout is %q", record.State)
		}
		return nil
	})
	if err != nil {
		return d.withOperatorLog(fmt.Errorf("waiting for the rollout to stop: %w", err))
	}
	bad, available, err := d.countSites(ctx)
	if err != nil {
		return err
	}
	d.screen.printStep("the rollout stopped: %s", record.Message)
	d.screen.printStep("%d of %d Deployments has the bad image; all %d are available, since its old Pod still runs", bad, siteCount, available)
	if bad != 1 || available != siteCount {
		return fmt.Errorf("%d Deployments have the bad image and %d are available, want 1 and %d", bad, available, siteCount)
	}
	return nil
}

// countSites counts the Deployments of the Sites: those with the bad image, and those that are
// available.
func (d *demo) countSites(ctx context.Context) (bad, available int, err error) {
	list, err := d.client.dynamic.Resource(deployments).Namespace(d.client.homeNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, fmt.Errorf("listing Deployments: %w", err)
	}
	for _, one := range list.Items {
		if !strings.HasPrefix(one.GetName(), "site-") {
			continue
		}
		text, err := json.Marshal(one.Object["spec"])
		if err != nil {
			return 0, 0, err
		}
		if strings.Contains(string(text), badImage) {
			bad++
		}
		if n, _, _ := unstructured.NestedInt64(one.Object, "status", "availableReplicas"); n > 0 {
			available++
		}
	}
	return bad, available, nil
}
