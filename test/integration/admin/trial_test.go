package admin

import (
	"context"
	"fmt"
	"maps"
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
	"tests/steps/1-resource.yaml":    "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: one}}",
	"tests/steps/1-want-waiting.txt": "copy.yaml waits: given is absent\n",
	"tests/steps/1-want.yaml":        wantedMap("a", "text: one, where: 00000000-0000-4000-8000-000000000000"),
	"tests/steps/2-cluster.yaml":     wantedMap("given", "text: x"),
	"tests/steps/2-want.yaml":        wantedMap("a-copy", "text: x") + "---\n" + wantedMap("a", "text: one, where: 00000000-0000-4000-8000-000000000000") + wantedMark,
	"tests/steps/3-resource.yaml":    "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: two}}",
	"tests/steps/3-want.yaml":        wantedMap("a-copy", "text: x") + "---\n" + wantedMap("a", "text: two, where: 00000000-0000-4000-8000-000000000000") + wantedMark,
	"tests/wrong/resource.yaml":      "{apiVersion: GROUP/v1, kind: Web, metadata: {name: b}, spec: {text: two}}",
	"tests/wrong/cluster.yaml":       wantedMap("given", "text: x"),
	"tests/wrong/want.yaml":          wantedMap("b-copy", "text: other") + "---\n" + wantedMap("b", "text: two"),
	"tests/wide/resource.yaml":       "{apiVersion: GROUP/v1, kind: Web, metadata: {name: c}, spec: {text: two}}",
	"tests/wide/cluster.yaml":        wantedMap("given", "text: x") + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: c}}",
	"tests/wide/want.yaml":           wantedMap("c-copy", "text: x") + "---\n" + wantedMap("c", "text: two, where: 00000000-0000-4000-8000-000000000000") + wantedMark,
}

// liveFiles are a kind whose golden case cannot be equal on a cluster: it has a text that
// is drawn once and its checksum, the namespace inside of a text, a file that waits for
// the children of another one, and a Job with a status that no API server takes.
var liveFiles = map[string]string{
	"login.yaml": `apiVersion: v1
kind: Secret
metadata: {name: {{ .metadata.name }}-login}
stringData: {password: {{ stable "login" "password" 12 }}}
`,
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}}
data:
  text: {{ .spec.text }}
  address: {{ .metadata.name }}.{{ .metadata.namespace }}.svc
  checksum: {{ rendered "login" | sha256sum }}
`,
	"job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: {{ .metadata.name }}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: job
        image: job:1
`,
	"after.yaml": `{{- $_ := await "job" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-after}
`,
	"tests/first/resource.yaml": "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: one}}",
	"tests/done/resource.yaml":  "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: one}}",
	"tests/done/cluster.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: default, annotations: {jacquard.dev/file: job}}
status: {succeeded: 1, conditions: [{type: Complete, status: "True"}]}
`,
	"tests/wrong/resource.yaml": "{apiVersion: GROUP/v1, kind: Web, metadata: {name: a}, spec: {text: one}}",
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
	a = s.as("admin", "test", "--live", "--root", s.root, "--run", "/wrong|/wide", "--timeout", "60s")
	for _, part := range []string{
		"ConfigMap default/b-copy: data.text is \"x\", wanted is \"other\"", "-  text: other\n", "2 cases, 1 failed, 1 skipped",
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

// TestCasesWithLiveValues: cases pass on a cluster although their expected texts cannot be
// equal there. What differs is shown as without a cluster, long before the time is up.
func TestCasesWithLiveValues(t *testing.T) {
	t.Parallel()
	s := lay(t, liveFiles)
	kit.Write(t, s.root, map[string]string{"crds/" + s.name() + ".yaml": s.fill(kit.WebCRD)})
	if text := s.runs(0, "test", "--update", "--root", s.root); !strings.Contains(text, "THIS CASE WAITS") {
		t.Error(text)
	}
	s.start(nil)
	passes := s.as("admin", "test", "--live", "--root", s.root, "--timeout", "60s")
	if passes.code != 0 || !strings.Contains(passes.all(), "3 cases, 0 failed,") {
		t.Errorf("exit %d: %s", passes.code, passes.all())
	}

	// Another folder than the operator's: only the cluster differs.
	other := t.TempDir()
	changed := maps.Clone(liveFiles)
	changed["map.yaml"] = strings.ReplaceAll(changed["map.yaml"], ".svc", ".svc.cluster.local")
	files := map[string]string{"crds/" + s.name() + ".yaml": s.fill(kit.WebCRD)}
	for name, text := range changed {
		files["templates/"+s.name()+"/"+name] = s.fill(text)
	}
	kit.Write(t, other, files)
	s.runs(0, "test", "--update", "--root", other)
	fails := s.as("admin", "test", "--live", "--root", other, "--run", "/wrong", "--timeout", "10m")
	for _, part := range []string{"/a: not as it is rendered (", "map.yaml:1:1)", ".svc\n", ".svc.cluster.local\n", "the operator serves revision", "1 case, 1 failed,"} {
		if fails.code != 1 || !strings.Contains(fails.all(), part) {
			t.Errorf("exit %d, want %q: %s", fails.code, part, fails.all())
		}
	}
	if strings.Contains(fails.all(), "after ") {
		t.Error("it took the whole time: " + fails.all())
	}
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
