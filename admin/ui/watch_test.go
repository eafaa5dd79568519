package ui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

var webs = live.Resource{GVR: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "webs"},
	GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}, Namespaced: true}

func web(name, ready string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Web",
		"metadata": map[string]any{"name": name, "namespace": "shop", "annotations": map[string]any{api.AnnotationPaused: "true"}},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "R", "message": "m"}}},
	}}
}

func crd(annotations map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "webs.example.com", Annotations: annotations}}
}

// A shown is what a page shows.
type shown struct {
	rows   map[Key]Row
	ready  bool
	unread []string
}

// until follows a table until the page shows what it is to show.
func until(t *testing.T, f *Follower, s *shown, is func() bool) {
	t.Helper()
	for !is() {
		c := next(t, f)
		for _, r := range c.Rows {
			s.rows[r.Key] = r
		}
		for _, key := range c.Gone {
			delete(s.rows, key)
		}
		s.ready = s.ready || c.Ready
		if c.Unread != nil {
			s.unread = c.Unread
		}
	}
}

// TestWatch: rows of kinds that an operator claims come, change and go; what may not be
// listed in the cluster is listed in a namespace, and said.
func TestWatch(t *testing.T) {
	for _, forbidden := range []bool{false, true} {
		t.Run(fmt.Sprintf("forbidden %t", forbidden), func(t *testing.T) {
			objects := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{webs.GVR: "WebList"},
				web("a", "False"))
			var clusterwide atomic.Int64
			if forbidden {
				objects.PrependReactor("list", "webs", func(a clienttesting.Action) (bool, runtime.Object, error) {
					if a.GetNamespace() != "" {
						return false, nil, nil
					}
					clusterwide.Add(1)
					return true, nil, apierrors.NewForbidden(webs.GVR.GroupResource(), "", nil)
				})
			}
			scheme := metadatafake.NewTestScheme()
			if err := metav1.AddMetaToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			claimed := map[string]string{api.AnnotationOperator: "jacquard/jacquard"}
			definitionsOf := metadatafake.NewSimpleMetadataClient(scheme, crd(claimed))
			table := NewTable()
			w := &watcher{table: table, objects: objects, metadata: definitionsOf, fallback: "shop",
				serves: func(context.Context, string) (live.Resource, bool, error) { return webs, true, nil }}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { w.run(ctx); close(ended) }()
			f, s := table.Follow(), &shown{rows: map[Key]Row{}}
			defer f.Leave()
			key := Key{"webs.example.com", "shop", "a"}
			until(t, f, s, func() bool { return s.ready && len(s.rows) == 1 })
			if r := s.rows[key]; r.Ready != "False" || r.Reason != "R" || r.Message != "m" || !r.Paused || r.State == verdict.Deleting.Meaning().Word {
				t.Errorf("%+v", r)
			}
			said := len(s.unread) == 1 && strings.Contains(s.unread[0], "outside of namespace shop")
			if said != forbidden || clusterwide.Load() > 1 {
				t.Errorf("it says %q after %d lists", s.unread, clusterwide.Load())
			}
			client := objects.Resource(webs.GVR).Namespace("shop")
			if _, err := client.Update(ctx, web("a", "True"), metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Create(ctx, web("b", "True"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, f, s, func() bool { return s.rows[key].Ready == "True" && len(s.rows) == 2 })
			if err := client.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, f, s, func() bool {
				return slices.Equal(slices.Collect(maps.Keys(s.rows)), []Key{{"webs.example.com", "shop", "b"}})
			})
			kinds := definitionsOf.Resource(definitions).(metadatafake.MetadataClient)
			if _, err := kinds.UpdateFake(crd(nil), metav1.UpdateOptions{}); err != nil { // its operator gives it up
				t.Fatal(err)
			}
			until(t, f, s, func() bool { return len(s.rows) == 0 && len(s.unread) == 0 })
			cancel()
			<-ended
		})
	}
}

// TestChangedCRDIsListedAgain: the resources of a kind whose CRD changed are listed again
// at once.
func TestChangedCRDIsListedAgain(t *testing.T) {
	objects := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{webs.GVR: "WebList"}, web("a", "True"))
	lists := make(chan struct{}, 10)
	objects.PrependReactor("list", "webs", func(clienttesting.Action) (bool, runtime.Object, error) {
		lists <- struct{}{}
		return false, nil, nil
	})
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	definition := crd(map[string]string{api.AnnotationOperator: "jacquard/jacquard"})
	definitionsOf := metadatafake.NewSimpleMetadataClient(scheme, definition)
	table := NewTable()
	w := &watcher{table: table, objects: objects, metadata: definitionsOf,
		serves: func(context.Context, string) (live.Resource, bool, error) { return webs, true, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.run(ctx); close(ended) }()
	f, s := table.Follow(), &shown{rows: map[Key]Row{}}
	defer f.Leave()
	until(t, f, s, func() bool { return s.ready && len(s.rows) == 1 })
	<-lists
	for generation := range int64(3) {
		definition.Generation = generation + 1
		kinds := definitionsOf.Resource(definitions).(metadatafake.MetadataClient)
		if _, err := kinds.UpdateFake(definition, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-lists
	}
	cancel()
	<-ended
}

// TestRowState: a row has the word of the table of states, and a resource is stalled as its
// own condition says, if that is about its present generation.
func TestRowState(t *testing.T) {
	for _, tt := range []struct {
		status   string
		observed int64
		want     verdict.State
	}{{"True", 2, verdict.Stalled}, {"False", 2, verdict.Reconciling}, {"True", 1, verdict.Reconciling}} {
		o := web("a", "False")
		o.SetAnnotations(nil) // it is not paused
		o.SetGeneration(2)
		conditions := []any{
			map[string]any{"type": "Ready", "status": "False", "observedGeneration": tt.observed},
			map[string]any{"type": "Stalled", "status": tt.status, "observedGeneration": tt.observed},
		}
		if err := unstructured.SetNestedSlice(o.Object, conditions, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
		if got := rowOf("webs.example.com", o).State; got != tt.want.Meaning().Word {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
}
