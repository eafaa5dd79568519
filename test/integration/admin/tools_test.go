package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// The users that diff is run as.
const (
	looker = "looker" // may do everything
	viewer = "viewer" // has the ClusterRole view in one namespace
	editor = "editor" // has the ClusterRole edit in one namespace
)

// A toolSite is one test's own kind Web, its folder and a namespace.
type toolSite struct {
	*testing.T
	group, namespace, root string
	operator               *kit.Operator
}

var toolSites atomic.Int64

// build writes a folder and installs its CRD; no operator runs yet.
func build(t *testing.T, files map[string]string) *toolSite {
	t.Helper()
	t.Parallel()
	s := &toolSite{T: t, group: fmt.Sprintf("tool%d.example.com", toolSites.Add(1)), namespace: cluster.Namespace(t), root: t.TempDir()}
	crd := strings.ReplaceAll(kit.WebCRD, "GROUP", s.group)
	kit.Write(t, s.root, map[string]string{"crds/webs." + s.group + ".yaml": crd})
	s.write(s.root, files)
	cluster.Apply(t, "", crd)
	cluster.Served(t, s.apiVersion(), "Web")
	return s
}

func (s *toolSite) apiVersion() string { return s.group + "/v1" }

func (s *toolSite) write(root string, files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/webs."+s.group+"/"+name] = text
	}
	kit.Write(s, root, placed)
}

// changed is a copy of the root with other files; "" takes one away.
func (s *toolSite) changed(files map[string]string) string {
	s.Helper()
	dir := s.TempDir()
	kit.Write(s, dir, map[string]string{"crds/webs." + s.group + ".yaml": strings.ReplaceAll(kit.WebCRD, "GROUP", s.group)})
	s.write(dir, files)
	return dir
}

// run starts the operator, waits until "a" is Ready, and stops it.
func (s *toolSite) run() {
	s.Helper()
	s.start()
	s.ready("a")
	s.operator.Stop(s)
}

func (s *toolSite) start() {
	s.Helper()
	s.operator = cluster.Run(s.T, func(o *controller.Options) { o.Identity = s.group }, s.root)
}

func (s *toolSite) ready(name string) {
	s.Helper()
	kit.Eventually(s, name+" is ready", func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, name) })
}

// web is the custom resource "a" with this spec, in flow style.
func (s *toolSite) web(spec string) string { return s.named("a", spec) }

func (s *toolSite) named(name, spec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: Web\nmetadata: {name: %s, namespace: %s}\nspec: {%s}\n", s.apiVersion(), name, s.namespace, spec)
}

func (s *toolSite) apply(text string) {
	s.Helper()
	cluster.Apply(s, s.namespace, text)
}

// A toolAnswer is what a command printed, with its exit code.
type toolAnswer struct {
	code           int
	stdout, stderr string
}

func (a toolAnswer) all() string { return a.stdout + a.stderr }

// as runs a command as a user.
func (s *toolSite) as(user string, args ...string) toolAnswer {
	s.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--kubeconfig", filepath.Join(cluster.Dir, user+".kubeconfig"), "--namespace", s.namespace)
	code := cli.Main(args, strings.NewReader(""), &stdout, &stderr)
	return toolAnswer{code, stdout.String(), stderr.String()}
}

// diff runs diff with --root and expects an exit code.
func (s *toolSite) diff(code int, args ...string) toolAnswer {
	s.Helper()
	before := s.state()
	got := s.as(looker, append([]string{"diff", "--root", s.root}, args...)...)
	if got.code != code {
		s.Fatalf("diff %v exits %d, want %d:\n%s", args, got.code, code, got.all())
	}
	if after := s.state(); !slices.Equal(before, after) {
		s.Errorf("diff changed the cluster: %v, was %v", after, before)
	}
	return got
}

// resources runs diff -o json.
func (s *toolSite) resources(code int, args ...string) []*diff.Resource {
	s.Helper()
	var all []*diff.Resource
	got := s.diff(code, append([]string{"-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(got.stdout), &all); err != nil {
		s.Fatalf("%v:\n%s", err, got.all())
	}
	return all
}

// verbs are what would become of the children of the only resource.
func (s *toolSite) verbs(code int, args ...string) map[string]diff.Verb {
	s.Helper()
	all := s.resources(code, args...)
	if len(all) != 1 {
		s.Fatalf("%d resources, want 1", len(all))
	}
	return verbs(all[0])
}

func verbs(r *diff.Resource) map[string]diff.Verb {
	out := map[string]diff.Verb{}
	for _, c := range r.Changes {
		out[c.Kind+"/"+c.Name] = c.Verb
	}
	return out
}

// file writes a file and returns its name.
func (s *toolSite) file(text string) string {
	s.Helper()
	dir := s.TempDir()
	kit.Write(s, dir, map[string]string{"file.yaml": text})
	return filepath.Join(dir, "file.yaml")
}

// state is every object of the namespace that may be changed, with its version.
func (s *toolSite) state() []string {
	s.Helper()
	var all []string
	for _, kind := range []string{"v1/ConfigMap", "v1/Secret", "v1/Service", "apps/v1/Deployment", "batch/v1/Job", "v1/PersistentVolumeClaim",
		s.apiVersion() + "/Web"} {
		cut := strings.LastIndex(kind, "/")
		for _, o := range cluster.List(s, kind[:cut], kind[cut+1:], client.InNamespace(s.namespace)) {
			if o.GetName() == "kube-root-ca.crt" { // every namespace gets it, sooner or later
				continue
			}
			spec, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec")
			all = append(all, fmt.Sprint(o.GetKind(), o.GetName(), o.GetUID(), o.GetLabels(), o.GetAnnotations(), o.GetFinalizers(), spec,
				o.Object["data"]))
		}
	}
	return all
}
