package kind

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const start = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n"

// clusterDefinition defines a cluster-scoped kind.
var clusterDefinition = strings.Replace(definition, "scope: Namespaced", "scope: Cluster", 1)

func TestSettings(t *testing.T) {
	const retired = start + "retired:\n- {apiVersion: v1, kind: "
	const child = start + "children:\n- {apiVersion: v1, kind: ConfigMap, "
	for text, want := range map[string]string{
		start + "version: v1\nallowEmpty: true\nresyncInterval: 90s\n": "",
		start + "lookAgain: 90s\n":                                     "kind.yaml:3:1: lookAgain is called resyncInterval now",
		start + "deleteOrder: [a]\n":                                   "kind.yaml:3:1: deleteOrder is called deletionOrder now",
		start + "podReasons: true\n":                                   "kind.yaml:3:1: podReasons is called reportPodReasons now",
		"# nothing\n":                                                  "",
		start + "allowempty: true\n":                                   "kind.yaml:3:1: unknown field allowempty; did you mean allowEmpty?",
		start +
			"more: true\n": "kind.yaml:3:1: unknown field more; there are allowEmpty, apiVersion, children, deletionOrder, healthCheckExprs, kind, reads, reportPodReasons, resyncInterval, retired, rollout, serviceAccountName, version",
		start + "allowEmpty: 'yes'\n":          "kind.yaml:3:13: allowEmpty must be true or false",
		start + "resyncInterval: 10\n":         "kind.yaml:3:17: resyncInterval must be a duration, such as 10m or 90s",
		start + "resyncInterval: 1s\n":         "kind.yaml:3:17: resyncInterval must be at least 5s",
		start + "resyncInterval: [1]\n":        "kind.yaml:3:17: resyncInterval must be a duration, such as 10m or 90s",
		start + "version: 1\n":                 "kind.yaml:3:10: version must be a text: write it in quotes",
		start + "version: v2\n":                "kind.yaml:3:10: finding version v2 of apps.example.com: there is no such version (served: v1)",
		"{{ if }}\n":                           "kind.yaml:1:2: a key must be a text, not a map or list: this file is no template, so {{ … }} means nothing in it",
		start + "kind: KindSettings\n":         "kind.yaml:3:1: kind occurs twice: it stands at kind.yaml:2:7 already",
		"apiVersion: v1\nkind: KindSettings\n": "kind.yaml:1:13: apiVersion must be jacquard.dev/v1alpha1",
		"- a\n":                                "kind.yaml:1:1: it must be a map of fields",
		start + "a: [":                         "kind.yaml:3:1: did not find expected node content",
		start + "---\na: b\n":                  "kind.yaml:3:1: it must be one document",
		child + "namespaces: own}\n":           "",
		child + "namespaces: rendered}\n":      "kind.yaml:4:49: the folder makes no Namespace, so none is rendered",
		child + "namespaces: rendered}\n- {apiVersion: v1, kind: Namespace}\n": "",
		child + "namespaces: [a, b-c]}\n":                                      "",
		child +
			"namespaces: []}\n": "kind.yaml:4:49: children[0].namespaces must be own, rendered or a list of names",
		child +
			"namespaces: other}\n": "kind.yaml:4:49: children[0].namespaces must be own, rendered or a list of names",
		child +
			"namespaces: [A]}\n": "kind.yaml:4:50: this is no name of a namespace: lower case letters, digits and -",
		child +
			"namespace: own}\n": "kind.yaml:4:37: unknown field children[0].namespace; did you mean namespaces?",
		child +
			"kind: A}\n": "kind.yaml:4:37: children[0].kind occurs twice: it stands at kind.yaml:4:26 already",
		start + "children: {}\n": "kind.yaml:3:11: children must be a list",
		start +
			"children: [a]\n": "kind.yaml:3:12: children[0] must be a map of fields",
		start + "children: [{kind: A}]\n":        "kind.yaml:3:12: children[0] needs apiVersion",
		start + "children: [{apiVersion: v1}]\n": "kind.yaml:3:12: children[0] needs kind",
		start +
			"children: [{apiVersion: a/b/c, kind: A}]\n": "kind.yaml:3:25: a/b/c is no apiVersion: write group/version",
		start +
			"children: [{apiVersion: v1, kind: Deployment}]\n": "kind.yaml:3:35: Deployment is in apps/v1, not in v1",
		start +
			"children: [{apiVersion: example.com/v1, kind: App}]\n": "kind.yaml:3:12: a folder may not create its own kind App",
		start +
			"children: [{apiVersion: v1, kind: List}]\n": "kind.yaml:3:12: a List is not allowed: name the kind of its items",
		start +
			"children: [{apiVersion: v1, kind: Node, namespaces: own}]\n": "kind.yaml:3:53: Node is cluster-scoped: it has no namespaces",
		start +
			"children: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Pod}]\n": "kind.yaml:3:41: children[1] declares Pod as children[0] does: make them one",
		start + "children: [{apiVersion: v1, kind: Namespace}]\n":                          "",
		start + "reads: [{apiVersion: v1, kind: Secret, namespaces: [a], names: [b.c]}]\n": "",
		start + "reads: [{apiVersion: v1, kind: Node}, {apiVersion: x.io/v1, kind: Y}]\n":  "",
		start +
			"reads: [{apiVersion: v1, kind: Secret}]\n": "kind.yaml:3:9: reads[0] must say in which namespaces: add namespaces: [NAME]",
		start +
			"reads: [{apiVersion: v1, kind: Node, namespaces: [a]}]\n": "kind.yaml:3:50: Node is cluster-scoped: it has no namespaces",
		start + "reads: [{apiVersion: v1, kind: Secret, namespaces: [a], names: [\"\"]}]\n": "kind.yaml:3:65: this is no name",
		retired + "Secret}\n":                                     "",
		retired + "ResourceQuota, namespaces: rendered}\n":        "",
		retired + "Namespace}\n":                                  "",
		retired + "ConfigMap, ownership: patch}\n":                "",
		retired + "Pod, ownership: patch, subresource: status}\n": "",
		retired +
			"ConfigMap}\n": "kind.yaml:4:3: the folder still makes ConfigMap, at a.yaml:1:1: take retired[0] away",
		retired +
			"Secret}\n- {apiVersion: v1, kind: Secret}\n": "kind.yaml:5:3: retired[1] names Secret as retired[0] does: make them one",
		retired + "Pod}\n- {apiVersion: v1, kind: Pod, ownership: patch}\n": "",
		retired + "App}\n":                   "",
		retired + "List}\n":                  "kind.yaml:4:3: a List is not allowed: name the kind of its items",
		retired + "Node, namespaces: own}\n": "kind.yaml:4:44: Node is cluster-scoped: it has no namespaces",
		retired +
			"Secret, namespaces: [A]}\n": "kind.yaml:4:47: this is no name of a namespace: lower case letters, digits and -",
		retired + "Secret, ownership: patched}\n": "kind.yaml:4:45: retired[0].ownership can only be patch",
		retired +
			"Secret, subresource: status}\n": "kind.yaml:4:47: retired[0].subresource says what was patched: add ownership: patch",
		retired +
			"Secret, namespace: a}\n": "kind.yaml:4:34: unknown field retired[0].namespace; did you mean namespaces?",
		start + "retired: [{kind: A}]\n":                               "kind.yaml:3:11: retired[0] needs apiVersion",
		start + "retired: [{apiVersion: v1, kind: Deployment}]\n":      "kind.yaml:3:34: Deployment is in apps/v1, not in v1",
		start + "retired: [{apiVersion: example.com/v1, kind: App}]\n": "kind.yaml:3:11: a folder may not create its own kind App",
		start + "serviceAccountName: apps\n":                           "",
		start +
			"serviceAccountName: Apps\n": "kind.yaml:3:21: serviceAccountName must be the name of a service account",
		start + "shardBy: uid\n":                                   "",
		start + "deletionOrder: [a, b]\n":                          "",
		start + "deletionOrder: [a, c]\n":                          "kind.yaml:3:20: the folder has no file c.yaml; did you mean a?",
		start + "deletionOrder: [a, b, a]\n":                       "kind.yaml:3:23: a is named twice",
		start + "rollout: {waves: [], progressDeadline: 1m}\n":     "",
		start + "rollout: {waves: [\"1\", \"10\", 5%, 100%]}\n":    "",
		start + "rollout: {waves: [1]}\n":                          "kind.yaml:3:19: rollout.waves[0] must be a text: write it in quotes",
		start + "rollout: {minReadySeconds: 30, maxFailures: 0}\n": "",
		start + "rollout: {waves: [{size: 5%, minReadySeconds: 60, pause: true}, {matchLabels: {env: dev}, pause: true}]}\n": "",
		start + "rollout: {minReadySeconds: 30s}\n":   "kind.yaml:3:28: rollout.minReadySeconds must be a whole number from 0 to 2147483647",
		start + "rollout: {maxFailures: -1}\n":        "kind.yaml:3:24: rollout.maxFailures must be a whole number from 0 to 2147483647",
		start + "rollout: {onFailure: rollback}\n":    "",
		start + "rollout: {onFailure: stop}\n":        "",
		start + "rollout: {onFailure: back}\n":        "kind.yaml:3:22: rollout.onFailure must be stop or rollback",
		start + "rollout: {waves: [{pause: true}]}\n": "kind.yaml:3:19: rollout.waves[0] must be a number of resources, such as \"1\", or per cent of them, such as \"5%\", or have size, matchLabels or namespaceMatchLabels",
		start + "rollout: {waves: [{namespaceMatchLabels: {env: dev}}, {matchLabels: {a: b}, namespaceMatchLabels: {env: dev}}]}\n": "",
		start + "rollout: {waves: [{namespaceMatchLabels: {}}]}\n":                                                                  "kind.yaml:3:42: rollout.waves[0].namespaceMatchLabels is empty, and would select all resources",

		start + "rollout: {waves: [{size: \"1\", matchLabels: {a: b}}]}\n": "kind.yaml:3:26: rollout.waves[0].size: a wave has a size or selects by labels, not both",
		start + "rollout: {waves: [{matchLabels: {}}]}\n":                  "kind.yaml:3:33: rollout.waves[0].matchLabels is empty, and would select all resources",
		start + "rollout: {waves: [{matchLabels: {a: 1}}]}\n":              "kind.yaml:3:37: rollout.waves[0].matchLabels.a must be a text: write it in quotes",
		start + "rollout: {waves: [{matchLabels: {a: b c}}]}\n":            "kind.yaml:3:37: rollout.waves[0].matchLabels.a: b c is no value of a label",
		start + "rollout: {waves: [{matchLabels: {a b: c}}]}\n":            "kind.yaml:3:39: rollout.waves[0].matchLabels: \"a b\" is no key of a label",
		start + "rollout: {waves: [{matchLabels: {a: b, a: c}}]}\n":        "kind.yaml:3:40: rollout.waves[0].matchLabels.a occurs twice",
		start + "rollout: {waves: [{matchLabels: [a]}]}\n":                 "kind.yaml:3:33: rollout.waves[0].matchLabels must be a map",
		start + "rollout: {waves: [{labels: {a: b}}]}\n":                   "kind.yaml:3:20: unknown field rollout.waves[0].labels; there are matchLabels, minReadySeconds, namespaceMatchLabels, pause, size",
		start +
			"rollout: {waves: [\"0\"]}\n": "kind.yaml:3:19: rollout.waves[0] must be a number of resources, such as \"1\", or per cent of them, such as \"5%\", or have size, matchLabels or namespaceMatchLabels",
		start + "rollout: {waves: [101%]}\n":        "kind.yaml:3:19: rollout.waves[0] is more than all resources",
		start + "rollout: {waves: [5%, 5%]}\n":      "kind.yaml:3:23: rollout.waves[1] is not larger than the wave before it",
		start + "rollout: {progressDeadline: 4s}\n": "kind.yaml:3:29: rollout.progressDeadline must be at least 5s",
		start + "rollout: {wave: []}\n":             "kind.yaml:3:11: unknown field rollout.wave; did you mean waves?",
	} {
		t.Run(text, func(t *testing.T) {
			files := map[string]string{"kind.yaml": text, "a.yaml": head, "b.yaml": head}
			if want == "" {
				refuses(t, files)
				return
			}
			refuses(t, files, want)
		})
	}
}

// TestClusterScopedOwner: a cluster-scoped resource has no namespace of its own.
func TestClusterScopedOwner(t *testing.T) {
	rule := start + "children: [{apiVersion: v1, kind: ConfigMap, namespaces: rendered}, {apiVersion: v1, kind: Namespace}]\n"
	for text, want := range map[string]string{
		rule: "",
		start +
			"children: [{apiVersion: v1, kind: ConfigMap}]\n": "kind.yaml:3:12: App is cluster-scoped and has no namespace for ConfigMap: add namespaces: rendered, or a list of names\n" +
			"a.yaml:2:1: App is cluster-scoped and so has no namespace for ConfigMap: write in kind.yaml, under children: - {apiVersion: v1, kind: ConfigMap, namespaces: rendered} (or a list of names)",
		start:                               "a.yaml:2:1: App is cluster-scoped and so has no namespace for ConfigMap: write in kind.yaml, under children: - {apiVersion: v1, kind: ConfigMap, namespaces: rendered} (or a list of names)",
		rule + "serviceAccountName: apps\n": "kind.yaml:4:21: serviceAccountName is an account of the resource's namespace, and App is cluster-scoped",
	} {
		_, err := compileFor(t, clusterDefinition, map[string]string{"kind.yaml": text, "a.yaml": head})
		if want == "" {
			saysLines(t, err)
			continue
		}
		saysLines(t, err, strings.Split(want, "\n")...)
	}
}

func TestSettingsAsRead(t *testing.T) {
	minutes := metav1.Duration{Duration: 10 * time.Minute}
	base := Settings{APIVersion: settingsVersion, Kind: settingsKind, ResyncInterval: minutes,
		Rollout: Rollout{Waves: Sizes("1", "5%", "25%"), ProgressDeadline: minutes}}
	if diff := cmp.Diff(base, compile(t, map[string]string{"a.yaml": head}).Settings); diff != "" {
		t.Error(diff)
	}
	text := start + `version: v1
children:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: v1, kind: ResourceQuota, namespaces: rendered}
- {apiVersion: v1, kind: Secret, namespaces: [a]}
reads:
- {apiVersion: v1, kind: Secret, namespaces: [platform], names: [pull-secret]}
serviceAccountName: apps
deletionOrder: [a]
rollout: {waves: []}
allowEmpty: true
resyncInterval: 1m
`
	want := base
	want.Version, want.ServiceAccountName, want.DeletionOrder, want.AllowEmpty = "v1", "apps", []string{"a"}, true
	want.ResyncInterval.Duration, want.Rollout.Waves = time.Minute, []Wave{}
	want.Children = []ChildRule{
		{APIVersion: "v1", Kind: "Namespace"},
		{APIVersion: "v1", Kind: "ResourceQuota", Namespaces: Namespaces{Rendered: true}},
		{APIVersion: "v1", Kind: "Secret", Namespaces: Namespaces{Listed: []string{"a"}}},
	}
	want.Reads = []ReadRule{{APIVersion: "v1", Kind: "Secret", Namespaces: []string{"platform"}, Names: []string{"pull-secret"}}}
	k := compile(t, map[string]string{"a.yaml": head, "kind.yaml": text})
	if diff := cmp.Diff(want, k.Settings); diff != "" {
		t.Error(diff)
	}
	var children []string
	for _, c := range k.Children {
		children = append(children, c.Kind+" "+c.Place.String())
	}
	wantChildren := []string{"ConfigMap a.yaml:1:1", "Namespace kind.yaml:5:3", "ResourceQuota kind.yaml:6:3", "Secret kind.yaml:7:3"}
	if diff := cmp.Diff(wantChildren, children); diff != "" {
		t.Error(diff)
	}
}
