package ownership_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

func TestHash(t *testing.T) {
	hash := func(m map[string]any) string {
		t.Helper()
		h, err := ownership.Hash(m)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	a := hash(map[string]any{"a": int64(1), "b": map[string]any{"c": "<&>", "d": []any{1.5, nil, true}}})
	// echo -n '{"a":1,"b":{"c":"<&>","d":[1.5,null,true]}}' | sha256sum
	const want = "v1:a6a4d5954e4236cfe9d1e5618aec0c97c2e989ab046442623e055cd53e792175"
	if a != want {
		t.Errorf("Hash: got %s, want %s", a, want)
	}
	if b := hash(map[string]any{"b": map[string]any{"d": []any{1.5, nil, true}, "c": "<&>"}, "a": float64(1)}); a != b {
		t.Errorf("the order of keys or the type of a number counts: %s, %s", a, b)
	}
	if b := hash(map[string]any{"a": "1", "b": map[string]any{"c": "<&>", "d": []any{1.5, nil, true}}}); a == b {
		t.Error("a string has the hash of a number")
	}
	if _, err := ownership.Hash(map[string]any{"a": math.NaN()}); err == nil {
		t.Error("NaN has a hash")
	}
}

func TestOurs(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600)))
	fields := `{"f:spec":{"f:replicas":{}}}`
	mine := entry(us, "Apply", "", fields)
	mine.Time = &at
	managed := []metav1.ManagedFieldsEntry{
		entry(us, "Update", "", fields), entry(us, "Apply", "status", fields), entry(them, "Apply", "", fields), mine,
	}
	e, ok, err := ownership.Ours(managed, us)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if e.Manager != us || e.Operation != "Apply" || e.Subresource != "" || e.Time != "2026-01-02T02:04:05Z" {
		t.Errorf("Ours: got %+v", e)
	}
	if e.Digest != "4f03407352c06e9544d1eba5d4e39ea42e2a858dc67ba831c638a92337e905ac" {
		t.Errorf("Digest: got %s", e.Digest)
	}
	if !e.Owns("spec", "replicas") {
		t.Error("spec.replicas is not owned")
	}
	if e, ok, err := ownership.OursAt(managed, us, "status"); err != nil || !ok || e.Subresource != "status" {
		t.Errorf("OursAt status: got %+v, %v, %v", e, ok, err)
	}
	if _, ok, err := ownership.Ours(managed[:3], us); ok || err != nil {
		t.Errorf("Ours of others' entries: got %v, %v", ok, err)
	}
	if _, _, err := ownership.Ours([]metav1.ManagedFieldsEntry{entry(us, "Apply", "", `{"f:a":`)}, us); err == nil ||
		!strings.Contains(err.Error(), "reading managedFields of jacquard") {
		t.Errorf("Ours of broken fields: got error %v", err)
	}
	none := mine
	none.FieldsV1 = nil
	if e, ok, err := ownership.Ours([]metav1.ManagedFieldsEntry{none}, us); err != nil || !ok || e.Owns("spec") {
		t.Errorf("Ours without fields: got %+v, %v, %v", e, ok, err)
	}
}

func TestOwns(t *testing.T) {
	e, _, err := ownership.Ours([]metav1.ManagedFieldsEntry{entry(us, "Apply", "",
		`{"f:metadata":{"f:annotations":{},"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:selector":{},"f:replicas":{}}}`)}, us)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{
		"metadata": false, "metadata/labels": true, "metadata/labels/a": true, "metadata/labels/b": false,
		// labels and annotations are granular: owning none of them is no proof for one
		"metadata/annotations": true, "metadata/annotations/a": false,
		"spec": false, "spec/replicas": true, "spec/selector": true, "spec/selector/app": true, "spec/x/y": false,
	}
	for path, want := range tests {
		if got := e.Owns(strings.Split(path, "/")...); got != want {
			t.Errorf("Owns %s: got %v, want %v", path, got, want)
		}
	}
	if e.Owns() {
		t.Error("the whole object is owned")
	}
}

func TestZeroEntryOwnsNothing(t *testing.T) {
	var e ownership.Entry
	if e.Owns("spec") || e.Extra(nil) != nil {
		t.Error("the zero Entry owns something")
	}
	if got := e.Missing(map[string]any{"spec": int64(1)}); len(got) != 1 {
		t.Errorf("Missing: got %q", got)
	}
}

func TestCoOwner(t *testing.T) {
	apply, update := entry(us, "Apply", "", "{}"), entry(us, "Update", "", "{}")
	first := entry("before-first-apply", "Update", "", "{}")
	tests := map[string]struct {
		managed []metav1.ManagedFieldsEntry
		want    int
	}{
		"nothing":               {nil, -1},
		"our apply":             {[]metav1.ManagedFieldsEntry{apply}, -1},
		"somebody":              {[]metav1.ManagedFieldsEntry{apply, entry(them, "Update", "", "{}")}, -1},
		"our update":            {[]metav1.ManagedFieldsEntry{apply, update}, 1},
		"our update of status":  {[]metav1.ManagedFieldsEntry{apply, entry(us, "Update", "status", "{}")}, -1},
		"before first apply":    {[]metav1.ManagedFieldsEntry{first, apply}, 0},
		"an apply of that name": {[]metav1.ManagedFieldsEntry{entry("before-first-apply", "Apply", "", "{}"), apply}, -1},
	}
	for name, test := range tests {
		if got := ownership.CoOwner(test.managed, us); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

func TestWithoutCoOwner(t *testing.T) {
	const a, b, both = `{"f:data":{"f:a":{}}}`, `{"f:data":{"f:b":{}}}`, `{"f:data":{"f:a":{},"f:b":{}}}`
	const finalizer = `{"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}}}}`
	apply, update := entry(us, "Apply", "", a), entry(us, "Update", "", b)
	first, other := entry("before-first-apply", "Update", "", b), entry(them, "Update", "", b)
	for name, test := range map[string]struct {
		managed, want []metav1.ManagedFieldsEntry
	}{
		"our apply":          {[]metav1.ManagedFieldsEntry{apply, other}, nil},
		"our update":         {[]metav1.ManagedFieldsEntry{update, other, apply}, []metav1.ManagedFieldsEntry{other, entry(us, "Apply", "", both)}},
		"before first apply": {[]metav1.ManagedFieldsEntry{apply, first}, []metav1.ManagedFieldsEntry{apply}},
		"our finalizer":      {[]metav1.ManagedFieldsEntry{apply, entry(us, "Update", "", finalizer)}, []metav1.ManagedFieldsEntry{apply}},
		"never applied":      {[]metav1.ManagedFieldsEntry{update, first}, nil},
	} {
		rest, changed, err := ownership.WithoutCoOwner(test.managed, us)
		if test.want == nil {
			test.want = test.managed
		} else if !changed {
			t.Errorf("%s: it changes nothing", name)
		}
		if diff := cmp.Diff(test.want, rest); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestPlainText(t *testing.T) {
	ours, plain := entry(us, "Apply", "", `{"f:data":{"f:a":{}}}`), `{"f:metadata":{"f:labels":{"f:x":{}}},"f:stringData":{"f:a":{}}}`
	for name, test := range map[string]struct {
		other metav1.ManagedFieldsEntry
		want  int
	}{
		"an apply":       {entry(them, "Apply", "", plain), 1},
		"our own":        {entry(us, "Apply", "", plain), -1},
		"an update":      {entry(them, "Update", "", plain), -1}, // which the server notes as data
		"data":           {entry(them, "Apply", "", `{"f:data":{"f:b":{}}}`), -1},
		"of another map": {entry(them, "Apply", "", `{"f:spec":{"f:stringData":{"f:a":{}}}}`), -1},
		"no fields":      {metav1.ManagedFieldsEntry{Manager: them, Operation: "Apply"}, -1},
	} {
		if got := ownership.PlainText([]metav1.ManagedFieldsEntry{ours, test.other}, us); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	left, err := ownership.WithoutPlainText(entry(them, "Apply", "", plain))
	if err != nil || left.GetRawString() != `{"f:metadata":{"f:labels":{"f:x":{}}}}` {
		t.Errorf("got %v %v", left, err)
	}
}

// TestWipedManagedFields: after managedFields were wiped, the server's own entry keeps a field that we
// drop, until that entry is dropped.
func TestWipedManagedFields(t *testing.T) {
	doc := read(t, configMapText)
	s := serve(t, doc)
	s.apply(doc, us)
	s.update(them, set([]any{map[string]any{}}, "metadata", "managedFields"))
	if got := len(s.ManagedFields()); got != 0 {
		t.Fatalf("%d entries after the wipe", got)
	}
	s.apply(doc, us)
	if got := s.ours().Missing(doc); got != nil {
		t.Errorf("Missing: got %q, want none", got)
	}
	i := ownership.CoOwner(s.ManagedFields(), us)
	if i < 0 || s.ManagedFields()[i].Manager != "before-first-apply" {
		t.Fatalf("CoOwner: got %d in %v", i, s.ManagedFields())
	}
	s.update("jacquard-wipe", func(m map[string]any) {
		l := at(m, "metadata", "managedFields").([]any)
		at(m, "metadata").(map[string]any)["managedFields"] = append(l[:i:i], l[i+1:]...)
	})
	drop("data", "a")(doc)
	s.apply(doc, us)
	if _, ok := at(s.Live().(interface{ UnstructuredContent() map[string]any }).UnstructuredContent(), "data").(map[string]any)["a"]; ok {
		t.Error("the dropped field is still there")
	}
}

func TestTakers(t *testing.T) {
	doc := read(t, deploymentText)
	doc["spec"].(map[string]any)["replicas"] = int64(2)
	s := serve(t, doc)
	s.apply(doc, us)
	for name, c := range map[string]struct {
		take func()
		want []string
	}{
		"nothing was taken":        {func() {}, nil},
		"the replicas were scaled": {func() { s.update("scaler", set(int64(3), "spec", "replicas")) }, []string{"scaler"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.take()
			entry, found, err := ownership.Ours(s.ManagedFields(), us)
			if err != nil || !found {
				t.Fatal(found, err)
			}
			if diff := cmp.Diff(c.want, entry.Takers(doc)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			s.apply(doc, us)
		})
	}
}
