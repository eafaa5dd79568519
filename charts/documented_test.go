package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A helm is Helm's command in one major version, with the access to a cluster of its own.
type helm struct {
	*testing.T
	binary, dir string
	on          *kit.Cluster
}

// buildHelm builds Helm 4 and Helm 3 into .bin, unless they are there, and returns .bin.
func buildHelm(t *testing.T) string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("make", "-C", root, "helm")
	build.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") }) // those of a make that runs the tests
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building Helm: %v\n%s", err, out)
	}
	return filepath.Join(root, ".bin")
}

// newHelm starts a cluster whose Pods nobody runs. The command works in a directory as
// people have it: with charts/, and the values that documents name.
func newHelm(t *testing.T, binary string) *helm {
	t.Helper()
	h := &helm{t, binary, t.TempDir(), kit.Start(t, "--components", "etcd,apiserver,controller-manager")}
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "charts"), filepath.Join(h.dir, "charts")); err != nil {
		t.Fatal(err)
	}
	kit.Write(t, h.dir, map[string]string{
		"my-values.yaml": string(read(t, filepath.Join(dir, "samples.yaml"))),
		"webs.yaml": strings.NewReplacer("prometheusjmxexporters", "webs", "banzaicloud.com", "example.com").Replace(
			string(read(t, filepath.Join(dir, "files", "kinds", "prometheusjmxexporters.banzaicloud.com.yaml")))),
	})
	return h
}

// run runs a command line as a document has it, but waits for no Pod.
func (h *helm) run(line string) (string, error) {
	h.Helper()
	line = strings.ReplaceAll(line, " --wait", "")
	cmd := exec.Command("sh", "-c", strings.Replace(line, "helm ", h.binary+" ", 1))
	cmd.Dir, cmd.Env = h.dir, append(os.Environ(), "KUBECONFIG="+filepath.Join(h.on.Dir, "kubeconfig"), "HELM_CACHE_HOME="+h.dir, "HELM_DATA_HOME="+h.dir,
		"HELM_CONFIG_HOME="+h.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// works runs a command line, which must not fail.
func (h *helm) works(line string) {
	h.Helper()
	if out, err := h.run(line); err != nil {
		h.Errorf("%s: %v\n%s", line, err, out)
	}
}

// applied does what `kubectl apply --server-side` does.
func (h *helm) applied(objects []*unstructured.Unstructured) {
	h.Helper()
	for _, o := range objects {
		kit.Eventually(h, title(o)+" is applied", func() error { // its namespace and its kind may be new
			return h.on.Client.Patch(h.Context(), o.DeepCopy(), client.Apply, client.FieldOwner("kubectl")) //nolint:staticcheck // as kubectl does
		})
	}
}

// A step is a command line of a document, and what happens before it.
type step struct {
	line   string
	before func(*helm)
}

// documented are the command lines of the documents, in an order in which one cluster can
// have them all.
var documented = []step{
	{"helm install jacquard charts/jacquard --namespace jacquard --create-namespace --wait --set image.repository=registry.example.org/jacquard,image.tag=v0.1.0", nil},
	{"helm uninstall jacquard --namespace jacquard", nil},
	{"helm install jacquard charts/jacquard --namespace jacquard --create-namespace --wait --values charts/jacquard/samples.yaml", nil},
	{"helm upgrade jacquard charts/jacquard --namespace jacquard", func(h *helm) {
		h.on.Delete(h, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "foos.samplecontroller.k8s.io")
	}},
	{`helm upgrade jacquard charts/jacquard --namespace jacquard --reset-then-reuse-values --set-file 'kinds.custom.webs\.example\.com=webs.yaml'`, func(h *helm) {
		if _, err := h.on.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "foos.samplecontroller.k8s.io"); err != nil {
			h.Errorf("an upgrade does not bring back a CRD: %v", err)
		}
	}},
	{"helm upgrade jacquard charts/jacquard --namespace jacquard --reset-then-reuse-values --set replicaCount=null", nil},
	{"helm upgrade jacquard charts/jacquard --namespace jacquard --reset-then-reuse-values --set 'selector=team notin (b)'", (*helm).scale},
	{"helm install jacquard-b charts/jacquard --namespace jacquard-b --create-namespace --values my-values.yaml --set crds.enabled=false,rbac.userRoles=false,selector=team=b", func(h *helm) {
		if o := h.deployment(); o.Object["spec"].(map[string]any)["replicas"] != int64(3) {
			h.Errorf("an upgrade resets the replicas that an autoscaler set: %v", o.Object["spec"])
		}
	}},
	{"helm uninstall jacquard --namespace jacquard", nil},
	{"helm install jacquard charts/jacquard --namespace jacquard --create-namespace --wait", nil},
	{"helm uninstall jacquard --namespace jacquard", nil},
	{"helm install jacquard charts/jacquard --namespace jacquard --take-ownership --values my-values.yaml", func(h *helm) {
		h.applied(kit.Parse(h, string(read(h.T, "../dist/install.yaml"))))
	}},
	{"helm upgrade jacquard charts/jacquard --namespace jacquard", nil},
}

// deployment is the operator's Deployment.
func (h *helm) deployment() *unstructured.Unstructured {
	h.Helper()
	o, err := h.on.Get("apps/v1", "Deployment", "jacquard", "jacquard")
	if err != nil {
		h.Fatal(err)
	}
	return o
}

// scale does what an autoscaler does.
func (h *helm) scale() {
	h.Helper()
	err := h.on.Client.Patch(h.Context(), h.deployment(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":3}}`)), client.FieldOwner("autoscaler"))
	if err != nil {
		h.Error(err)
	}
}

// TestDocumentedCommands: the commands of the documents work with Helm 4 and Helm 3, also
// after `kubectl apply --server-side`. What a person changed meanwhile is a conflict with
// Helm 4, and --force-conflicts takes it back.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	bin := buildHelm(t)
	for major, binary := range map[string]string{"v4": "helm", "v3": "helm3"} {
		t.Run(major, func(t *testing.T) {
			t.Parallel()
			if major == "v3" {
				kit.Nightly(t, "integration")
			}
			h := newHelm(t, filepath.Join(bin, binary))
			for _, s := range documented {
				if s.before != nil {
					s.before(h)
				}
				h.works(s.line)
			}
			image := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"jacquard","image":"theirs"}]}}}}`)
			if err := h.on.Client.Patch(t.Context(), h.deployment(), client.RawPatch(types.StrategicMergePatchType, image), client.FieldOwner("kubectl-edit")); err != nil {
				t.Fatal(err)
			}
			const line = "helm upgrade jacquard charts/jacquard --namespace jacquard"
			if major == "v3" { // it knows no field managers
				h.works(line)
				return
			}
			if out, err := h.run(line); err == nil || !strings.Contains(out, "kubectl-edit") {
				t.Errorf("what a person changed is no conflict: %v\n%s", err, out)
			}
			h.works(line + " --force-conflicts")
		})
	}
}

// command is a line of a document that installs or upgrades the chart.
var command = regexp.MustCompile("(?m)^helm (install|upgrade) [^\n…]*$")

// TestDocumentedCommandsAreAll: each command of the documents is tried, and each that is
// tried is in a document.
func TestDocumentedCommandsAreAll(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, s := range documented {
		tried = append(tried, s.line)
	}
	all := ""
	for _, pattern := range []string{"../README.md", dir + "/README.md", "../docs/*.md", "../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no documents are at %s: %v", pattern, err)
		}
		for _, file := range files {
			text := string(read(t, file))
			all += text
			for _, line := range command.FindAllString(text, -1) {
				if !strings.Contains(line, "dist/release/") && !slices.Contains(tried, line) { // which a release has
					t.Errorf("%s: nothing tries: %s", file, line)
				}
			}
		}
	}
	for _, line := range tried {
		if !strings.Contains(all, line) && !strings.HasPrefix(line, "helm uninstall") {
			t.Errorf("no document has: %s", line)
		}
	}
}
