package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at follows a path from the root: names, and [] for an element.
func at(root *Type, path string) (*Type, bool) {
	place := root
	for _, name := range strings.Fields(path) {
		if name == "[]" {
			place = place.Elem()
			if place == nil {
				return nil, false
			}
			continue
		}
		child, found := place.Field(name)
		if !found {
			return child, false
		}
		place = child
	}
	return place, true
}

// missing stands for a field that is not found.
const missing = Kind(-1)

var places = []struct {
	kind, path string
	want       Kind
}{
	{webapps, "apiVersion", KindString},
	{webapps, "metadata", KindObject},
	{webapps, "metadata name", KindString},
	{webapps, "metadata generation", KindInteger},
	{webapps, "metadata creationTimestamp", missing},
	{webapps, "metadata labels", KindFreeMap},
	{webapps, "metadata labels anything", KindString},
	{webapps, "metadata ownerReferences", missing},
	{backups, "spec template metadata ownerReferences [] controller", KindBoolean},
	{backups, "spec template metadata ownerReferences [] owner", missing},
	{backups, "spec template metadata managedFields [] fieldsV1 anything", KindAny},
	{webapps, "metadata nam", missing},
	{webapps, "metadata name x", missing},
	{webapps, "spec", KindObject},
	{webapps, "spec image", KindString},
	{webapps, "spec imagee", missing},
	{webapps, "spec image x", missing},
	{webapps, "spec replicas", KindInteger},
	{webapps, "spec replicas x", missing},
	{webapps, "spec weight", KindNumber},
	{webapps, "spec pause", KindBoolean},
	{webapps, "spec ports", KindList},
	{webapps, "spec ports name", missing},
	{webapps, "spec ports [] name", KindString},
	{webapps, "spec ports [] port", KindIntOrString},
	{webapps, "spec ports [] port x", missing},
	{webapps, "spec args [] []", KindString},
	{webapps, "spec env", KindFreeMap},
	{webapps, "spec env HOME", KindString},
	{webapps, "spec env []", KindString},
	{webapps, "spec resources", KindObject},
	{webapps, "spec resources limits cpu", KindAny},
	{webapps, "spec []", missing},
	{webapps, "spec image []", missing},
	{webapps, "status conditions [] type", KindString},
	{webapps, "status ready", missing},
	{webapps, "data", missing},
	{zones, "status", missing},
	{zones, "spec records x [] ttl", KindInteger},
	{zones, "spec records x [] tll", missing},
	{backups, "spec extra anything [] at all", KindAny},
	{backups, "spec labels team", KindString},
	{backups, "spec labels other", KindAny},
	{backups, "spec template metadata labels", KindFreeMap},
	{backups, "spec template metadata lables", missing},
	{backups, "spec template spec x", KindAny},
	{backups, "status anything", KindAny},
	{blobs, "data x", KindAny},
	{blobs, "metadata nam", missing},
}

func TestField(t *testing.T) {
	for _, tt := range places {
		root := Root(storage(t, tt.kind))
		got, found := at(root, tt.path)
		switch {
		case tt.want == missing && found:
			t.Errorf("%s: %s is found, %v", tt.kind, tt.path, got.Kind())
		case tt.want != missing && !found:
			t.Errorf("%s: %s is not found", tt.kind, tt.path)
		case tt.want != missing && got.Kind() != tt.want:
			t.Errorf("%s: %s is %v, want %v", tt.kind, tt.path, got.Kind(), tt.want)
		}
	}
}

func TestAny(t *testing.T) {
	for _, place := range []*Type{nil, Any, Root(nil)} {
		child, found := place.Field("x")
		if !found || child != Any || place.Elem() != Any || place.Kind() != KindAny || !place.FreeForm() {
			t.Errorf("%+v is not free-form", place)
		}
		if place.Fields() != nil || place.Required() != nil || place.Enum() != nil || place.Default() != nil || place.Always("x") ||
			place.Nullable() || place.Description() != "" {
			t.Errorf("%+v declares something", place)
		}
	}
}

func TestTypeFacts(t *testing.T) {
	root := Root(storage(t, webapps))
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "spec", "status"}, root.Fields()); diff != "" {
		t.Errorf("fields of the root (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec"}, root.Required()); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	spec, _ := root.Field("spec")
	for name, want := range map[string]bool{"image": true, "replicas": true, "tier": false, "none": false} {
		if got := spec.Always(name); got != want {
			t.Errorf("Always(%q) = %v", name, got)
		}
	}
	if spec.FreeForm() {
		t.Error("spec is free-form")
	}
	tier, _ := spec.Field("tier")
	if diff := cmp.Diff([]any{"small", "large"}, tier.Enum()); diff != "" || tier.Description() == "" {
		t.Errorf("tier: %q, enum (-want +got):\n%s", tier.Description(), diff)
	}
	replicas, _ := spec.Field("replicas")
	if replicas.Default() != int64(2) {
		t.Errorf("default of replicas is %#v", replicas.Default())
	}
	note, _ := at(Root(storage(t, backups)), "spec note")
	if !note.Nullable() || tier.Nullable() {
		t.Errorf("nullable: note %v, tier %v", note.Nullable(), tier.Nullable())
	}
}

func TestObjectMeta(t *testing.T) {
	fields := objectMeta().Fields()
	for _, name := range []string{"annotations", "creationTimestamp", "deletionTimestamp", "finalizers", "generateName", "generation",
		"labels", "name", "namespace", "ownerReferences", "resourceVersion", "uid"} {
		if !slices.Contains(fields, name) {
			t.Errorf("metadata lacks %s", name)
		}
	}
}

func TestKindString(t *testing.T) {
	if KindAny.String() != "any value" || KindIntOrString.String() != "integer or string" {
		t.Errorf("got %s, %s", KindAny, KindIntOrString)
	}
}
