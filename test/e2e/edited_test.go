package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The resources that are edited are Genericdaemons for nodes that there are not, so that
// no Pod starts.
const (
	editedKind   = "genericdaemons.mydomain.com"
	editedPrefix = "after-edit-"
	editedCount  = 24
)

// editedSpaces are namespaces of which several replicas serve some: their names begin
// differently, and so their hashes do.
var editedSpaces = []string{"apple", "birch", "cedar", "dogwood", "elder", "fir", "gum", "hazel"}

// editedSpace is the namespace of one of them.
func editedSpace(i int) string { return editedSpaces[i%len(editedSpaces)] + "-edited" }

// underEdits edits resources all the time while something is done, and returns how long
// the longest of them waited for its child to be written.
func (n *realNode) underEdits(t *testing.T, do func()) time.Duration {
	t.Helper()
	var all strings.Builder
	for i := range editedSpaces {
		fmt.Fprintf(&all, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n", editedSpace(i))
	}
	for i := range editedCount {
		fmt.Fprintf(&all, "---\n{apiVersion: mydomain.com/v1beta1, kind: Genericdaemon, "+
			"metadata: {name: %s%d, namespace: %s, labels: {edited: always}}, "+
			"spec: {label: nowhere, image: 'pause:first'}}\n", editedPrefix, i, editedSpace(i))
	}
	n.apply(t, admin, all.String())
	begin := time.Now()
	stop := n.edits(t)
	do()
	stop()
	eventually(t, "all children are as the last edits want them", func() error { return n.stale(t) })
	var waits []time.Duration
	eventually(t, "all edits are followed by a write", func() (err error) {
		waits, err = n.waits(t, begin)
		return err
	})
	n.kubectl(t, "delete", editedKind, "--all-namespaces", "-l", "edited=always", "--wait=true")
	if len(waits) < editedCount {
		t.Errorf("there were just %d edits: they show nothing", len(waits))
	}
	return slices.Max(waits)
}

// edits edits the resources until it is told to stop and has done so editedCount times:
// the last edit is finished then.
func (n *realNode) edits(t *testing.T) (stop func()) {
	t.Helper()
	c := n.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	var editing sync.WaitGroup
	editing.Go(func() {
		for edit := 0; edit < editedCount || ctx.Err() == nil; edit++ {
			i := rand.IntN(editedCount)
			o := &unstructured.Unstructured{}
			o.SetAPIVersion("mydomain.com/v1beta1")
			o.SetKind("Genericdaemon")
			o.SetNamespace(editedSpace(i))
			o.SetName(fmt.Sprintf("%s%d", editedPrefix, i))
			patch := fmt.Appendf(nil, `{"spec":{"image":"pause:%d"}}`, edit)
			if err := c.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, patch)); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return func() { cancel(); editing.Wait() }
}

// client is an admin's client of the node.
func (n *realNode) client(t *testing.T) client.Client {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(n.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stale names a resource whose child has another image.
func (n *realNode) stale(t *testing.T) error {
	t.Helper()
	images := func(objects, label, image string) []string {
		return strings.Fields(n.kubectl(t, "get", objects, "--all-namespaces", "-l", label, "-o",
			"jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}={"+image+"} {end}"))
	}
	wanted := images(editedKind, "edited=always", ".spec.image")
	children := images("daemonsets.apps", "app=genericdaemon", ".spec.template.spec.containers[0].image")
	if len(wanted) != editedCount {
		return fmt.Errorf("there are %d resources", len(wanted))
	}
	for _, one := range wanted {
		if !slices.Contains(children, one) {
			return fmt.Errorf("%s is wanted; there are %q", one, children)
		}
	}
	return nil
}

// waits are the times from edits, since a moment, until the child was written next, or
// until a write of it was begun whose answer was lost with its replica. The error says
// that there is none.
func (n *realNode) waits(t *testing.T, since time.Time) (waits []time.Duration, err error) {
	t.Helper()
	requests := n.childRequests(t)
	writes := stored(requests)
	edits := n.audited(t, func(r request) bool {
		return r.Verb == "patch" && r.ObjectRef.Resource == "genericdaemons" && r.ObjectRef.Subresource == "" &&
			r.User.Username != account && r.RequestReceivedTimestamp.After(since)
	})
	for _, edit := range edits {
		follows := func(r request) bool {
			return r.ObjectRef.Namespace == edit.ObjectRef.Namespace && r.ObjectRef.Name == edit.ObjectRef.Name &&
				r.RequestReceivedTimestamp.After(edit.RequestReceivedTimestamp)
		}
		after := slices.IndexFunc(writes, follows)
		if after >= 0 {
			waits = append(waits, writes[after].RequestReceivedTimestamp.Sub(edit.RequestReceivedTimestamp))
			continue
		}
		// A write of a replica that was killed meanwhile may be stored, and is answered with
		// an error of the server; one that was refused is not stored.
		lost := slices.IndexFunc(requests, func(r request) bool { return follows(r) && r.ResponseStatus.Code >= 499 })
		if lost < 0 {
			return nil, fmt.Errorf("%s was not written after an edit at %s", edit.ObjectRef.Name, edit.RequestReceivedTimestamp.Format(time.RFC3339Nano))
		}
		t.Logf("%s: its write was answered %d %s", edit.ObjectRef.Name, requests[lost].ResponseStatus.Code, requests[lost].ResponseStatus.Message)
		waits = append(waits, requests[lost].RequestReceivedTimestamp.Sub(edit.RequestReceivedTimestamp))
	}
	return waits, nil
}
