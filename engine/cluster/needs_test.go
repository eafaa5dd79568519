package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// usesColor is what a template needs that uses data.color.
var usesColor = live.NeedOf([]string{"data", "color"})

// packedMap is a ConfigMap as a watch delivers it, with labels and data.
func packedMap(t *testing.T, version int, labels, data string) *live.Packed {
	t.Helper()
	o, err := live.Pack(fmt.Appendf(nil, `{"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"%d","creationTimestamp":"1970-01-01T00:00:01Z",`+
		`"annotations":{"beat":"%d"},"labels":{%s}},"data":{%s}}`, version, version, labels, data))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestReadersHearOfWhatTheyUse: of an object only the fields are kept that somebody uses. Who reads it
// hears when one of these changes, when it begins or ceases to match, and when it goes; and of every
// version of a child, which another watch may show before.
func TestReadersHearOfWhatTheyUse(t *testing.T) {
	reads, a := newReads(t, &rest.Config{})
	_, s := drive(&reads.watches, usesColor)
	byName, selected := lookup(everyConfigMap, "n", "a"), selecting(t, everyConfigMap, "n", "app=web")
	byName.Need, selected.Need = usesColor, usesColor
	reads.Record(reader("byName"), []Query{byName})
	reads.Record(reader("selected"), []Query{selected})
	before, version := a.all(), 0
	step := func(what, labels, data string, want map[string]int) {
		t.Helper()
		version++
		if err := s.Update(packedMap(t, version, labels, data)); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for name, n := range a.all() {
			if n > before[name] {
				got[name] = n - before[name]
			}
		}
		before = a.all()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	const web, blue = `"app":"web"`, `"color":"blue"`
	both := map[string]int{"byName": 1, "selected": 1}
	step("it comes", web, blue, both)
	step("an annotation changes", web, blue, map[string]int{})
	step("another field changes", web, blue+`,"size":"5"`, map[string]int{})
	step("another label changes", web+`,"beat":"1"`, blue, map[string]int{})
	step("the field changes", web, `"color":"red"`, both)
	step("the field goes", web, `"size":"5"`, both)
	step("it is selected no longer", `"app":"db"`, `"size":"5"`, map[string]int{"selected": 1})
	step("another field changes then", `"app":"db"`, `"size":"6"`, map[string]int{})
	step("it is selected again", web, `"size":"6"`, map[string]int{"selected": 1})
	step("it becomes a child", web+`,"jacquard.dev/owner-uid":"o"`, `"size":"6"`, both)
	step("an annotation of a child changes", web+`,"jacquard.dev/owner-uid":"o"`, `"size":"6"`, both)
	for _, l := range s.items {
		u, err := l.Unpacked()
		want := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"size": nil},
			"metadata": map[string]any{"namespace": "n", "name": "a", "uid": "u"}}
		if diff := cmp.Diff(want, u.Body); err != nil || diff != "" {
			t.Errorf("what is kept (%v) (-want +got):\n%s", err, diff)
		}
		if len(l.Meta.GetAnnotations()) > 0 {
			t.Errorf("annotations are kept: %v", l.Meta.GetAnnotations())
		}
	}
	if err := s.Delete(packedMap(t, version+1, web, "")); err != nil {
		t.Fatal(err)
	}
	if n := a.all()["byName"]; n != before["byName"]+1 {
		t.Errorf("a reader is told %d times that it is gone", n-before["byName"])
	}
}

// TestReadsListWhatIsUsedNow: where a query uses fields that nobody has used before, the objects are
// listed again, and whoever asked is told when they are there.
func TestReadsListWhatIsUsedNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		server := &webServer{list: func(context.Context) ([]string, error) {
			lists++
			return []string{`{"kind":"Web","metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"1"},"data":{"color":"blue","size":"5","text":"long"}}`}, nil
		}}
		reads, a := newReads(t, &rest.Config{Host: "http://memory", Transport: server})
		reads.Served(func() *Served { return &Served{resources: map[schema.GroupVersionKind]live.Resource{web().GVK: web()}} })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- reads.Start(ctx) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		knows := func(need live.Need, want map[string]any) {
			t.Helper()
			q := lookup(Scope{GroupVersionKind: web().GVK}, "n", "a")
			q.Need = need
			before := a.all()["one"]
			found, err := reads.Lookup(q)
			if err != nil {
				if !errors.Is(err, live.ErrNotYet) {
					t.Fatal(err)
				}
				reads.Record(reader("one"), []Query{q})
				synctest.Wait()
				if a.all()["one"] == before {
					t.Error("whoever asked is not told")
				}
				found, err = reads.Lookup(q)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, found.Body["data"]); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		}
		knows(usesColor, map[string]any{"color": "blue"})
		knows(usesColor, map[string]any{"color": "blue"})
		if lists != 1 {
			t.Errorf("listed %d times, want 1", lists)
		}
		knows(live.NeedOf([]string{"data", "size"}), map[string]any{"color": "blue", "size": "5"})
		knows(usesColor, map[string]any{"color": "blue", "size": "5"})
		if lists != 2 {
			t.Errorf("listed %d times, want 2", lists)
		}
		knows(live.Identity, map[string]any{"color": "blue", "size": "5"})
		knows(live.Metadata, map[string]any{"color": "blue", "size": "5", "text": "long"})
	})
}
