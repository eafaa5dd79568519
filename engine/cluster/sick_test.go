package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// allow lets a user do verbs on a core resource, in the whole cluster.
func (c cluster) allow(user, resource string, verbs ...any) (role, binding *unstructured.Unstructured) {
	name := "observe-" + user + "-" + resource
	role = c.create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": verbs}},
	}})
	return role, c.create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": name},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
	}})
}

func as(t *testing.T, user string) *rest.Config {
	t.Helper()
	u, err := environment.AddUser(envtest.User{Name: user}, rest.CopyConfig(admin))
	if err != nil {
		t.Fatal(err)
	}
	return u.Config()
}

func missing(c *Children, gvk schema.GroupVersionKind) []string {
	var rule *live.RuleError
	if s := c.State(gvk); s.Phase == live.Unsynced && errors.As(s.Err, &rule) {
		return rule.Verbs
	}
	return nil
}

func TestMissingRightsAreNamedAndHeal(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	in.create(child(configMaps, "rbac-a", "rbac-1"))
	in.allow("rbac", "configmaps", "list", "watch")
	children, w, _ := observe(t, as(t, "rbac"))
	children.Want("k", wants{configMaps: live.Metadata, secrets: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	eventually(t, "the missing verbs", func() bool { return slices.Equal(missing(children, secrets), []string{"list", "watch"}) })
	rule := `{apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"]}`
	if text := children.State(secrets).Err.Error(); !strings.Contains(text, rule) || !strings.Contains(text, "ClusterRole") {
		t.Errorf("the error does not name the rule: %s", text)
	}
	if _, err := children.Of(secrets, "rbac-1"); err == nil {
		t.Error("a kind that cannot be listed answers")
	}
	if diff := cmp.Diff([]string{"rbac-a"}, names(t, children, configMaps, "rbac-1")); diff != "" {
		t.Error(diff)
	}
	in.allow("rbac", "secrets", "list", "watch")
	synced(t, children, secrets, live.Metadata)
	eventually(t, "told", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.troubled[secrets] >= 2 && w.synced[secrets] == 1
	})
}

func TestRightsTakenAwayUnderAWatch(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	in.create(child(configMaps, "taken-a", "taken-1"))
	_, binding := in.allow("taken", "configmaps", "list", "watch")
	children, _, _ := observe(t, as(t, "taken"))
	children.Want("k", wants{configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)

	in.remove(binding)
	eventually(t, "the look is refused", func() bool { return children.Resync(t.Context(), configMaps) != nil })
	eventually(t, "the missing verbs", func() bool { return slices.Equal(missing(children, configMaps), []string{"list", "watch"}) })
	if found, err := children.Of(configMaps, "taken-1"); err == nil || len(found) != 1 {
		t.Errorf("found %v, %v; want what was known, and the error", found, err)
	}
	in.create(child(configMaps, "taken-b", "taken-1"))
	binding.SetResourceVersion("")
	binding.SetUID("")
	in.create(binding)
	synced(t, children, configMaps, live.Metadata)
	eventually(t, "both", func() bool { return len(names(t, children, configMaps, "taken-1")) == 2 })
}

// thing is the CRD of things, whose group is its test's own.
func thing(things schema.GroupVersionKind, scope string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things." + things.Group},
		"spec": map[string]any{
			"group": things.Group, "scope": scope,
			"names": map[string]any{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		}}}
}

var things = schema.GroupVersionKind{Group: "observe.test", Version: "v1", Kind: "Thing"}

// thingsOf are the things in the group of a test.
func thingsOf(group string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group + ".observe.test", Version: things.Version, Kind: things.Kind}
}

// follow runs a Discovery that tells who follows it, until the test ends.
func follow(t *testing.T, d *Discovery, who interface{ Served(func() *Served) }) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	told := d.Subscribe()
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-told:
				who.Served(d.Served)
			}
		}
	}()
	go func() { _ = d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

func TestKindRecreatedWithAnotherScope(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	things := thingsOf("recreated")
	for _, namespaces := range [][]string{nil, {"default"}} {
		children, _, d := observe(t, admin, namespaces...)
		follow(t, d, children)
		children.Want("k", wants{things: live.Body})
		for _, scope := range []string{"Namespaced", "Cluster", "Namespaced"} {
			if s := children.State(things); s.Phase != live.NotServed {
				t.Fatalf("before there is a CRD: %v", s)
			}
			crd := in.create(thing(things, scope))
			d.Trigger()
			synced(t, children, things, live.Body)
			one := child(things, "one", "thing-1")
			if scope == "Cluster" {
				one.SetNamespace("")
			}
			eventually(t, "created", func() bool { _, err := in.of(one).Create(t.Context(), one, metaCreate); return err == nil })
			eventually(t, "seen", func() bool {
				found, err := children.Of(things, "thing-1")
				return err == nil && len(found) == 1 && found[0].Meta.GetNamespace() == one.GetNamespace()
			})
			in.remove(crd)
			eventually(t, "the API is gone", func() bool { _, err := in.of(one).List(t.Context(), metaList); return err != nil })
			d.Trigger()
			eventually(t, "not served", func() bool { return children.State(things).Phase == live.NotServed })
			if found, err := children.Of(things, "thing-1"); !errors.Is(err, live.ErrNotServed) || len(found) != 0 {
				t.Errorf("found %v, %v", found, err)
			}
		}
	}
}
