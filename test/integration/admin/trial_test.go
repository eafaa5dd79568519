package admin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// trialFiles are a kind whose second file waits for an object that a case has in its
// cluster, and its cases.
var trialFiles = map[string]string{
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}}
data: {text: {{ .spec.text | quote }}, where: {{ .metadata.uid }}}
`,
	"copy.yaml": `{{- $given := lookup "v1" "ConfigMap" .metadata.namespace "given" }}
{{- if not $given }}{{ wait "given is absent" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-copy}
data: {text: {{ $given.data.text }}}
`,
	"mark.yaml": `{{- if lookup "v1" "ConfigMap" .metadata.namespace "given" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: given, annotations: {jacquard.dev/ownership: patch, seen: "yes"}}
{{- end }}
`,
	"tests/steps/1-cr.yaml":          "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: one}}",
	"tests/steps/1-want-waits.txt":   "copy.yaml waits: given is absent\n",
	"tests/steps/1-want.yaml":        wantedMap("a", "text: one, where: 00000000-0000-4000-8000-000000000000"),
	"tests/steps/2-cluster.yaml":     wantedMap("given", "text: x"),
	"tests/steps/2-want.yaml":        wantedMap("a-copy", "text: x") + "---\n" + wantedMap("a", "text: one, where: 00000000-0000-4000-8000-000000000000") + wantedMark,
	"tests/steps/3-cr.yaml":          "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: two}}",
	"tests/steps/3-want.yaml":        wantedMap("a-copy", "text: x") + "---\n" + wantedMap("a", "text: two, where: 00000000-0000-4000-8000-000000000000") + wantedMark,
	"tests/wrong/cr.yaml":            "{apiVersion: GROUP/v1, kind: Web, metadata: {name: b}, spec: {text: two}}",
	"tests/wrong/cluster.yaml":       wantedMap("given", "text: x"),
	"tests/wrong/want.yaml":          wantedMap("b-copy", "text: other") + "---\n" + wantedMap("b", "text: two"),
	"tests/cluster-scoped/cr.yaml":   "{apiVersion: GROUP/v1, kind: Web, metadata: {name: c}, spec: {text: two}}",
	"tests/cluster-scoped/want.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: c}}\n",
}

const wantedMark = `---
{apiVersion: v1, kind: ConfigMap, metadata: {name: given, namespace: default, annotations: {jacquard.dev/ownership: patch, seen: "yes"}}}
`

func wantedMap(name, data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: default}, data: {" + data + "}}\n"
}

// TestCasesOnCluster: golden cases run against the operator of a cluster, and leave
// nothing.
func TestCasesOnCluster(t *testing.T) {
	t.Parallel()
	s := lay(t, trialFiles)
	kit.Write(t, s.root, map[string]string{"crds/" + s.name() + ".yaml": s.fill(kit.WebCRD)})
	offline := s.runs(0, "test", "--run", "/steps", "--root", s.root)
	if !strings.Contains(offline, "3 cases, 0 failed") {
		t.Error(offline)
	}
	s.start(nil)

	a := s.as("admin", "test", "--live", "--root", s.root, "--run", "/steps/2", "--timeout", "60s")
	if a.code != 0 || !strings.Contains(a.all(), "ok   "+s.name()+"/steps/3\n3 cases, 0 failed") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	a = s.as("admin", "test", "--live", "--root", s.root, "--run", "/wrong|/cluster-scoped", "--timeout", "3s")
	for _, part := range []string{
		"after 3s: ConfigMap b-copy is not as it is wanted: data.text", "2 cases, 1 failed, 1 skipped",
		"Namespace c is not in a namespace: a case on a cluster stays in its own",
	} {
		if a.code != 1 || !strings.Contains(a.all(), part) {
			t.Errorf("exit %d, want %q: %s", a.code, part, a.all())
		}
	}
	kit.Eventually(t, "no namespace of a case is left", func() error {
		var left corev1.NamespaceList
		if err := cluster.Client.List(context.Background(), &left); err != nil {
			return err
		}
		for _, n := range left.Items {
			if strings.HasPrefix(n.Name, "jacquard-test-") {
				return fmt.Errorf("there is %s", n.Name)
			}
		}
		return nil
	})
}

// TestCasesWithoutCRD: a CRD that is not there is named, or applied by a flag.
func TestCasesWithoutCRD(t *testing.T) {
	t.Parallel()
	s := lay(t, trialFiles)
	group := "trial." + s.group
	root := t.TempDir()
	files := map[string]string{"crds/webs." + group + ".yaml": strings.ReplaceAll(kit.WebCRD, "GROUP", group)}
	for name, text := range trialFiles {
		files["templates/webs."+group+"/"+name] = strings.ReplaceAll(text, "GROUP", group)
	}
	kit.Write(t, root, files)
	a := s.as("admin", "test", "--live", "--root", root, "--run", "/steps", "--timeout", "30s")
	want := "webs." + group + ": the cluster does not serve it: run kubectl apply --server-side -f " + filepath.Join("crds", "webs."+group+".yaml")
	if a.code != 1 || !strings.Contains(a.all(), want) {
		t.Errorf("exit %d, want %q: %s", a.code, want, a.all())
	}
	cluster.Run(t, func(o *controller.Options) { o.Identity = group }, root)
	a = s.as("admin", "test", "--live", "--install-crds", "--root", root, "--run", "/steps", "--timeout", "60s")
	if a.code != 0 {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
}

// runs runs a command that needs no cluster.
func (s *site) runs(code int, args ...string) string {
	s.Helper()
	var out strings.Builder
	if got := cli.Main(args, strings.NewReader(""), &out, &out); got != code {
		s.Errorf("%v: exit %d, want %d: %s", args, got, code, out.String())
	}
	return out.String()
}
