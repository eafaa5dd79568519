package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

func without(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) }

// withoutController leaves a reference to the owner that is not that of a controller.
func withoutController(o *unstructured.Unstructured) {
	o.SetOwnerReferences([]metav1.OwnerReference{{UID: owner.UID}})
}

// copied is an object of which somebody has copied label and annotations.
func copied(o *unstructured.Unstructured) { o.SetManagedFields(nil) }

func terminating(o *unstructured.Unstructured) { o.SetDeletionTimestamp(ptr.To(metav1.Now())) }

func onDelete(value string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{api.AnnotationOwner: owner.String(), api.AnnotationOnDelete: value})
	}
}

// deletion is for the owner with these children, while it is being deleted.
func deletion(children ...live.Object) Input {
	return Input{Owner: owner, Result: &render.Result{}, State: synced, IsDeleting: true, Live: children}
}

func inOrder(files ...string) func(*Input) { return func(in *Input) { in.DeletionOrder = files } }

func orphaned(in *Input)      { in.Propagation = metav1.DeletePropagationOrphan }
func foreground(in *Input)    { in.Propagation = metav1.DeletePropagationForeground }
func unknownKinds(in *Input)  { in.KindsUnknown = true }
func keepsChildren(in *Input) { in.Owner.Keeps = true }

func recorded(o Orphaning) func(*Input) { return func(in *Input) { in.RecordedOrphaning = o } }

// reported is for an owner whose status names exactly these ConfigMaps. A name with a
// question mark is one that the status says does not exist.
func reported(keys ...string) func(*Input) {
	return func(in *Input) {
		in.Reported = map[Ref]bool{}
		for _, key := range keys {
			key, absent := strings.CutSuffix(key, "?")
			namespace, name, _ := strings.Cut(key, "/")
			in.Reported[Ref{GroupKind: configMaps.GroupKind(), Namespace: namespace, Name: name}] = !absent
		}
	}
}

// summarizeDeletion formats the plan of a deletion in one line.
func summarizeDeletion(t *testing.T, in Input) string {
	t.Helper()
	p, err := Make(in)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"orphaned=" + string(p.Orphaning)}
	for _, l := range p.Prune {
		words = append(words, "delete:"+l.Meta.GetName())
	}
	for _, ref := range p.Remaining {
		if !slices.ContainsFunc(p.Prune, func(l live.Object) bool { return RefOf(l) == ref }) {
			words = append(words, "await:"+ref.Name)
		}
	}
	for _, r := range p.Retained {
		words = append(words, string(r.Why)+":"+r.Live.Meta.GetName())
	}
	return strings.Join(words, " ")
}

func TestDeletion(t *testing.T) {
	for _, tt := range []struct {
		name     string
		children []live.Object
		changes  []func(*Input)
		want     string
	}{
		{"the garbage collector does it", []live.Object{object(configMaps, "a")}, nil, "orphaned=false"},
		{"child in another namespace", []live.Object{object(configMaps, "a"), object(configMaps, "else/b")}, nil, "orphaned=false delete:b"},
		{"child in another namespace is being deleted", []live.Object{object(configMaps, "a"), object(configMaps, "else/b", terminating)}, nil,
			"orphaned=false await:b"},
		{"child in another namespace is kept", []live.Object{object(configMaps, "else/b", onDelete("keep"))}, nil, "orphaned=false"},
		{"child in another namespace holds data", []live.Object{object(claims, "else/b")}, nil, "orphaned=false"},
		{"child in another namespace holds data and is to be deleted", []live.Object{object(claims, "else/b", onDelete("delete"))}, nil,
			"orphaned=false delete:b"},
		{"copied child in another namespace", []live.Object{object(configMaps, "else/b", copied)}, nil, "orphaned=false"},
		{"in order", []live.Object{object(configMaps, "b", from("then")), object(configMaps, "a", from("first")), object(configMaps, "else/c")},
			[]func(*Input){inOrder("first", "then")}, "orphaned=false delete:a"},
		{"in order, the next", []live.Object{object(configMaps, "b", from("then")), object(configMaps, "else/c")},
			[]func(*Input){inOrder("first", "then")}, "orphaned=false delete:b"},

		// Orphaning was requested.
		{"orphaned", []live.Object{object(configMaps, "a"), object(configMaps, "else/b"), object(roleBindings, "else/c")},
			[]func(*Input){orphaned}, "orphaned=true"},
		{"orphaned, kinds unknown", nil, []func(*Input){orphaned, unknownKinds}, "orphaned=true"},
		{"orphaned after all", []live.Object{object(roleBindings, "else/b")}, []func(*Input){orphaned, recorded(NotOrphaned)}, "orphaned=true"},
		{"orphaned, recorded", []live.Object{object(configMaps, "a"), object(configMaps, "else/b")},
			[]func(*Input){recorded(OrphanRequested)}, "orphaned=true"},
		{"on-delete keeps the children, permissions included", []live.Object{object(configMaps, "a", without), object(roleBindings, "else/b")},
			[]func(*Input){keepsChildren}, "orphaned=true"},

		// Orphaning is inferred.
		{"all reachable children orphaned", []live.Object{object(configMaps, "a", without), object(configMaps, "else/b")}, nil,
			"orphaned=inferred Orphaned:b Orphaned:a"},
		{"all reachable children orphaned, permission in another namespace",
			[]live.Object{object(configMaps, "a", without), object(configMaps, "else/b"), object(roleBindings, "else/c")}, nil,
			"orphaned=inferred delete:c Orphaned:b Orphaned:a"},
		{"all reachable children orphaned, permission in the same namespace",
			[]live.Object{object(configMaps, "a", without), object(roleBindings, "c", without)}, nil,
			"orphaned=inferred Orphaned:a Orphaned:c"},
		{"all reachable children orphaned, beside deletionOrder", []live.Object{object(configMaps, "a", without, from("first")), object(roleBindings, "else/c")},
			[]func(*Input){inOrder("first")}, "orphaned=inferred delete:c Orphaned:a"},
		{"all reachable children orphaned, but kinds unknown",
			[]live.Object{object(configMaps, "a", without), object(configMaps, "else/b"), object(roleBindings, "else/c")},
			[]func(*Input){unknownKinds}, "orphaned= delete:c"},
		{"inferred before", []live.Object{object(configMaps, "a"), object(configMaps, "else/b")}, []func(*Input){recorded(OrphanInferred)},
			"orphaned=inferred Orphaned:b Orphaned:a"},
		{"kept child beside orphaned ones", []live.Object{object(configMaps, "a", without), object(configMaps, "kept", without, onDelete("keep"))},
			[]func(*Input){reported("ns/a", "ns/kept")}, "orphaned=inferred Orphaned:a Orphaned:kept"},

		// Orphaning is refuted.
		{"one of the reachable children orphaned", []live.Object{object(configMaps, "a"), object(configMaps, "forged", without), object(roleBindings, "else/b")},
			nil, "orphaned=false delete:b NoReference:forged"},
		{"one of the reachable children orphaned, kinds unknown",
			[]live.Object{object(configMaps, "a"), object(configMaps, "forged", without), object(configMaps, "else/b")},
			[]func(*Input){unknownKinds}, "orphaned=false delete:b NoReference:forged"},
		{"a reference that is not the controller's",
			[]live.Object{object(configMaps, "a", withoutController), object(configMaps, "forged", without), object(configMaps, "else/b")}, nil,
			"orphaned=false delete:b NoReference:forged"},
		{"forged child beside deletionOrder", []live.Object{object(configMaps, "a", from("first")), object(configMaps, "forged", without)},
			[]func(*Input){inOrder("first")}, "orphaned=false delete:a NoReference:forged"},
		{"in the foreground, only a forged child left", []live.Object{object(configMaps, "forged", without), object(configMaps, "else/b")},
			[]func(*Input){foreground}, "orphaned=false delete:b NoReference:forged"},
		{"in the foreground, kinds unknown", []live.Object{object(configMaps, "else/b")}, []func(*Input){foreground, unknownKinds},
			"orphaned=false delete:b"},
		{"only a copy has no reference", []live.Object{object(configMaps, "a", without, copied), object(configMaps, "else/b")}, nil,
			"orphaned=false delete:b"},
		{"only the child of another owner has no reference", []live.Object{object(configMaps, "a", controlledBy("other")), object(configMaps, "else/b")}, nil,
			"orphaned=false delete:b"},
		{"only a kept child has no reference", []live.Object{object(configMaps, "a", without, onDelete("keep")), object(configMaps, "else/b")}, nil,
			"orphaned=false delete:b"},

		// The status says which children count.
		{"the status names no reachable child", []live.Object{object(configMaps, "forged", without), object(configMaps, "else/b")},
			[]func(*Input){reported("else/b")}, "orphaned=false delete:b NoReference:forged"},
		{"the status names nothing", []live.Object{object(configMaps, "forged", without), object(configMaps, "else/b")},
			[]func(*Input){reported()}, "orphaned=false delete:b NoReference:forged"},
		{"the status names another child", []live.Object{object(configMaps, "forged", without), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "else/b")}, "orphaned=false delete:b NoReference:forged"},
		{"a child that the status names is gone", []live.Object{object(configMaps, "a", without), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "ns/c", "else/b")}, "orphaned=false delete:b NoReference:a"},
		{"a child that the status names never existed", []live.Object{object(configMaps, "a", without), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "ns/c?", "else/b")}, "orphaned=inferred Orphaned:b Orphaned:a"},
		{"a child in another namespace that the status names is gone", []live.Object{object(configMaps, "a", without), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "else/b", "else/c")}, "orphaned=inferred Orphaned:b Orphaned:a"},
		{"all named children orphaned, beside a forged child with a reference",
			[]live.Object{object(configMaps, "a", without), object(configMaps, "forged"), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "else/b")}, "orphaned=inferred Orphaned:b Orphaned:a Orphaned:forged"},
		{"a child that the status calls absent has a reference", []live.Object{object(configMaps, "a", without), object(configMaps, "c"), object(configMaps, "else/b")},
			[]func(*Input){reported("ns/a", "ns/c?", "else/b")}, "orphaned=false delete:b NoReference:a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deletion(tt.children...)
			for _, change := range tt.changes {
				change(&in)
			}
			if diff := cmp.Diff(tt.want, summarizeDeletion(t, in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeletionInPasses plays whole deletions. What a plan deletes is gone in the next pass.
// A decision is recorded unless the pass ends the deletion, and is the only thing that the
// next pass remembers, as after a restart.
func TestDeletionInPasses(t *testing.T) {
	remove := func(in *Input, name string) {
		in.Live = slices.DeleteFunc(in.Live, func(l live.Object) bool { return l.Meta.GetName() == name })
	}
	add := func(in *Input, o live.Object) { remove(in, o.Meta.GetName()); in.Live = append(in.Live, o) }
	firstInOrder := inOrder("first")
	for _, tt := range []struct {
		name     string
		changes  []func(*Input)
		children []live.Object
		// between happens after the first pass.
		between func(*Input)
		want    []string
	}{
		{"forged child beside deletionOrder", []func(*Input){firstInOrder},
			[]live.Object{object(configMaps, "a", from("first")), object(configMaps, "forged", without), object(configMaps, "else/b")}, nil,
			[]string{"orphaned=false delete:a NoReference:forged", "orphaned=false delete:b NoReference:forged", "orphaned=false NoReference:forged"}},
		{"child forged after deletionOrder has begun", []func(*Input){firstInOrder},
			[]live.Object{object(configMaps, "a", from("first")), object(configMaps, "else/b")},
			func(in *Input) { add(in, object(configMaps, "forged", without)) },
			[]string{"orphaned=false delete:a", "orphaned=false delete:b NoReference:forged", "orphaned=false NoReference:forged"}},
		{"named child loses its reference after deletionOrder has begun", []func(*Input){firstInOrder, reported("ns/a", "ns/c", "else/b")},
			[]live.Object{object(configMaps, "a", from("first")), object(configMaps, "c"), object(configMaps, "else/b")},
			func(in *Input) { add(in, object(configMaps, "c", without)) },
			[]string{"orphaned=false delete:a", "orphaned=false delete:b NoReference:c", "orphaned=false NoReference:c"}},
		{"garbage collector ends a foreground deletion first", []func(*Input){foreground},
			[]live.Object{object(configMaps, "a"), object(configMaps, "forged", without), object(configMaps, "else/b")},
			func(in *Input) { // it has deleted a, and our deletion of b was refused
				remove(in, "a")
				add(in, object(configMaps, "else/b"))
				in.Propagation = ""
			},
			[]string{"orphaned=false delete:b NoReference:forged", "orphaned=false delete:b NoReference:forged", "orphaned=false NoReference:forged"}},
		{"everything in the namespace is deleted but a forged child", nil,
			[]live.Object{object(configMaps, "a"), object(configMaps, "forged", without), object(configMaps, "else/b")},
			func(in *Input) { remove(in, "a"); add(in, object(configMaps, "else/b")) },
			[]string{"orphaned=false delete:b NoReference:forged", "orphaned=false delete:b NoReference:forged", "orphaned=false NoReference:forged"}},
		{"orphaned child gets a reference later", nil,
			[]live.Object{object(configMaps, "a", without), object(configMaps, "else/b"), object(roleBindings, "else/c")},
			func(in *Input) { add(in, object(configMaps, "a")) },
			[]string{"orphaned=inferred delete:c Orphaned:b Orphaned:a", "orphaned=inferred Orphaned:b Orphaned:a"}},
		{"finalizer orphan goes before all kinds are known", []func(*Input){orphaned, unknownKinds},
			[]live.Object{object(configMaps, "a", without), object(roleBindings, "else/b")},
			func(in *Input) { in.Propagation, in.KindsUnknown = "", false },
			[]string{"orphaned=true", "orphaned=true"}},
		{"a child with a reference is seen once all kinds are known", []func(*Input){unknownKinds},
			[]live.Object{object(configMaps, "a", without), object(configMaps, "else/b")},
			func(in *Input) { in.KindsUnknown = false; add(in, object(configMaps, "c")) },
			[]string{"orphaned=", "orphaned=false delete:b NoReference:a", "orphaned=false NoReference:a"}},
		{"orphaned children are seen once all kinds are known", []func(*Input){unknownKinds},
			[]live.Object{object(configMaps, "else/b"), object(roleBindings, "else/c")},
			func(in *Input) { in.KindsUnknown = false; add(in, object(configMaps, "a", without)) },
			[]string{"orphaned= delete:c", "orphaned=inferred Orphaned:b Orphaned:a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deletion(tt.children...)
			for _, change := range tt.changes {
				change(&in)
			}
			var got []string
			for pass, ended := 0, false; pass < 5 && !ended; pass++ {
				p, err := Make(in)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, summarizeDeletion(t, in))
				for _, l := range p.Prune {
					remove(&in, l.Meta.GetName())
				}
				if ended = len(p.Remaining) == 0 && !in.KindsUnknown; !ended {
					in.RecordedOrphaning = p.Orphaning
				}
				if pass == 0 && tt.between != nil {
					tt.between(&in)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("passes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOrphaningRecord: a record binds no other resource, and nothing but a record is one.
func TestOrphaningRecord(t *testing.T) {
	for record, want := range map[string]Orphaning{
		"true/me": OrphanRequested, "inferred/me": OrphanInferred, "false/me": NotOrphaned,
		"true/other": OrphaningUnknown, "true": OrphaningUnknown, "": OrphaningUnknown, "/me": OrphaningUnknown, "no/me": OrphaningUnknown,
	} {
		if got := ParseOrphaning(record, "me"); got != want {
			t.Errorf("%q is read as %q, want %q", record, got, want)
		}
	}
}

// TestOrphaningIsRecordedBeforeRelease: the API server may refuse to release a patch, and another
// process may then go on with the deletion, which sees nothing of why the children stay. Where
// nothing stays for that, and nothing can fail, no request is sent for a record.
func TestOrphaningIsRecordedBeforeRelease(t *testing.T) {
	for name, c := range map[string]struct {
		patched []live.Object
		changes []func(*Input)
		want    string
	}{
		"orphaned, with a patch":        {[]live.Object{patchedObject()}, []func(*Input){orphaned}, "true/me"},
		"orphaned, with a record":       {[]live.Object{patchedObject()}, []func(*Input){orphaned, recorded(OrphanRequested)}, ""},
		"orphaned, without a patch":     {nil, []func(*Input){orphaned}, ""},
		"not orphaned, with a patch":    {[]live.Object{patchedObject()}, nil, ""},
		"not orphaned, without a patch": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := deletion()
			in.Patched = c.patched
			for _, change := range c.changes {
				change(&in)
			}
			p, err := Make(in)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Release) != len(c.patched) || p.After.Finalizer != RemoveFinalizer {
				t.Fatalf("it releases %d patches, and then %q the finalizer", len(p.Release), p.After.Finalizer)
			}
			if got := p.Before.Annotations[api.AnnotationOrphaned]; got != c.want {
				t.Errorf("it records %q, want %q", got, c.want)
			}
		})
	}
}

// patchedObject returns an object of others that has a field of the resource's patch manager.
func patchedObject() live.Object {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: "ns", UID: "theirs",
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: api.PatchManager("me"), Operation: metav1.ManagedFieldsOperationApply,
			APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:ours":{}}}`)}}}}
	return live.Object{GVK: configMaps, Meta: o}
}
