package replicas

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	things     = schema.GroupVersionResource{Group: "selector.example.com", Version: "v1", Resource: "things"}
)

// A reader lists and watches one resource in one form.
type reader struct {
	list  func(metav1.ListOptions) (runtime.Object, error)
	watch func(metav1.ListOptions) (watch.Interface, error)
	// change changes the object in a namespace.
	change func(namespace string) error
}

// TestShardSelector: the API server divides lists, watches and lists by watch of custom
// resources and of built-in kinds, with and without their bodies, by the hash of the
// namespace, if its gate is on. If it is off, the server ignores the parameter and
// delivers everything: a client has to filter too. What a client filters out by the
// same selector is what the server leaves out.
func TestShardSelector(t *testing.T) {
	t.Parallel()
	for _, gate := range []bool{true, false} {
		t.Run(strconv.FormatBool(gate), func(t *testing.T) {
			t.Parallel()
			c := cluster
			if !gate {
				c = kit.Start(t, "--components", "apiserver", "--feature-gates", "ShardedListAndWatch=false")
			}
			c.Apply(t, "", kit.ThingCRD(things.Group))
			t.Cleanup(func() { c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things."+things.Group) })
			c.Served(t, things.GroupVersion().String(), "Thing")
			half := sharding.NewSelector(sharding.ShardRangeRequirement{Key: "object.metadata.namespace",
				Start: "0x0000000000000000", End: "0x8000000000000000"})
			var all, divided []string
			for i := range 8 {
				namespace := string(rune('a'+i)) + "-selects"
				c.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
				c.Apply(t, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {of: shards}}}\n---\n"+
					"{apiVersion: "+things.GroupVersion().String()+", kind: Thing, metadata: {name: one, labels: {of: shards}}}")
				all = append(all, namespace)
				if matches(t, half, namespace) {
					divided = append(divided, namespace)
				}
			}
			if len(divided) == 0 || len(divided) == len(all) {
				t.Fatalf("of %v the selector matches %v: the test needs other namespaces", all, divided)
			}
			want := all
			if gate {
				want = divided
			}
			for name, r := range readers(t, c) {
				t.Run(name, func(t *testing.T) { reads(t, r, half.String(), want) })
			}
		})
	}
}

func matches(t *testing.T, selector sharding.Selector, namespace string) bool {
	t.Helper()
	is, err := selector.Matches(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// readers are the forms in which operators read.
func readers(t *testing.T, c *kit.Cluster) map[string]reader {
	whole, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	partial, err := metadata.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]reader{}
	for _, gvr := range []schema.GroupVersionResource{configMaps, things} {
		change := func(namespace string) error {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/at":%q}}}`, time.Now().Format(time.RFC3339Nano))
			_, err := whole.Resource(gvr).Namespace(namespace).Patch(context.Background(), "one", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}
		all[gvr.Resource] = reader{
			func(o metav1.ListOptions) (runtime.Object, error) {
				return whole.Resource(gvr).List(context.Background(), o)
			},
			func(o metav1.ListOptions) (watch.Interface, error) {
				return whole.Resource(gvr).Watch(context.Background(), o)
			},
			change,
		}
		all["metadata of "+gvr.Resource] = reader{
			func(o metav1.ListOptions) (runtime.Object, error) {
				return partial.Resource(gvr).List(context.Background(), o)
			},
			func(o metav1.ListOptions) (watch.Interface, error) {
				return partial.Resource(gvr).Watch(context.Background(), o)
			},
			change,
		}
	}
	return all
}

// reads reads in the three ways, and wants the objects of these namespaces.
func reads(t *testing.T, r reader, selector string, want []string) {
	list, err := r.list(metav1.ListOptions{LabelSelector: "of=shards", ShardSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range items {
		got = append(got, namespaceOf(t, o))
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for name, opts := range map[string]metav1.ListOptions{
		"watch": {ResourceVersion: "0"},
		"list by watch": {SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			AllowWatchBookmarks: true},
	} {
		opts.LabelSelector, opts.ShardSelector = "of=shards", selector
		if diff := cmp.Diff(want, watched(t, r, opts, want)); diff != "" {
			t.Errorf("the %s (-want +got):\n%s", name, diff)
		}
	}
}

// watched are the namespaces of what a watch delivers before the bookmark that ends a list,
// or before a change that is made once all that is wanted was delivered.
func watched(t *testing.T, r reader, opts metav1.ListOptions, want []string) []string {
	w, err := r.watch(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var got []string
	limit := time.After(time.Minute)
	for {
		select {
		case e := <-w.ResultChan():
			if e.Type == watch.Bookmark || e.Type == watch.Modified {
				return slices.Sorted(slices.Values(got))
			}
			got = append(got, namespaceOf(t, e.Object))
			if opts.SendInitialEvents == nil && len(got) == len(want) {
				if err := r.change(want[0]); err != nil {
					t.Fatal(err)
				}
			}
		case <-limit:
			return slices.Sorted(slices.Values(got))
		}
	}
}

func namespaceOf(t *testing.T, o runtime.Object) string {
	t.Helper()
	m, err := meta.Accessor(o)
	if err != nil {
		t.Fatalf("%T: %v", o, err)
	}
	return m.GetNamespace()
}
