package admin

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A gitopsSite is a kind Web of one test, with its folder and a namespace. Its CRD has the
// default for a status that nobody wrote yet.
type gitopsSite struct {
	*testing.T
	group, namespace, root string
}

// folder is a kind whose resources stand as spec.state says. The order of
// deletion gives each resource the finalizer.
var folder = map[string]string{
	"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\ndeletionOrder: [settings]\n",
	"status.yaml": "{{- if eq .spec.state \"warming\" }}\nconditions:\n- {type: Ready, status: \"False\", reason: Warming, message: the cache is cold}\n{{- end }}\n" +
		"{{- if eq .spec.state \"wrong\" }}\nchildrenReady: 1\n{{- end }}\n",
	"settings.yaml": `{{- if eq .spec.state "waiting" }}{{ wait "there is no address yet" }}{{ end }}
{{- if eq .spec.state "stalled" }}{{ fail "spec.state: no such state" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
  labels: {{ .metadata.labels }}
  annotations: {{ .metadata.annotations }}
data:
  state: {{ .spec.state }}
`,
}

func newSite(t *testing.T, group string) *gitopsSite {
	t.Helper()
	t.Parallel()
	s := &gitopsSite{T: t, group: group + ".example.com", namespace: cluster.Namespace(t), root: t.TempDir()}
	files := map[string]string{"crds/" + s.crdName() + ".yaml": s.crd()}
	for name, text := range folder {
		files["templates/"+s.crdName()+"/"+name] = text
	}
	kit.Write(t, s.root, files)
	return s
}

func (s *gitopsSite) crdName() string { return "webs." + s.group }

func (s *gitopsSite) crd() string {
	const status = "          status:\n            type: object\n"
	withDefault := strings.Replace(kit.WebCRD, status, status+"            default: {observedGeneration: -1}\n", 1)
	return strings.ReplaceAll(withDefault, "GROUP", s.group)
}

// web is a resource as it stands in git.
func (s *gitopsSite) web(name, state string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Web\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n  state: %s\n", s.group, name,
		s.namespace, state)
}

func (s *gitopsSite) get(name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

func (s *gitopsSite) liveCRD() *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.crdName())
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// run starts an operator for the kind.
func (s *gitopsSite) run() *kit.Operator {
	s.Helper()
	return cluster.Run(s.T, func(o *controller.Options) { o.Identity = s.group }, s.root)
}

// becomes waits until a condition of a resource is what is wanted.
func (s *gitopsSite) becomes(name, condition, status string) {
	s.Helper()
	kit.Eventually(s, name+" has "+condition+" "+status, func() error {
		return kit.IsCondition(s.get(name), condition, status, "")
	})
}

// patch sends a merge patch.
func (s *gitopsSite) patch(o client.Object, patch string) {
	s.Helper()
	if err := cluster.Client.Patch(context.Background(), o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// kubectl is what people run, and what Argo CD does without server-side apply.
func (s *gitopsSite) kubectl(stdin string, args ...string) {
	s.Helper()
	kubectl(s, stdin, args...)
}

func kubectl(t testing.TB, stdin string, args ...string) {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(root, ".bin", "kubectl"),
		append([]string{"--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
}

// as server-side applies objects with force, as Flux and Argo CD do.
func (s *gitopsSite) as(manager, text string) {
	s.Helper()
	for _, o := range kit.Parse(s, text) {
		if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(manager),
			client.ForceOwnership); err != nil {
			s.Fatalf("applying %s %s as %s: %v", o.GetKind(), o.GetName(), manager, err)
		}
	}
}
