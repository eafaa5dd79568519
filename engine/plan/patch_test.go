package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// annotated is a rendered patch: one annotation of somebody else's Pod.
func annotated(name, value string) render.Child {
	return render.Child{File: "pods", Policy: render.Policy{Patch: true}, Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "ns", "annotations": map[string]any{"a": value}},
	}}}
}

// theirs is that Pod, with what we hold of it in the main resource and in a
// subresource.
func theirs(name string, held map[string]string) *live.Object {
	o := annotated(name, "1").Object.DeepCopy()
	o.SetUID("uid")
	var entries []metav1.ManagedFieldsEntry
	for sub, fields := range held {
		entries = append(entries, metav1.ManagedFieldsEntry{Manager: api.PatchManager(owner.UID), Operation: metav1.ManagedFieldsOperationApply,
			Subresource: sub, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)})
	}
	o.SetManagedFields(entries)
	return &live.Object{GVK: pods, Meta: o, Body: o.Object}
}

const holdsA = `{"f:metadata":{"f:annotations":{"f:a":{}}}}`

func TestPatch(t *testing.T) {
	going := theirs("x", nil)
	going.Meta.SetDeletionTimestamp(ptr.To(metav1.Now()))
	for name, c := range map[string]struct {
		live  *live.Object
		err   error
		value string
		want  Action
	}{
		"it is not there":  {want: Block},
		"it is not known":  {err: errors.New("not listed"), want: Block},
		"it goes":          {live: going, want: Block},
		"not patched yet":  {live: theirs("x", nil), value: "1", want: Patch},
		"patched":          {live: theirs("x", map[string]string{"": holdsA}), value: "1", want: Keep},
		"with other value": {live: theirs("x", map[string]string{"": holdsA}), value: "2", want: Patch},
		"taken from us":    {live: theirs("x", map[string]string{"": `{"f:metadata":{"f:annotations":{"f:b":{}}}}`}), value: "1", want: Patch},
		"too much": {live: theirs("x", map[string]string{"": `{"f:metadata":{"f:annotations":{"f:a":{},"f:b":{}}}}`}), value: "1",
			want: Patch},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(Input{
				Owner: owner, Result: &render.Result{Children: []render.Child{annotated("x", c.value)}}, State: synced,
				Object: func(*unstructured.Unstructured) (*live.Object, error) { return c.live, c.err },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Steps[0].Action; got != c.want {
				t.Errorf("%s (%s), want %s", got, p.Steps[0].Why, c.want)
			}
			if p.Before.Finalizer != AddFinalizer {
				t.Error("a patch needs the finalizer")
			}
		})
	}
}

// TestPatchWithoutEntry: where the server keeps no entry of a subresource, what
// was sent once is not sent again, if the API never lets go of it.
func TestPatchWithoutEntry(t *testing.T) {
	for _, c := range []struct {
		sub, digest, value string
		want               Action
	}{
		{"ephemeralcontainers", "", "1", Keep},
		{"ephemeralcontainers", "", "2", Patch},
		{"ephemeralcontainers", "seen", "1", Patch},
		{"scale", "", "1", Patch},
	} {
		sent, now := annotated("x", "1"), annotated("x", c.value)
		now.Policy.Subresource = c.sub
		hash, err := ownership.Hash(sent.Object.Object)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Make(Input{
			Owner: owner, Result: &render.Result{Children: []render.Child{now}}, State: synced,
			Object:  func(*unstructured.Unstructured) (*live.Object, error) { return theirs("x", nil), nil },
			Applied: map[types.UID]Applied{PatchKey("uid", c.sub): {Hash: hash, Digest: c.digest}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Steps[0].Action; got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestGiveBack: what is patched and not rendered is released, but for what
// a waiting file may still want and what the API never lets go of.
func TestGiveBack(t *testing.T) {
	held := map[string]string{"": holdsA, "ephemeralcontainers": `{"f:spec":{}}`, "scale": `{"f:spec":{}}`}
	patched := []live.Object{*theirs("x", map[string]string{"": holdsA}), *theirs("y", held)}
	waiting := []render.Waiting{{File: "pods"}}
	for name, c := range map[string]struct {
		result render.Result
		want   []string
	}{
		"nothing is rendered": {render.Result{}, []string{"x/", "y/", "y/scale"}},
		"one is rendered":     {render.Result{Children: []render.Child{annotated("x", "1")}}, []string{"y/", "y/scale"}},
		"the file waits":      {render.Result{Waiting: waiting}, []string{"y/scale"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(Input{
				Owner: owner, Result: &c.result, State: synced, Patched: patched,
				Object: func(o *unstructured.Unstructured) (*live.Object, error) { return &patched[0], nil },
				Patchers: func(_ schema.GroupVersionKind, sub string) []string {
					if sub == "" {
						return []string{"pods"}
					}
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, r := range p.Release {
				got[r.Live.Meta.GetName()+"/"+r.Subresource] = true
			}
			want := map[string]bool{}
			for _, name := range c.want {
				want[name] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestInitial: a field that is only set initially stands as rendered in a new
// object, with its live value while we hold it, and not at all afterwards; the
// hash is the same for all.
func TestInitial(t *testing.T) {
	c := pod("x", render.Policy{Initial: [][]string{{"spec", "nodeName"}}})
	c.Object.Object["spec"] = map[string]any{"nodeName": "n", "hostname": "h"}
	held := liveAs(t, "x", func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"nodeName": "m"} })
	lost := liveAs(t, "x", func(o *unstructured.Unstructured) { o.SetManagedFields(withoutSpec(o)) })
	hashes := map[string]bool{}
	for name, s := range map[string]struct {
		live *live.Object
		want map[string]any
	}{
		"new":  {nil, map[string]any{"nodeName": "n", "hostname": "h"}},
		"held": {&held, map[string]any{"nodeName": "m", "hostname": "h"}},
		"lost": {&lost, map[string]any{"hostname": "h"}},
	} {
		doc, hash, err := Document(owner, c, s.live)
		if err != nil {
			t.Fatal(err)
		}
		hashes[hash] = true
		if diff := cmp.Diff(s.want, doc.Object["spec"]); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("%d hashes", len(hashes))
	}
	if diff := cmp.Diff(map[string]any{"nodeName": "n", "hostname": "h"}, c.Object.Object["spec"]); diff != "" {
		t.Errorf("the child was changed: %s", diff)
	}
}

// TestOnce: a Job made once is recreated for new content only, and may go
// after it succeeded.
func TestOnce(t *testing.T) {
	c := pod("x", render.Policy{Once: true})
	_, hash, err := Document(owner, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	later := owner
	later.UID = "another"
	if _, again, err := Document(later, c, nil); err != nil || again != hash {
		t.Errorf("for another resource the content is %s, not %s: %v", again, hash, err)
	}
	with := func(hash string) live.Object {
		return liveAs(t, "x", func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{api.AnnotationOwner: owner.String(), api.AnnotationFile: c.File, api.AnnotationDesired: hash})
		})
	}
	same, other := with(hash), with("v1:0")
	for name, s := range map[string]struct {
		live      []live.Object
		succeeded string
		want      Action
	}{
		"never made":             {nil, "", Create},
		"there":                  {[]live.Object{same}, "", Keep},
		"succeeded and gone":     {nil, hash, Done},
		"gone, with new content": {nil, "v1:0", Create},
		"there, with new":        {[]live.Object{other}, "v1:0", Recreate},
	} {
		p, err := Make(Input{Owner: owner, Live: s.live, State: synced, Result: &render.Result{Children: []render.Child{c}},
			Succeeded: "x=" + s.succeeded})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Steps[0].Action; got != s.want {
			t.Errorf("%s: %s, want %s", name, got, s.want)
		}
	}
}

// TestOnceMarks: a Job made once keeps its content, but not what the engine adds to it:
// its owner reference is to name the version that its resource is served in now.
func TestOnceMarks(t *testing.T) {
	c := pod("x", render.Policy{Once: true})
	made, _, err := Document(owner, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	later, keeps := owner, owner
	later.GVK.Version, keeps.Keeps = "v2", true
	moved, drawn := c, c
	moved.File, drawn.Drawn = "jobs", true
	for name, s := range map[string]struct {
		owner Owner
		child render.Child
		want  Action
	}{
		"as it was made":               {owner, c, Keep},
		"the resource has a later API": {later, c, Update},
		"the resource keeps children":  {keeps, c, Update},
		"another file renders the Job": {owner, moved, Update},
		"a value is drawn now":         {owner, drawn, Update},
	} {
		there := liveAs(t, "x", func(o *unstructured.Unstructured) {
			o.SetAnnotations(made.GetAnnotations())
			o.SetOwnerReferences(made.GetOwnerReferences())
		})
		p, err := Make(Input{Owner: s.owner, Live: []live.Object{there}, State: synced, Result: &render.Result{Children: []render.Child{s.child}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Steps[0]; got.Action != s.want {
			t.Errorf("%s: %s (%s), want %s", name, got.Action, got.Why, s.want)
		}
	}
}
