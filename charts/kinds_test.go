package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// TestEveryKindIsIn: the chart has the kinds of the repository.
func TestEveryKindIsIn(t *testing.T) {
	t.Parallel()
	var want []string
	for name := range loaded(t).Kinds {
		want = append(want, name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, shipped(t)); diff != "" {
		t.Errorf("files/kinds differs from templates/ (run make chart): (-templates +chart)\n%s", diff)
	}
}

// TestKindsFollowTheList: what there is of kinds is exactly that of the list.
func TestKindsFollowTheList(t *testing.T) {
	t.Parallel()
	lists := [][]string{{}, shipped(t)}
	for _, name := range shipped(t) {
		lists = append(lists, []string{name})
	}
	for _, list := range lists {
		objects := rendered(t, map[string]any{"kinds": map[string]any{"enabled": anys(list)}})
		if diff := cmp.Diff(list, kindsOf(objects), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("kinds.enabled is %v (-list +objects):\n%s", list, diff)
		}
	}
}

// TestDefaultKinds: by default no kind is on, and among the samples is none that
// reaches into the Pods of others.
func TestDefaultKinds(t *testing.T) {
	t.Parallel()
	if got := kindsOf(rendered(t, nil)); len(got) > 0 {
		t.Errorf("these kinds are on by default, and whoever may edit anywhere may use the rights of the operator for them: %v", got)
	}
	want := slices.DeleteFunc(shipped(t), func(name string) bool { return strings.HasPrefix(name, "prometheusjmxexporters.") })
	if diff := cmp.Diff(want, kindsOf(rendered(t, samples(t)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// kindsOf are the kinds that have CRD, folder, rights and roles of people; a kind
// that has only some of these is named with what it has.
func kindsOf(objects []*unstructured.Unstructured) []string {
	has := map[string][]string{}
	note := func(name, what string) {
		if !slices.Contains(has[name], what) {
			has[name] = append(has[name], what)
		}
	}
	for _, o := range objects {
		name, _, ofKind := strings.Cut(strings.TrimPrefix(o.GetName(), "jacquard:"), ":")
		switch {
		case o.GetKind() == "CustomResourceDefinition":
			note(o.GetName(), "CRD")
		case o.GetKind() == "ConfigMap" && o.GetLabels()[api.LabelKind] != "":
			note(o.GetLabels()[api.LabelKind], "folder")
		case o.GetKind() == "ClusterRole" && strings.Contains(name, "."):
			note(name, map[bool]string{true: "roles of people", false: "rights"}[ofKind && o.GetLabels()["jacquard.dev/aggregate-to"] == ""])
		}
	}
	var names []string
	for name, parts := range has {
		if len(parts) != 4 {
			name = fmt.Sprint(name, " has only ", parts)
		}
		names = append(names, name)
	}
	return sorted(names)
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}

func anys(list []string) []any {
	all := []any{}
	for _, s := range list {
		all = append(all, s)
	}
	return all
}

// TestCustomKinds: a kind of one's own is what was packed, in this release.
func TestCustomKinds(t *testing.T) {
	t.Parallel()
	name := shipped(t)[0]
	packed := string(read(t, dir+"/files/kinds/"+name+".yaml"))
	enabled := rendered(t, map[string]any{"kinds": map[string]any{"enabled": []any{name}}})
	custom := rendered(t, map[string]any{"kinds": map[string]any{"enabled": []any{}, "custom": map[string]any{name: packed}}})
	if diff := cmp.Diff(enabled, custom); diff != "" {
		t.Errorf("a custom kind differs from a shipped one (-shipped +custom):\n%s", diff)
	}
}

// ofPeople matches the names of the roles of people, which are the same in all
// installations.
var ofPeople = regexp.MustCompile(`^jacquard:[^:]+:(view|edit|admin)$`)

// TestAnotherRelease: names and labels of one installation are nobody else's,
// but for CRDs and the roles of people.
func TestAnotherRelease(t *testing.T) {
	t.Parallel()
	objects, err := render(release{name: "other", namespace: "elsewhere",
		values: values(t, "{metrics: {serviceMonitor: {enabled: true}}, kinds: {enabled: [apps.app.huolala.cn]}}")})
	if err != nil {
		t.Fatal(err)
	}
	mine := titles(rendered(t, samples(t)))
	for _, o := range objects {
		if o.GetNamespace() != "" && o.GetNamespace() != "elsewhere" {
			t.Errorf("%s: is in another namespace than the release", title(o))
		}
		if o.GetKind() != "CustomResourceDefinition" && !ofPeople.MatchString(o.GetName()) && slices.Contains(mine, title(o)) {
			t.Errorf("%s: is another release's too", title(o))
		}
		if to := o.GetLabels()["jacquard.dev/aggregate-to"]; to != "" && to != "other-jacquard" && to != "other-jacquard-cluster" {
			t.Errorf("%s: gives its rights to %s", title(o), to)
		}
	}
}

// TestSwitches: CRDs and rights can be left to somebody else.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for text, gone := range map[string][]string{
		"{crds: {enabled: false}, kinds: {enabled: [apps.app.huolala.cn]}}": {"CustomResourceDefinition"},
		"rbac: {create: false, userRoles: false}":                           {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
		"rbac: {create: false}":                                             {"ClusterRoleBinding", "Role", "RoleBinding"},
		"serviceAccount: {create: false}":                                   {"ServiceAccount"},
		"metrics: {enabled: false}":                                         {"Service"},
		"podDisruptionBudget: {enabled: false}":                             {"PodDisruptionBudget"},
		"{replicaCount: 1}": {"PodDisruptionBudget", "NetworkPolicy", "ServiceMonitor",
			"PrometheusRule"},
		"{crds: {enabled: false}, kinds: {enabled: []}}": {"CustomResourceDefinition", "ConfigMap"},
	} {
		objects := rendered(t, values(t, text))
		for _, kind := range gone {
			for _, o := range ofKind(objects, kind) {
				t.Errorf("%s: there is %s", text, title(o))
			}
		}
	}
	for _, o := range ofKind(rendered(t, values(t, "{crds: {keep: false}, kinds: {enabled: [apps.app.huolala.cn]}}")),
		"CustomResourceDefinition") {
		if o.GetAnnotations()["helm.sh/resource-policy"] != "" {
			t.Errorf("%s is kept", title(o))
		}
	}
	for _, o := range ofKind(rendered(t, samples(t)), "CustomResourceDefinition") {
		if o.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s is not kept", title(o))
		}
	}
}
