package operators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// everyWay is a folder with owned children, one of them with a text that is
// drawn, one that the garbage collector does not reach, and patches of three
// objects of somebody else, one through a subresource.
var everyWay = map[string]string{
	"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n",
	"map.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .spec.name }}\ndata:\n  text: {{ .spec.text }}\n",
	"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}\nstringData:\n" +
		"  password: {{ stable \"secret\" \"password\" 20 }}\n  text: {{ .spec.text }}\n",
	"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {{ .metadata.namespace }}-{{ .metadata.name }}\n" +
		"rules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get]\n  resourceNames:\n  - {{ .spec.text }}\n",
	"first.yaml":  patchOf("ConfigMap", "first", "") + "data:\n  ours: {{ .spec.text }}\n",
	"second.yaml": "{{ if .spec.second }}\n" + patchOf("ConfigMap", "second", "") + "data:\n  ours: {{ .spec.text }}\n{{ end }}\n",
	"third.yaml": patchOf("Service", "third", "    jacquard.dev/subresource: status\n") +
		"status:\n  conditions:\n  - type: Ours\n    status: \"True\"\n" +
		"    reason: {{ .spec.text }}\n    message: \"\"\n    lastTransitionTime: \"2026-01-01T00:00:00Z\"\n",
}

func patchOf(kind, name, more string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  annotations:\n    jacquard.dev/ownership: patch\n" + more
}

// foreign are the objects of somebody else.
const foreign = `{apiVersion: v1, kind: ConfigMap, metadata: {name: first, labels: {a: b}}, data: {theirs: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: second, labels: {a: b}}, data: {theirs: x}}
---
{apiVersion: v1, kind: Service, metadata: {name: third, labels: {a: b}}, spec: {ports: [{port: 80}]}}
`

// A want is what a custom resource says and the cluster shall say. The zero
// want is that of a resource that is gone.
type want struct {
	name, text string
	second     bool
}

func (w want) spec() string {
	return fmt.Sprintf("name: %s, text: %s, second: %t", w.name, w.text, w.second)
}

// holds says what of the cluster is not as the resource wants it.
func (s *site) holds(w want) error {
	uid, err := s.served(w)
	if err != nil {
		return err
	}
	for _, check := range []func(want) error{s.maps, s.secrets, s.roles} {
		if err := check(w); err != nil {
			return err
		}
	}
	for _, name := range []string{"first", "second", "third"} {
		if err := s.patched(w, name, api.PatchManager(uid)); err != nil {
			return err
		}
	}
	return nil
}

// served says why the resource does not tell of what it wants; or is not gone.
func (s *site) served(w want) (types.UID, error) {
	o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
	switch {
	case w == want{} && apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	case w == want{}:
		return "", fmt.Errorf("the resource is still there: %v", o.Object["status"])
	case !slices.Equal(o.GetFinalizers(), []string{api.Finalizer}):
		return "", fmt.Errorf("its finalizers are %v", o.GetFinalizers())
	}
	total, _, _ := unstructured.NestedInt64(o.Object, "status", "childrenTotal")
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if total != 3 || observed != o.GetGeneration() {
		return "", fmt.Errorf("its status tells of %d children and generation %d of %d", total, observed, o.GetGeneration())
	}
	return o.GetUID(), cluster.Ready(s.apiVersion(), "Web", s.namespace, "a")
}

// maps compares all ConfigMaps of the namespace. Those of a resource that is
// gone are the garbage collector's.
func (s *site) maps(w want) error {
	var all corev1.ConfigMapList
	if err := cluster.Client.List(ctx, &all, client.InNamespace(s.namespace)); err != nil || w == (want{}) {
		return err
	}
	got := map[string]string{}
	for _, m := range all.Items {
		got[m.Name] = fmt.Sprint(m.Data)
	}
	delete(got, "kube-root-ca.crt")
	first, second := fmt.Sprint(map[string]string{"theirs": "x", "ours": w.text}), fmt.Sprint(map[string]string{"theirs": "x"})
	if w.second {
		second = first
	}
	return equal("ConfigMaps", got, map[string]string{w.name: fmt.Sprint(map[string]string{"text": w.text}), "first": first, "second": second})
}

func (s *site) secrets(w want) error {
	var all corev1.SecretList
	if err := cluster.Client.List(ctx, &all, client.InNamespace(s.namespace)); err != nil || w == (want{}) {
		return err
	}
	got := map[string]string{}
	for _, m := range all.Items {
		got[m.Name] = fmt.Sprintf("%s %d", m.Data["text"], len(m.Data["password"]))
	}
	return equal("Secrets", got, map[string]string{"a": w.text + " 20"})
}

func (s *site) roles(w want) error {
	var all rbacv1.ClusterRoleList
	if err := cluster.Client.List(ctx, &all); err != nil {
		return err
	}
	got, wanted := map[string]string{}, map[string]string{}
	for _, r := range all.Items {
		if strings.HasPrefix(r.Name, s.namespace) {
			got[r.Name] = strings.Join(r.Rules[0].ResourceNames, ",")
		}
	}
	if w != (want{}) {
		wanted[s.namespace+"-a"] = w.text
	}
	return equal("ClusterRoles", got, wanted)
}

func equal(what string, got, want map[string]string) error {
	if !maps.Equal(got, want) {
		return fmt.Errorf("the %s are %v, want %v", what, got, want)
	}
	return nil
}

// patched compares an object of somebody else with what it was, and with the
// fields that it is to have from the resource.
func (s *site) patched(w want, name, manager string) error {
	kind := map[bool]string{true: "Service", false: "ConfigMap"}[name == "third"]
	o, err := cluster.Get("v1", kind, s.namespace, name)
	if err != nil {
		return err
	}
	var ours []string
	for _, m := range o.GetManagedFields() {
		if strings.HasPrefix(m.Manager, api.FieldManager) {
			ours = append(ours, m.Manager)
		}
	}
	var wanted []string
	data, conditions := map[string]any{"theirs": "x"}, "[]"
	if w != (want{}) && (name != "second" || w.second) {
		wanted, conditions = []string{manager}, "[Ours "+w.text+"]"
		data["ours"] = w.text
	}
	if !slices.Equal(ours, wanted) {
		return fmt.Errorf("%s has fields of %v, want %v", name, ours, wanted)
	}
	if kind == "ConfigMap" && fmt.Sprint(o.Object["data"]) != fmt.Sprint(data) {
		return fmt.Errorf("%s says %v, want %v", name, o.Object["data"], data)
	}
	if kind == "Service" && conditionsOf(o) != conditions {
		return fmt.Errorf("%s says %s, want %s", name, conditionsOf(o), conditions)
	}
	if len(o.GetAnnotations()) > 0 || fmt.Sprint(o.GetLabels()) != "map[a:b]" || len(o.GetOwnerReferences()) > 0 {
		return fmt.Errorf("%s has other metadata than before: %v", name, o.Object["metadata"])
	}
	return nil
}

func conditionsOf(o *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var said []string
	for _, item := range all {
		c := item.(map[string]any)
		said = append(said, fmt.Sprintf("%s %s", c["type"], c["reason"]))
	}
	return fmt.Sprint(said)
}

// left says what is left of a resource that is gone, for the garbage collector.
func (s *site) left() error {
	for _, kind := range []string{"ConfigMap", "Secret"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := cluster.Client.List(ctx, list, client.InNamespace(s.namespace), client.HasLabels{api.LabelOwnerUID}); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%s %s is left", kind, list.Items[0].Name)
		}
	}
	return nil
}
