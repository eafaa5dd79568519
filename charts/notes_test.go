package main

import (
	"strings"
	"testing"
)

// TestNotes: what Helm prints after an install names this release, and says what
// an uninstall would do.
func TestNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"kinds: {enabled: [apps.app.huolala.cn]}": {"installed in namespace elsewhere as other-jacquard", "apps.app.huolala.cn",
			"pack NAME --installation elsewhere/other-jacquard", "jacquard eject --all", "--include roles,users,folder | kubectl delete",
			"--clusterrole=other-jacquard:metrics-reader", "leaves the CRDs", "docs/operations/README.md"},
		"{}": {"serves no kind yet"},
		"kinds: {enabled: [], custom: {a.b: \"{}\"}}": {"\n  a.b\n"},
		"crds: {keep: false}":                         {"DELETES THE CRDS"},
		"readOnly: true":                              {"It is read-only"},
		"{crds: {enabled: false}, rbac: {userRoles: false}}": {"--installation elsewhere/other-jacquard --include folder,roles | kubectl delete",
			"--include roles,folder | kubectl delete"},
		"rbac: {create: false}":                       {"rbac --check --service-account elsewhere/other-jacquard"},
		"{rbac: {namespaced: true}, namespaces: [a]}": {"Its rights hold in: a."},
	} {
		out, err := renderTexts(release{name: "other", namespace: "elsewhere", values: values(t, text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if said := out["jacquard/templates/"+notes]; !strings.Contains(said, part) {
				t.Errorf("%s: the notes say nothing of %q:\n%s", text, part, said)
			}
		}
	}
}
