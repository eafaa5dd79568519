package children

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// rests holds what must be true at rest: the resource is Ready, or says because
// of what it is not; its children are these, written Kind/name or
// Kind/namespace/name, and no others; nothing is sent, and nothing changes.
func (s *site) rests(because string, children ...string) {
	s.Helper()
	if because == "" {
		s.ready()
	} else {
		s.is("Ready", "False", because)
	}
	want := slices.Sorted(slices.Values(children))
	kit.Eventually(s, "nothing changes any more", func() error {
		before := s.everything()
		s.operator.AwaitQuiet(s)
		if err := same(before, s.everything()); err != nil {
			return err
		}
		if got := s.children(before); !slices.Equal(got, want) { // what went may not have been seen yet
			return fmt.Errorf("the children are %v, want %v", got, want)
		}
		return nil
	})
	owner := s.owner()
	if generation, _, _ := unstructured.NestedInt64(owner.Object, "status", "observedGeneration"); generation != owner.GetGeneration() {
		s.Errorf("observedGeneration is %d, want %d", generation, owner.GetGeneration())
	}
}

// same says what changed, came or went between two looks at everything.
func same(before, after map[types.UID]*unstructured.Unstructured) error {
	for uid, o := range after {
		if was := before[uid]; was == nil || was.GetResourceVersion() != o.GetResourceVersion() {
			return fmt.Errorf("%s %s changed", o.GetKind(), o.GetName())
		}
	}
	for uid, o := range before {
		if after[uid] == nil {
			return fmt.Errorf("%s %s went", o.GetKind(), o.GetName())
		}
	}
	return nil
}

// children are those of the resource among all objects, sorted.
func (s *site) children(all map[types.UID]*unstructured.Unstructured) (names []string) {
	owner := s.owner().GetUID()
	for _, o := range all {
		if s.made(o, owner) {
			names = append(names, s.called(o))
		}
	}
	slices.Sort(names)
	return names
}

func (s *site) called(o *unstructured.Unstructured) string {
	if ns := o.GetNamespace(); ns != "" && ns != s.namespace {
		return o.GetKind() + "/" + ns + "/" + o.GetName()
	}
	return o.GetKind() + "/" + o.GetName()
}

// kinds are all kinds of children in these tests.
var kinds = []string{
	"v1 ConfigMap", "v1 Secret", "v1 Pod", "apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "batch/v1 Job",
	"v1 PersistentVolumeClaim", "v1 Namespace", "v1 ResourceQuota", "networking.k8s.io/v1 NetworkPolicy",
	"rbac.authorization.k8s.io/v1 RoleBinding", "rbac.authorization.k8s.io/v1 ClusterRole", "scheduling.k8s.io/v1 PriorityClass",
}

// everything is every object of these kinds that bears the resource's uid, or
// is in the test's namespace and is not made by a controller.
func (s *site) everything() map[types.UID]*unstructured.Unstructured {
	s.Helper()
	all := map[types.UID]*unstructured.Unstructured{}
	owner := client.MatchingLabels{"jacquard.dev/owner-uid": string(s.owner().GetUID())}
	for _, kind := range kinds {
		apiVersion, name, _ := strings.Cut(kind, " ")
		for _, o := range cluster.List(s, apiVersion, name, owner) {
			all[o.GetUID()] = &o
		}
	}
	return all
}

// made reports whether an object is a child of the resource, which has this uid: its label
// is applied by the operator, it names the resource, and nobody else controls it.
func (s *site) made(o *unstructured.Unstructured, owner types.UID) bool {
	c := metav1.GetControllerOf(o)
	named := fmt.Sprintf("%ss.%s/%s/%s", strings.ToLower(s.kind), s.group, s.home(), s.name())
	return (c == nil || c.UID == owner) && o.GetAnnotations()["jacquard.dev/owner"] == named &&
		applied(o, "jacquard.dev/owner-uid")
}

// applied reports whether the operator's Apply entry names a field.
func applied(o *unstructured.Unstructured, field string) bool {
	for _, m := range o.GetManagedFields() {
		if m.Manager == "jacquard" && m.Operation == metav1.ManagedFieldsOperationApply &&
			bytes.Contains(m.FieldsV1.GetRawBytes(), []byte(`"f:`+field+`"`)) {
			return true
		}
	}
	return false
}
