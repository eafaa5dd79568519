package admin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestEjectNested: a child of one kind is a resource of another. Whichever of
// them is ejected, the other keeps what is its own, and is not served again.
func TestEjectNested(t *testing.T) {
	t.Parallel()
	for _, goes := range []string{"outer", "inner"} {
		t.Run(goes, func(t *testing.T) {
			t.Parallel()
			inner := lay(t, map[string]string{"map.yaml": modest["map.yaml"], "patch.yaml": varied["patch.yaml"]})
			outer := lay(t, map[string]string{"web.yaml": "apiVersion: " + inner.group +
				"/v1\nkind: Web\nmetadata: {name: {{ .metadata.name }}-in}\nspec: {text: one}\n"})
			inner.namespace = outer.namespace
			inner.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs-a-in}, data: {own: x}}")
			outer.web("a", "text: one")
			outer.operator = cluster.Run(t, func(o *controller.Options) {
				o.Namespace, o.Identity = outer.home, outer.home+"/jacquard"
				o.LeaderElectionNamespace = outer.home
			}, outer.root, inner.root)
			inner.is("a-in", "Ready", "True", "")
			outer.is("a", "Ready", "True", "")
			mark := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+api.AnnotationReconcileAt+`":"now"}}}`))
			if err := cluster.Client.Patch(context.Background(), inner.live("a-in"), mark); err != nil {
				t.Fatal(err)
			}
			outer.operator.Stop(t)
			before := inner.live("a-in")
			name := map[string]string{"outer": outer.name(), "inner": inner.name()}[goes]
			if a := outer.as("admin", "eject", name, "--yes"); a.code != 0 {
				t.Fatalf("exit %d: %s", a.code, a.all())
			}
			now := inner.live("a-in")
			stays, off := onResource, onChild
			if goes == "inner" {
				stays, off = off, stays
			}
			if want, got := stays(before), stays(now); len(want) < 3 || !slices.Equal(want, got) {
				t.Errorf("the kind that stays lost something: had %v, has %v", want, got)
			}
			if left := off(now); len(left) > 0 {
				t.Errorf("left on it: %v", left)
			}
			if a := outer.as("admin", "eject", name, "--yes"); a.code != 0 || !strings.Contains(a.stdout, "changed objects: 0") {
				t.Errorf("again: exit %d: %s", a.code, a.all())
			}
		})
	}
}

func (s *site) live(name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// onResource is what an object bears of ours as a resource.
func onResource(o *unstructured.Unstructured) []string {
	all := slices.Clone(o.GetFinalizers())
	for _, key := range slices.Sorted(maps.Keys(o.GetAnnotations())) {
		if key == api.AnnotationReconcileAt || key == api.AnnotationSucceeded {
			all = append(all, key)
		}
	}
	return append(all, entries(o, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource != "" || m.Operation != "Apply" })...)
}

// onChild is what an object bears of ours as a child.
func onChild(o *unstructured.Unstructured) []string {
	var all []string
	for _, key := range []string{api.AnnotationOwner, api.AnnotationFile, api.AnnotationDesired} {
		if value := o.GetAnnotations()[key]; value != "" {
			all = append(all, key+"="+value)
		}
	}
	if uid := o.GetLabels()[api.LabelOwnerUID]; uid != "" {
		all = append(all, uid)
	}
	for _, r := range o.GetOwnerReferences() {
		all = append(all, r.Kind+" "+r.Name)
	}
	return append(all, entries(o, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "" && m.Operation == "Apply" })...)
}

// entries are those of ours in managedFields.
func entries(o *unstructured.Unstructured, such func(metav1.ManagedFieldsEntry) bool) []string {
	var all []string
	for _, m := range o.GetManagedFields() {
		if m.Manager == api.FieldManager && such(m) {
			all = append(all, string(m.Operation)+" "+m.Subresource)
		}
	}
	return all
}

// TestEjectForeignOwner: labels of ours that somebody else wrote onto an object
// do not cost it its own owner.
func TestEjectForeignOwner(t *testing.T) {
	t.Parallel()
	s := vary(t)
	s.operator.Stop(t)
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}")
	owner, err := cluster.Get("v1", "ConfigMap", s.namespace, "owner")
	if err != nil {
		t.Fatal(err)
	}
	o := kit.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: owned}}")[0]
	o.SetNamespace(s.namespace)
	o.SetLabels(map[string]string{api.LabelOwnerUID: string(owner.GetUID())})
	o.SetAnnotations(map[string]string{api.AnnotationOwner: s.name() + "/" + s.namespace + "/a"})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.GetUID()}})
	if err := cluster.Client.Create(context.Background(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if a := s.as("admin", "eject", s.name(), "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	now, err := cluster.Get("v1", "ConfigMap", s.namespace, "owned")
	if err != nil {
		t.Fatal(err)
	}
	if len(now.GetOwnerReferences()) != 1 || len(now.GetLabels()) > 0 {
		t.Errorf("owners %v, labels %v", now.GetOwnerReferences(), now.GetLabels())
	}
}
