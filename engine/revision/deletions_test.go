package revision

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestDeletionListIsStored: a list is the same after it was stored, in one part or many;
// one of which a part is missing is an error, and is stored again.
func TestDeletionListIsStored(t *testing.T) {
	before := partSize
	defer func() { partSize = before }()
	text := ""
	for i := range 5000 {
		text += fmt.Sprintf("of-%d uid-%d Service shop/web-%d\n", i*7919, i*104729, i)
	}
	for _, size := range []int{before, 1000} {
		partSize = size
		l, err := NewDeletionList("apps.example.com", "digest/Deletes/hash", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items := typed(t, l.Objects("home", "home/jacquard", metav1.OwnerReference{Name: "apps.example.com"}))
		if one := size == before; one != (len(items) == 1) {
			t.Errorf("%d bytes in a part: %d parts", size, len(items))
		}
		all := ReadDeletionLists(items)
		if len(all) != 1 || !all[0].IsOf("digest/Deletes/hash") || all[0].IsOf("other/Deletes/hash") || len(all[0].Stored()) != len(items) {
			t.Fatalf("read: %+v", all)
		}
		if got, err := all[0].Text(); string(got) != text || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if strings.Contains(DeletionSelector("home/jacquard", "apps.example.com"), "jacquard.dev/revision") {
			t.Error("a list is selected as a revision")
		}
		if size == before {
			continue
		}
		cut := ReadDeletionLists(items[1:])[0]
		if _, err := cut.Text(); err == nil || !strings.Contains(err.Error(), "are there") || cut.IsOf("digest/Deletes/hash") {
			t.Errorf("without its first part: %v", err)
		}
	}
}

// typed are objects as the API server has them.
func typed(t *testing.T, objects []*unstructured.Unstructured) []appsv1.ControllerRevision {
	t.Helper()
	var all []appsv1.ControllerRevision
	for _, o := range objects {
		var item appsv1.ControllerRevision
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &item); err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}
