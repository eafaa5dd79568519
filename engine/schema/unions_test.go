package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// TestExcluded: which fields an object excludes by what it has.
func TestExcluded(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, spec: %s}"
	for text, want := range map[string]string{
		"{apiVersion: apps/v1, kind: Deployment, spec: {strategy: {type: Recreate}}}":                                                 "spec.strategy.rollingUpdate where type is Recreate",
		"{apiVersion: apps/v1, kind: Deployment, spec: {strategy: {type: RollingUpdate}}}":                                            "",
		"{apiVersion: apps/v1, kind: Deployment, spec: {}}":                                                                           "",
		"{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: OnDelete}}}":                                            "spec.updateStrategy.rollingUpdate where type is OnDelete, kept",
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}":                                                 "spec.maxUnavailable beside minAvailable",
		fmt.Sprintf(pod, "{containers: [{name: a, env: [{name: A, value: ''}]}]}"):                                                    "",
		fmt.Sprintf(pod, "{containers: [{name: a, env: [{name: A, value: x}]}]}"):                                                     "spec.containers[0].env[0].valueFrom beside value",
		fmt.Sprintf(pod, "{containers: [{name: a, lifecycle: {preStop: {sleep: {seconds: 1}}}}]}"):                                    "spec.containers[0].lifecycle.preStop.exec beside sleep; spec.containers[0].lifecycle.preStop.httpGet beside sleep; spec.containers[0].lifecycle.preStop.tcpSocket beside sleep",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {egress: [{}]}}":                                               "spec.policyTypes since it follows from others, kept",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {policyTypes: [Egress]}}":                                      "",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {policyTypes: [Egress], egress: [{to: [{podSelector: {}}]}]}}": "spec.egress[0].to[0].ipBlock beside podSelector",
		"{apiVersion: example.com/v1, kind: Any, spec: {}}":                                                                           "",
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		gvk := apischema.FromAPIVersionAndKind(object["apiVersion"].(string), object["kind"].(string))
		var got []string
		for _, x := range BuiltInType(gvk).Excluded(object) {
			line := shownPath(x.Path) + " " + x.Why
			if x.IsKept {
				line += ", kept"
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: got %q, want %q", text, strings.Join(got, "; "), want)
		}
	}
}

func shownPath(path []any) string {
	text := ""
	for _, step := range path {
		if i, is := step.(int); is {
			text += fmt.Sprintf("[%d]", i)
		} else {
			text = strings.TrimPrefix(fmt.Sprintf("%s.%v", text, step), ".")
		}
	}
	return text
}

// TestUnionsName: every union names fields that its Go type has.
func TestUnionsName(t *testing.T) {
	seen := map[string]bool{}
	for gv, kinds := range BuiltIns() {
		for _, kind := range kinds {
			BuiltInType(apischema.FromAPIVersionAndKind(gv, kind))
		}
	}
	BuiltInType(apischema.FromAPIVersionAndKind("apiextensions.k8s.io/v1", "CustomResourceDefinition"))
	structs.Range(func(in, of any) bool {
		name := markName(in.(reflect.Type))
		typ := of.(*Type)
		for _, u := range unions[name] {
			seen[name] = true
			fields := slices.Concat(slices.Collect(maps.Keys(u.with)), slices.Concat(u.alternatives...))
			if u.by != "" {
				fields = append(fields, u.by)
			}
			for _, field := range fields {
				if typ.fields[field] == nil {
					t.Errorf("%s has no field %s", name, field)
				}
			}
		}
		return true
	})
	for name := range unions {
		if !seen[name] {
			t.Errorf("no kind has the type %s", name)
		}
	}
}
