package live_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"n","uid":"u","generation":3,"resourceVersion":"7",` +
	`"labels":{"l":"x"},"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]},"spec":{"size":1,"template":{"deep":true}},"data":{"k":"v"},"status":{"ok":2.5}}`

func widgetKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
}

// TestPacked: an object that was packed is the same again, and of the same metadata
// while it is packed.
func TestPacked(t *testing.T) {
	p, err := live.Pack([]byte(widget))
	if err != nil {
		t.Fatal(err)
	}
	if p.GroupVersionKind() != widgetKind() || p.Name != "a" || p.Namespace != "n" || p.ResourceVersion != "7" || p.Labels["l"] != "x" {
		t.Errorf("%+v", p.PartialObjectMetadata)
	}
	u, err := p.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(widget), &want); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if size := u.Object["spec"].(map[string]any)["size"]; size != int64(1) {
		t.Errorf("a whole number is a %T", size)
	}
	if _, err := live.Pack([]byte(`{"metadata":{"name":5}}`)); err == nil {
		t.Error("a name that is a number is taken")
	}
}

// TestCutPacked: what is needed of a packed object is there, and the rest is not.
func TestCutPacked(t *testing.T) {
	p, err := live.Pack([]byte(widget))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := live.Of(widgetKind(), p)
	if err != nil {
		t.Fatal(err)
	}
	l, err := whole.Cut(live.Readiness).Unpacked()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "a", "namespace": "n", "uid": "u", "generation": int64(3)},
		"spec":     map[string]any{"size": int64(1), "template": map[string]any{"deep": true}}, // not of Pods
		"status":   map[string]any{"ok": 2.5},
	}
	if diff := cmp.Diff(want, l.Body); diff != "" {
		t.Errorf("for readiness (-want +got):\n%s", diff)
	}
	if n := len(l.Meta.GetManagedFields()); n != 1 {
		t.Errorf("%d entries of managedFields", n)
	}
	if l, err = whole.Cut(live.Metadata).Unpacked(); l.Body != nil || err != nil {
		t.Errorf("of metadata alone there is %v, %v", l.Body, err)
	}
}

// TestCutLetsGo: of a large object that was delivered, just what is kept of it stays in
// memory.
func TestCutLetsGo(t *testing.T) {
	const many, large = 200, 100_000
	object := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":1,"template":{"text":"` +
		strings.Repeat("x", large) + `"}}}`
	gvk := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	kept := make([]live.Object, 0, many)
	for range many {
		p, err := live.Pack([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		l, err := live.Of(gvk, p)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, l.Cut(needOf("spec.replicas", "status")))
	}
	if stays := (int64(heap()) - int64(before)) / many; stays > large/10 {
		t.Errorf("%d bytes stay of an object of %d", stays, large)
	}
	runtime.KeepAlive(kept)
}

// TestPackedAllocatesLittle: a child that a watch delivers is not decoded beyond its
// metadata, and of what is judged by, decoding what is kept is all.
func TestPackedAllocatesLittle(t *testing.T) {
	var whole live.Object
	kept := testing.AllocsPerRun(100, func() {
		p, err := live.Pack([]byte(widget))
		if err != nil {
			t.Fatal(err)
		}
		if whole, err = live.Of(widgetKind(), p); err != nil {
			t.Fatal(err)
		}
		whole = whole.Cut(live.Readiness)
	})
	looked := testing.AllocsPerRun(100, func() {
		if _, err := whole.Unpacked(); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%.0f allocations to keep a child, %.0f to look at it", kept, looked)
	if kept > toKeep || looked > toLook {
		t.Errorf("%.0f allocations to keep a child, %.0f to look at it; want at most %d and %d", kept, looked, toKeep, toLook)
	}
}

const toKeep, toLook = 75, 40
