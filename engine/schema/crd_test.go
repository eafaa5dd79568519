package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromObjectNames(t *testing.T) {
	crd := definition(t, zones)
	type names struct {
		Name, Group, Kind, Plural, Singular string
		Namespaced                          bool
	}
	got := names{crd.Name, crd.Group, crd.Kind, crd.Plural, crd.Singular, crd.Namespaced}
	want := names{zones, "net.example.com", "Zone", "zones", "zone", false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if len(crd.Versions) != 3 || crd.Object.Name != zones {
		t.Errorf("got %d versions of %q", len(crd.Versions), crd.Object.Name)
	}
}

func TestFromObjectSubresources(t *testing.T) {
	tests := []struct {
		name             string
		status, scale    bool
		namespaced       bool
		singular, object string
	}{
		{webapps, true, true, true, "webapp", "WebApp"},
		{zones, false, false, false, "zone", "Zone"},
		{backups, true, false, true, "backup", "Backup"},
	}
	for _, tt := range tests {
		crd := definition(t, tt.name)
		v, err := crd.Version("")
		if err != nil {
			t.Fatal(err)
		}
		if v.Status != tt.status || (v.Scale != nil) != tt.scale || crd.Namespaced != tt.namespaced || crd.Singular != tt.singular {
			t.Errorf("%s: status %v, scale %v, namespaced %v, singular %q", tt.name, v.Status, v.Scale, crd.Namespaced, crd.Singular)
		}
		if got := v.GVK; got.Kind != tt.object || got.Version != "v1" {
			t.Errorf("%s: kind %v", tt.name, got)
		}
	}
}

func TestVersion(t *testing.T) {
	crd := definition(t, zones)
	tests := []struct{ name, want, fails string }{
		{"", "v1", ""},
		{"v1", "v1", ""},
		{"v1beta1", "v1beta1", ""},
		{"v2", "", "finding version v2 of zones.net.example.com: there is no such version (served: v1beta1, v1)"},
		{"v1alpha1", "", "finding version v1alpha1 of zones.net.example.com: it is not served (served: v1beta1, v1)"},
	}
	for _, tt := range tests {
		v, err := crd.Version(tt.name)
		if tt.fails != "" {
			if err == nil || err.Error() != tt.fails {
				t.Errorf("Version(%q): got error %v, want %s", tt.name, err, tt.fails)
			}
			continue
		}
		if err != nil || v.Name != tt.want {
			t.Errorf("Version(%q) = %v, %v", tt.name, v, err)
		}
	}
	crd.Versions = crd.Versions[:2]
	if _, err := crd.Version(""); err == nil {
		t.Error("a definition without storage version gave one")
	}
}

func TestFromObject(t *testing.T) {
	crd := definition(t, webapps)
	live := crd.Object.DeepCopy()
	live.Status.StoredVersions = []string{"v1"}
	before := live.DeepCopy()
	again, err := FromObject(live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, live); diff != "" {
		t.Errorf("FromObject changed its argument (-before +after):\n%s", diff)
	}
	if again.Kind != "WebApp" || again.Singular != "webapp" || again.File != "" {
		t.Errorf("got %+v", again)
	}
}

// TestFromObjectOfOld: a definition that was made through v1beta1 may say preserveUnknownFields, and
// then may lack a schema: everything is free-form.
func TestFromObjectOfOld(t *testing.T) {
	crd := definition(t, blobs)
	live := crd.Object.DeepCopy()
	live.Spec.PreserveUnknownFields = true
	live.Spec.Versions[0].Schema = nil
	old, err := FromObject(live)
	if err != nil {
		t.Fatal(err)
	}
	v := old.Versions[0]
	obj := object(t, "{apiVersion: free.example.com/v1, kind: Blob, metadata: {name: a, namespace: b}, data: {x: 1}}")
	if dropped := v.Prune(obj); len(dropped) > 0 {
		t.Errorf("dropped %v", dropped)
	}
	if _, found := v.Type.Field("data"); !found {
		t.Error("data is not found")
	}
	if kept, dropped := v.PruneStatus(map[string]any{"a": "b"}); len(kept) != 1 || dropped != nil {
		t.Errorf("PruneStatus = %v, %v", kept, dropped)
	}
}
