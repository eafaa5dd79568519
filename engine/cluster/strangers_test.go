package cluster

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// labelled is the metadata of an object that wears our label and names an owner,
// with large annotations of others.
func labelled(n int, uid types.UID) *metav1.PartialObjectMetadata {
	at := metav1.Unix(1, 0)
	text := strings.Repeat(fmt.Sprintf("%015d ", n), 1024)
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: fmt.Sprint("a", n), UID: types.UID(fmt.Sprint("u", n)), ResourceVersion: fmt.Sprint(1000 + n),
		CreationTimestamp: at,
		Labels:            map[string]string{api.LabelOwnerUID: string(uid), "more": text},
		Annotations:       map[string]string{api.AnnotationOwner: ownerOf(uid).String(), "of-others": text},
	}}
}

// stillChildren is a kind of child whose watch is driven by the test, without a
// cluster. Only the resource known is served here.
func stillChildren(t *testing.T) (*Children, *kind, *store) {
	t.Helper()
	children, err := NewChildren(&rest.Config{}, ChildrenOptions{
		Changed: func(api.Owner, types.UID) {},
		Known:   func(of api.Owner, uid types.UID) bool { return of == ownerOf("known") && uid == "known" },
	})
	if err != nil {
		t.Fatal(err)
	}
	k, s := drive(&children.watches, live.Metadata)
	return children, k, s
}

// TestStrangersAreStubs: whoever may write ConfigMaps can put our label on them,
// and costs us little by it.
func TestStrangersAreStubs(t *testing.T) {
	const many = 1000
	children, _, s := stillChildren(t)
	stream := s.Transformer()
	before := heap()
	var list []any
	for n := range many {
		o, err := stream(labelled(n, "1234"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	mine, err := stream(labelled(many, "known"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(append(list, mine), "5000"); err != nil {
		t.Fatal(err)
	}
	clear(list)
	if kept := (heap() - before) / many; kept > 2000 {
		t.Errorf("%d bytes are kept of each of %d labelled objects of unknown owners", kept, many)
	}
	found, err := children.Of(configMaps, "known")
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	want := map[string]string{api.AnnotationOwner: ownerOf("known").String()}
	if diff := cmp.Diff(want, found[0].Meta.GetAnnotations()); diff != "" {
		t.Errorf("annotations of others are kept:\n%s", diff)
	}
	if n := total(children.Strangers()); n != many {
		t.Errorf("%d strangers are counted", n)
	}
	if err := s.Delete(labelled(0, "1234")); err != nil {
		t.Fatal(err)
	}
	if n := total(children.Strangers()); n != many-1 {
		t.Errorf("one is gone, and %d strangers are counted", n)
	}
	children.Disown("known")
	if n := total(children.Strangers()); n != many {
		t.Errorf("an owner is gone, and %d strangers are counted", n)
	}
}

// TestOwnerComesAfterItsChildren: what is known of children as stubs is completed
// once somebody asks for them: one list.
func TestOwnerComesAfterItsChildren(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	for _, name := range []string{"late-a", "late-b"} {
		in.create(child(configMaps, name, "late-1"))
	}
	in.create(child(configMaps, "late-c", "late-2"))
	for _, need := range []live.Need{live.Metadata, live.Body} {
		t.Run(need.String(), func(t *testing.T) {
			count, through := newCounter(admin)
			serves := atomic.Bool{}
			children, w, _ := observeWith(t, through, func(o *ChildrenOptions) {
				o.Known = func(of api.Owner, uid types.UID) bool { return serves.Load() && of == ownerOf(uid) && uid == "late-1" }
			})
			children.Want("k", wants{configMaps: need})
			synced(t, children, configMaps, need)
			if n := total(children.Strangers()); n < 3 {
				t.Errorf("%d strangers", n)
			}
			serves.Store(true)
			before := count.Load()
			if _, err := children.Of(configMaps, "late-1"); !errors.Is(err, live.ErrNotYet) {
				t.Errorf("stubs answer: %v", err)
			}
			eventually(t, "told", func() bool { return w.changes("late-1") > 0 })
			if diff := cmp.Diff([]string{"late-a", "late-b"}, names(t, children, configMaps, "late-1")); diff != "" {
				t.Error(diff)
			}
			found, _ := children.Of(configMaps, "late-1")
			for _, l := range found {
				if l.Meta.GetAnnotations()[api.AnnotationOwner] == "" || (l.Body != nil) != (need == live.Body) {
					t.Errorf("not complete: %v", l)
				}
			}
			if n := count.Load() - before; n != 1 {
				t.Errorf("completing two children took %d requests", n)
			}
			if w.changes("late-2") > 0 {
				t.Error("others were told")
			}
		})
	}
}

// total is how many there are of all kinds.
func total(counts map[string]int) (n int) {
	for _, some := range counts {
		n += some
	}
	return n
}

// TestStrangersByKind: what lost its owner is counted for the kind of that owner,
// also once a list was streamed or the owner went; what names no kind that is
// served here is of none.
func TestStrangersByKind(t *testing.T) {
	children, k, s := stillChildren(t)
	mine := ownerOf("x").Kind
	children.holders[mine] = map[Scope]live.Need{k.scope: live.Metadata}
	other := labelled(2, "1234")
	other.Annotations[api.AnnotationOwner] = api.Owner{Kind: "others.example.com", Namespace: "n", Name: "x"}.String()
	var list []any
	for _, o := range []*metav1.PartialObjectMetadata{labelled(0, "1234"), other, labelled(3, "known")} {
		streamed, err := s.Transformer()(o)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, streamed)
	}
	if err := s.Replace(list, "5000"); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(labelled(4, "5678")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{mine: 2, "": 1}, children.Strangers()); diff != "" {
		t.Error(diff)
	}
	children.Disown("known")
	if diff := cmp.Diff(map[string]int{mine: 3, "": 1}, children.Strangers()); diff != "" {
		t.Errorf("an owner is gone:\n%s", diff)
	}
}
