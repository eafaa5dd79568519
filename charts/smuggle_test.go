package main

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// smuggled are documents in the text of a kind that are not of the kind, and what
// the refusal says.
var smuggled = map[string]string{
	"{apiVersion: v1, kind: Pod, metadata: {name: a}}":                                                                                                                                      "Pod a is none of what",
	"{apiVersion: apps/v1, kind: ConfigMap, metadata: {name: jacquard-NAME, labels: {jacquard.dev/kind: NAME}}}":                                                                            "ConfigMap jacquard-NAME",
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: jacquard-NAME, labels: {jacquard.dev/kind: others.example.com}}}":                                                                   "it holds no folder of this kind",
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, labels: {jacquard.dev/kind: NAME}}}":                                                                              "it holds no folder of this kind",
	"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: others.example.com}}":                                                                           "it defines another kind",
	"{apiVersion: RBAC, kind: ClusterRoleBinding, metadata: {name: \"jacquard:NAME\"}}":                                                                                                     "ClusterRoleBinding jacquard:NAME is none of what",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: admin}}":                                                                                                                        "it is not called jacquard:NAME",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:others.example.com\"}}":                                                                                              "it is not called jacquard:NAME",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME\"}, rules: [{apiGroups: [\"*\"], resources: [pods], verbs: [get]}]}":                                            "a rule has wildcards",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME\"}, rules: [{nonResourceURLs: [/logs], verbs: [get]}]}":                                                         "a rule has wildcards, or is about URLs",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME\"}, rules: [{apiGroups: [\"\"], resources: [users], verbs: [impersonate]}]}":                                    "gives further rights without naming them",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME\"}, aggregationRule: {clusterRoleSelectors: [{}]}}":                                                             "it takes up other roles",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME\", labels: {rbac.authorization.k8s.io/aggregate-to-view: \"true\"}}}":                                           "label rbac.authorization.k8s.io/aggregate-to-view",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME:view\", labels: {jacquard.dev/aggregate-to: another}}}":                                                         "label jacquard.dev/aggregate-to",
	"{apiVersion: RBAC, kind: ClusterRole, metadata: {name: \"jacquard:NAME:view\"}, rules: [{apiGroups: [\"\"], resources: [secrets], verbs: [get]}]}":                                     "people get rights on more than the kind",
	"{apiVersion: RBAC, kind: RoleBinding, metadata: {name: \"jacquard:NAME\"}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: a}]}":            "binds more than",
	"{apiVersion: RBAC, kind: RoleBinding, metadata: {name: \"jacquard:NAME\"}, roleRef: {kind: Role, name: \"jacquard:NAME\"}, subjects: [{kind: Group, name: \"system:authenticated\"}]}": "binds more than",
}

// TestNothingSmuggled: the text of a kind of one's own brings that kind and
// nothing else.
func TestNothingSmuggled(t *testing.T) {
	t.Parallel()
	name := shipped(t)[0]
	packed := string(read(t, dir+"/files/kinds/"+name+".yaml"))
	fill := strings.NewReplacer("NAME", name, "RBAC", "rbac.authorization.k8s.io/v1")
	for text, want := range smuggled {
		text, want = fill.Replace(text), fill.Replace(want)
		if err := yaml.UnmarshalStrict([]byte(text), &map[string]any{}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, err := render(release{name: "jacquard", namespace: "jacquard", values: ofText(name, packed+"---\n"+text+"\n")})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kinds.custom."+name) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestLinesOfOthers: a text is parted as kubectl parts it, with the line breaks
// of Windows too, so that no document is left out.
func TestLinesOfOthers(t *testing.T) {
	t.Parallel()
	name := shipped(t)[0]
	packed := string(read(t, dir+"/files/kinds/"+name+".yaml"))
	want := titles(rendered(t, ofText(name, packed)))
	for what, text := range map[string]string{
		"CRLF": strings.ReplaceAll(packed, "\n", "\r\n"), "comments": strings.ReplaceAll(packed, "\n---\n", "\n--- # next\n"),
	} {
		if got := titles(rendered(t, ofText(name, text))); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
}

// ofText are values with one kind, given as a text.
func ofText(name, text string) map[string]any {
	return map[string]any{"kinds": map[string]any{"enabled": []any{}, "custom": map[string]any{name: text}}}
}
