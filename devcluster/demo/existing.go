package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
)

// ownName is the namespace that the demo makes in a cluster that there is, and
// the value of the label ownLabel of each CRD that it makes there.
const (
	ownName  = "jacquard-demo"
	ownLabel = "app.kubernetes.io/managed-by"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// enterCluster asks whether it is the right cluster, and makes the namespace.
func (d *demo) enterCluster(ctx context.Context) (err error) {
	if d.outside, err = filepath.Abs(d.outside); err != nil {
		return fmt.Errorf("finding the kubeconfig: %w", err)
	}
	if d.client, err = newClient(d.outside); err != nil {
		return err
	}
	d.client.namespace = ownName
	d.screen.printHeading("Jacquard, on a cluster that is there")
	if err := d.confirmContext(ctx); err != nil {
		return err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ownName, "labels": map[string]any{ownLabel: ownName}},
	}}
	_, err = d.client.dynamic.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %s exists: another demo runs, or one could not clean up; in the latter case "+
			"run kubectl delete namespace %[1]s and kubectl delete crd --selector %[2]s=%[1]s", ownName, ownLabel)
	}
	if err != nil {
		return fmt.Errorf("making the namespace %s: %w", ownName, err)
	}
	d.made = true
	d.screen.printStep("made the namespace %s; it and the CRDs made here are removed at the end", ownName)
	return nil
}

// confirmContext asks for the context's name, unless the cluster is on this machine.
func (d *demo) confirmContext(ctx context.Context) error {
	config, err := clientcmd.LoadFromFile(d.outside)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	address, err := url.Parse(d.client.host)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	if ip := net.ParseIP(address.Hostname()); address.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		d.screen.printStep("the API server is %s, on this machine", d.client.host)
		return nil
	}
	fmt.Fprintf(d.screen, "This makes the namespace %s and some CRDs in the cluster of context %q, %s,\n"+
		"runs an operator here with your rights, and removes it all at the end.\nType the context's name to go on: ",
		ownName, config.CurrentContext, d.client.host)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case name := <-answer:
		if name == "" || name != config.CurrentContext {
			return fmt.Errorf("%q is not the context %q: nothing was changed", name, config.CurrentContext)
		}
		return nil
	}
}

// chooseKinds copies the kinds that the cluster can have, and makes their CRDs. A
// kind that is there already is left alone.
func (d *demo) chooseKinds(ctx context.Context) error {
	served, err := d.client.listResources()
	if err != nil {
		return err
	}
	root := filepath.Join(d.dir, "kinds")
	for _, part := range []string{"crds", "templates"} {
		if err := os.MkdirAll(filepath.Join(root, part), 0o755); err != nil {
			return fmt.Errorf("making %s: %w", root, err)
		}
	}
	all := d.kinds
	d.kinds = nil
	for _, name := range all {
		why, err := d.findObstacle(ctx, name, served)
		if err != nil {
			return err
		}
		if why != "" {
			d.screen.printStep("leaving out %s: %s", name, why)
			continue
		}
		if err := d.copyKind(root, name); err != nil {
			return err
		}
		d.kinds = append(d.kinds, name)
	}
	for _, dir := range []string{root, filepath.Join(d.dir, "site")} {
		files, err := filepath.Glob(filepath.Join(dir, "crds", "*.yaml"))
		if err != nil {
			return fmt.Errorf("reading %s: %w", dir, err)
		}
		for _, file := range files {
			if err := d.applyNew(ctx, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// findObstacle returns why the cluster cannot have a kind, or "" if it can.
func (d *demo) findObstacle(ctx context.Context, name string, served []resource) (string, error) {
	_, err := d.client.dynamic.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return "its CRD is there already", nil
	}
	if !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("looking for the CRD %s: %w", name, err)
	}
	out, err := d.runJacquard(ctx, "render", filepath.Join("examples", name+".yaml"))
	if err != nil {
		return "", err
	}
	file := filepath.Join(d.dir, "rendered.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", file, err)
	}
	children, err := readFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the children of %s: %w", name, err)
	}
	for _, child := range children {
		kind := child.GroupVersionKind()
		if !slices.ContainsFunc(served, func(r resource) bool { return r.Group == kind.Group && r.kind == kind.Kind }) {
			return fmt.Sprintf("the cluster does not serve %s of %s", kind.Kind, kind.Group), nil
		}
	}
	return "", nil
}

func (d *demo) copyKind(root, name string) error {
	crd, err := os.ReadFile(filepath.Join(d.root, "crds", name+".yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "crds", name+".yaml"), crd, 0o600)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(root, "templates", name), os.DirFS(filepath.Join(d.root, "templates", name)))
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", name, err)
	}
	return nil
}

// applyNew makes the CRD of a file. It refuses one that is there: who made it
// would not want it removed.
func (d *demo) applyNew(ctx context.Context, file string) error {
	objects, err := readFile(file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	for _, object := range objects {
		labelCRD(object)
		if _, err := d.client.dynamic.Resource(definitions).Create(ctx, object, metav1.CreateOptions{FieldManager: "demo"}); err != nil {
			return fmt.Errorf("making %s: %w", describeObject(object), err)
		}
		d.screen.printStep("made the CRD %s", object.GetName())
	}
	return nil
}

// labelCRD labels a CRD as made here.
func labelCRD(crd *unstructured.Unstructured) {
	labels := crd.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[ownLabel] = ownName
	crd.SetLabels(labels)
}

// cleanUpCluster removes what the demo made in a cluster that was there before. It removes the
// resources while the operator still runs, then the namespace, then the CRDs.
func (d *demo) cleanUpCluster() error {
	d.screen.printStep("removing the resources, the namespace %s and the CRDs", ownName)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := d.removeAll(ctx); err != nil {
		return fmt.Errorf("removing what was made: %w; what is left: kubectl get namespace %s; kubectl get crd --selector %s=%[2]s",
			err, ownName, ownLabel)
	}
	d.screen.printStep("all of it is removed")
	return nil
}

func (d *demo) removeAll(ctx context.Context) error {
	err := awaitSuccess(ctx, time.Minute, func() error {
		items, err := d.client.listCategory(ctx)
		if err != nil {
			return err
		}
		for _, i := range items {
			if to, err := d.client.findDestination(i.Unstructured); err == nil {
				_ = to.Delete(ctx, i.GetName(), metav1.DeleteOptions{}) // asked again until it is gone
			}
		}
		if len(items) > 0 {
			return fmt.Errorf("%d resources are still there", len(items))
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.operator.stop()
	spaces := d.client.dynamic.Resource(namespaces)
	if err := spaces.Delete(ctx, ownName, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting the namespace: %w", err)
	}
	err = awaitSuccess(ctx, time.Minute, func() error {
		_, err := spaces.Get(ctx, ownName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("the namespace is still there"))
	})
	if err != nil {
		return err
	}
	made := metav1.ListOptions{LabelSelector: ownLabel + "=" + ownName}
	if err := d.client.dynamic.Resource(definitions).DeleteCollection(ctx, metav1.DeleteOptions{}, made); err != nil {
		return fmt.Errorf("deleting the CRDs: %w", err)
	}
	return nil
}
