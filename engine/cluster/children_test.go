package cluster

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

type wants = map[schema.GroupVersionKind]live.Need

func TestChildrenFindsByOwner(t *testing.T) {
	t.Parallel()
	for _, need := range []live.Need{live.Metadata, live.NeedOf([]string{"data", "k"}), live.Readiness, live.Body} {
		t.Run(need.String(), func(t *testing.T) {
			in := realCluster(t)
			children, w, _ := observe(t, admin)
			mine := in.create(child(configMaps, "find-a", "find-1"))
			foreign := child(configMaps, "find-c", "")
			foreign.SetLabels(nil)
			in.create(foreign)
			children.Want("k", wants{configMaps: need})
			synced(t, children, configMaps, need)
			in.create(child(configMaps, "find-b", "find-2"))
			eventually(t, "the other owner's child", func() bool { return len(names(t, children, configMaps, "find-2")) == 1 })
			eventually(t, "told", func() bool { return w.changes("find-2") == 1 })
			if diff := cmp.Diff([]string{"find-a"}, names(t, children, configMaps, "find-1")); diff != "" {
				t.Error(diff)
			}
			if n := w.changes("find-1"); n != 0 {
				t.Errorf("the first list told of %d changes; Synced stands for them", n)
			}

			// From one owner to another: both are told, and see it so.
			moved := child(configMaps, "find-a", "find-2")
			moved.SetResourceVersion(mine.GetResourceVersion())
			in.update(moved)
			eventually(t, "both told", func() bool { return w.changes("find-1") == 1 && w.changes("find-2") == 2 })
			if diff := cmp.Diff([]string{"find-a", "find-b"}, names(t, children, configMaps, "find-2")); diff != "" {
				t.Error(diff)
			}
			if left := names(t, children, configMaps, "find-1"); len(left) != 0 {
				t.Errorf("still has %v", left)
			}

			// Without our label it is no child any more.
			moved = child(configMaps, "find-a", "find-2")
			moved.SetLabels(nil)
			in.update(moved)
			eventually(t, "let go", func() bool { return len(names(t, children, configMaps, "find-2")) == 1 })
		})
	}
}

// TestChildrenServedMeanwhile: whoever knows from discovery that a kind is served
// and wants it never finds it not served, though Served has not told of that yet.
func TestChildrenServedMeanwhile(t *testing.T) {
	t.Parallel()
	realCluster(t)
	children, _, _ := observe(t, admin)
	d := undiscovered(t)
	children.Served(d.Served)
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	children.Want("k", wants{configMaps: live.Metadata})
	if s := children.State(configMaps); s.Phase == live.NotServed {
		t.Errorf("it is %s: %v", s.Phase, s.Err)
	}
	synced(t, children, configMaps, live.Metadata)
}

// TestChildrenComing: what is wanted before anybody has told what is served is on
// its way, and not in trouble.
func TestChildrenComing(t *testing.T) {
	children, err := NewChildren(&rest.Config{}, ChildrenOptions{Changed: func(api.Owner, types.UID) {}})
	if err != nil {
		t.Fatal(err)
	}
	children.Want("k", wants{configMaps: live.Metadata})
	if s := children.State(configMaps); !s.Coming() {
		t.Errorf("it is %s: %v", s.Phase, s.Err)
	}
}

func TestChildrenOfNamespaces(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	// A name of its own: nothing finalizes a deleted namespace here.
	name := "observe-" + rand.String(8)
	two := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": name, "labels": map[string]any{api.LabelOwnerUID: name}}}}
	in.create(two)
	other := child(configMaps, "ns-b", "ns-1")
	other.SetNamespace(name)
	outside := child(configMaps, "ns-c", "ns-1")
	outside.SetNamespace("kube-public")
	in.create(child(configMaps, "ns-a", "ns-1"))
	in.create(other)
	in.create(outside)
	namespaces := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

	children, _, _ := observe(t, admin, "default", name)
	children.Want("k", wants{configMaps: live.Metadata, namespaces: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	synced(t, children, namespaces, live.Metadata)
	if diff := cmp.Diff([]string{"ns-a", "ns-b"}, names(t, children, configMaps, "ns-1")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{name}, names(t, children, namespaces, types.UID(name))); diff != "" {
		t.Error(diff)
	}
}

func TestChildrenCarryWhatIsNeeded(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	c := child(configMaps, "need-a", "need-1")
	c.Object["data"] = map[string]any{"k": "v"}
	in.create(c)
	children, w, _ := observe(t, admin)
	body := func() map[string]any {
		found, err := children.Of(configMaps, "need-1")
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v, %v", found, err)
		}
		return found[0].Body
	}
	children.Want("light", wants{configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	if b := body(); b != nil {
		t.Errorf("metadata with a body %v", b)
	}

	children.Want("heavy", wants{configMaps: live.Body})
	for children.State(configMaps).Holds != live.Body {
		if len(names(t, children, configMaps, "need-1")) != 1 {
			t.Fatal("the child was lost while the watch was replaced")
		}
		runtime.Gosched()
	}
	if diff := cmp.Diff(map[string]any{"k": "v"}, body()["data"]); diff != "" {
		t.Error(diff)
	}
	eventually(t, "synced told twice", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.synced[configMaps] == 2 })

	children.Want("heavy", wants{configMaps: live.Readiness})
	synced(t, children, configMaps, live.Readiness)
	if b := body(); b["metadata"] == nil || b["data"] != nil {
		t.Errorf("readiness carries %v", b)
	}
	children.Want("heavy", nil)
	synced(t, children, configMaps, live.Metadata)
	children.Want("light", nil)
	if _, err := children.Of(configMaps, "need-1"); err == nil {
		t.Error("released, and still answers")
	}
}

func TestChildrenAreNotServed(t *testing.T) {
	t.Parallel()
	realCluster(t)
	children, w, _ := observe(t, admin)
	unheard := schema.GroupVersionKind{Group: "nobody.test", Version: "v1", Kind: "Unheard"}
	children.Want("k", wants{unheard: live.Metadata, configMaps: live.Metadata})
	if s := children.State(unheard); s.Phase != live.NotServed {
		t.Errorf("state %v", s)
	}
	if _, err := children.Of(unheard, "x"); !errors.Is(err, live.ErrNotServed) {
		t.Errorf("error %v", err)
	}
	eventually(t, "told", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.troubled[unheard] == 1 })
	synced(t, children, configMaps, live.Metadata)
}

// TestReleaseLeaksNothing: what is not wanted any more leaves nothing behind. It runs
// alone, since it counts goroutines.
func TestReleaseLeaksNothing(t *testing.T) {
	realCluster(t)
	children, _, d := observe(t, admin)
	all := wants{}
	for gvk, r := range d.Served().resources {
		if checkWatchable(r) == nil && len(all) < 20 {
			all[gvk] = []live.Need{live.Metadata, live.Readiness, live.Body}[len(all)%3]
		}
	}
	round := func() {
		children.Want("k", all)
		for gvk, need := range all {
			synced(t, children, gvk, need)
		}
		children.Want("k", nil)
	}
	before := runtime.NumGoroutine()
	for range 5 {
		round()
	}
	// A connection has a few goroutines of its own; a leak would be hundreds.
	eventually(t, "as few goroutines as before", func() bool { return runtime.NumGoroutine() <= before+10 })
	if n := len(children.kinds); n != 0 {
		t.Errorf("%d kinds are left", n)
	}
}

// TestChildrenKeepNeededFields checks that of a large child only the needed fields stay in
// memory, as a watch delivered it and as a write answered, and none of them is missing.
func TestChildrenKeepNeededFields(t *testing.T) {
	const many, large = 100, 100_000
	children, k, s := stillChildren(t)
	k.current.need = live.NeedOf([]string{"data", "level"}, []string{"metadata", "annotations", "mode"})
	whole := func(n int) *unstructured.Unstructured {
		u := child(configMaps, fmt.Sprint("large-", n), "known")
		u.SetUID(types.UID(fmt.Sprint("uid-", n)))
		u.SetResourceVersion("10")
		u.SetCreationTimestamp(metav1.Unix(1, 0))
		u.SetAnnotations(map[string]string{api.AnnotationOwner: ownerOf("known").String(), "mode": "slow", "note": "n"})
		u.Object["data"] = map[string]any{"level": "5", "text": strings.Repeat("x", large)}
		return u
	}
	list := func() (all []any) {
		stream := s.Transformer()
		for n := range many {
			text, err := whole(n).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			packed, err := live.Pack(text)
			if err != nil {
				t.Fatal(err)
			}
			o, err := stream(packed)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
		}
		return all
	}
	before := heap()
	if err := s.Replace(list(), "10"); err != nil {
		t.Fatal(err)
	}
	if stays := (int64(heap()) - int64(before)) / many; stays > large/10 {
		t.Errorf("%d bytes stay of a child of %d", stays, large)
	}
	answer := whole(0)
	answer.SetResourceVersion("11")
	children.RecordWrite(configMaps, answer)
	found, err := children.Of(configMaps, "known")
	if err != nil || len(found) != many {
		t.Fatalf("%d children, %v", len(found), err)
	}
	for _, l := range found[:2] {
		if diff := cmp.Diff(map[string]any{"level": "5"}, l.Body["data"]); diff != "" {
			t.Errorf("data of %s (-want +got):\n%s", l.Key(), diff)
		}
		annotations, _, _ := unstructured.NestedStringMap(l.Body, "metadata", "annotations")
		if annotations["mode"] != "slow" || annotations["note"] != "" || l.Meta.GetAnnotations()[api.AnnotationOwner] == "" {
			t.Errorf("annotations of %s: %v, of its metadata %v", l.Key(), annotations, l.Meta.GetAnnotations())
		}
	}
}
