package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNamespaceTaken: an operator of some namespaces that loses its rights in one,
// as when that is deleted with its RoleBindings, serves the others on, and also
// when it comes up again. Its metrics say what it may not watch, and it serves
// the one when it may again.
func TestNamespaceTaken(t *testing.T) {
	k := newThing(t, "taken")
	root, taken, access := k.folder(t, "now"), cluster.Namespace(t), cluster.Access(t)
	namespaces := []string{k.ns, k.far, taken}
	run := func(change func(o *controller.Options)) *kit.Operator {
		op := cluster.Run(t, func(o *controller.Options) {
			o.Identity, o.Namespaces, o.Config = k.group+"/a", namespaces, access.Config
			change(o)
		}, root)
		kit.Eventually(t, "its folders are loaded", op.Ready)
		return op
	}
	op := run(func(o *controller.Options) { access.Serve(*o, root) })
	k.apply(t, "one", "", "x")
	k.ready(t, "one")

	ctx := context.Background()
	var bindings rbacv1.RoleBindingList
	if err := cluster.Client.List(ctx, &bindings, client.InNamespace(taken)); err != nil || len(bindings.Items) == 0 {
		t.Fatalf("%d bindings, %v", len(bindings.Items), err)
	}
	if err := cluster.Client.DeleteAllOf(ctx, &rbacv1.RoleBinding{}, client.InNamespace(taken)); err != nil {
		t.Fatal(err)
	}
	k.apply(t, "one", "", "u")
	k.says(t, "one", "u now")
	op.Stop(t)
	run(func(*controller.Options) {})
	kit.Eventually(t, "it says what it may not watch", func() error {
		if k.metric(t, "jacquard_watches_forbidden", nil) < 2 { // the kind itself, and its children
			return errors.New("it does not")
		}
		return nil
	})
	k.apply(t, "one", "", "z")
	k.apply(t, "two", "", "x")
	k.says(t, "one", "z now")
	k.says(t, "two", "x now")
	k.ready(t, "one", "two")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "two")
	kit.Eventually(t, "two is gone", func() error { return cluster.Gone(k.apiVersion(), "Thing", k.ns, "two") })

	k.applyIn(t, taken, "three", "", "x")
	for _, b := range bindings.Items {
		b.ResourceVersion, b.UID = "", ""
		if err := cluster.Client.Create(ctx, &b); err != nil {
			t.Fatal(err)
		}
	}
	kit.Eventually(t, "three is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", taken, "three") })
}

// TestNamespaceDeleted: an operator of some namespaces of which one is deleted, with
// all that is in it, serves the others on, and also when it comes up again; the
// report, which status shows, says which one it does not serve. Only resources with
// children in such a namespace wait, and their status says for which.
func TestNamespaceDeleted(t *testing.T) {
	k := newThing(t, "deleted")
	root, gone, home, access := k.folder(t, "now"), cluster.Namespace(t), cluster.Namespace(t), cluster.Access(t)
	run := func(change func(o *controller.Options)) *kit.Operator {
		op := cluster.Run(t, func(o *controller.Options) {
			o.Namespace, o.Identity, o.Namespaces, o.Config = home, home+"/jacquard", []string{k.ns, k.far, gone}, access.Config
			change(o)
		}, root)
		kit.Eventually(t, "its folders are loaded", op.Ready)
		return op
	}
	op := run(func(o *controller.Options) { access.Serve(*o, root) })
	k.apply(t, "one", "", "x")
	k.ready(t, "one")
	away := func(namespace string) {
		cluster.Delete(t, "v1", "Namespace", "", namespace)
		kit.Eventually(t, "the namespace is gone", func() error { return cluster.Gone("v1", "Namespace", "", namespace) })
	}
	away(gone)
	k.apply(t, "one", "", "u")
	k.says(t, "one", "u now")
	op.Stop(t)
	op = run(func(*controller.Options) {})
	k.reported(t, home, "resources in namespace "+gone+" cannot be listed")
	k.apply(t, "one", "", "z")
	k.apply(t, "two", "", "x")
	k.says(t, "one", "z now")
	k.says(t, "two", "x now")
	k.ready(t, "one", "two")

	away(k.far)
	op.Stop(t)
	run(func(*controller.Options) {})
	k.reported(t, home, "resources in namespace "+k.far+" cannot be listed")
	k.apply(t, "one", "", "w")
	kit.Eventually(t, "one says for which namespace it waits", func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "one")
		return errors.Join(err, kit.IsCondition(o, "Ready", "False", `a Role in namespace "`+k.far+`"`))
	})
}

// reported waits until the report in a namespace says this of the kind.
func (k *thing) reported(t *testing.T, home, part string) {
	t.Helper()
	kit.Eventually(t, "the report says "+part, func() error {
		lease, err := cluster.Get("coordination.k8s.io/v1", "Lease", home, "jacquard-report")
		if err != nil {
			return err
		}
		read, err := heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport])
		if err != nil {
			return err
		}
		for _, kind := range read.Kinds {
			if kind.Name == k.name() && kind.State == verdict.ServingFailed && strings.Contains(kind.Message, part) {
				return nil
			}
		}
		return fmt.Errorf("it says %v", read.Kinds)
	})
}
