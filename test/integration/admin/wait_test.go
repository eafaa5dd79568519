package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestWait: a pipeline waits for a changed folder: until it serves all resources, its
// rollout stops, it does not load, or the time is over.
func TestWait(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	wait := func(time string, code int, parts ...string) {
		t.Helper()
		a := s.as("admin", "status", s.name(), "--wait"+time, "--root", s.root, "--installation", s.home+"/jacquard")
		for _, part := range append(parts, s.name()+": ") {
			if a.code != code || !strings.Contains(a.all(), part) {
				t.Errorf("exit %d, want %d and %q:\n%s", a.code, code, part, a.all())
			}
		}
	}
	wait("", 0, ": Serving\n")
	s.is("a", "Ready", "True", "")
	s.recorded(verdict.Serving)

	changed := strings.Replace(plain["map.yaml"], "\ndata:", "\ndata:\n  more: text", 1)
	s.write(map[string]string{"map.yaml": changed})
	wait("", 0, ": Serving\n")

	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "no key!: text", 1)})
	wait("", 1, ": RolloutStopped: ", "jacquard approve "+s.name())
	s.recorded(verdict.RolloutStopped)

	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "more: {{ nonsense }}", 1)})
	wait("", 1, ": FolderInvalid: ")
	s.recorded(verdict.FolderInvalid)

	s.write(map[string]string{"map.yaml": changed})
	wait("", 0, ": Serving\n")
	s.is("a", "Ready", "True", "")
	s.write(map[string]string{
		"map.yaml":  strings.Replace(changed, "more: text", "more: slow", 1),
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [], minReadySeconds: 3600}\n",
	})
	s.recorded(verdict.RollingOut)

	s.annotateCRD("jacquard.dev/paused", "true")
	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "more: other", 1)})
	wait("=3s", 1, "after 3s it is not done")
	s.recorded(verdict.Paused)
}

// recorded waits until the CRD says how its kind is served, and compares what health
// checks read of it with testdata/crds, or writes it there. The test of the checks in
// docs/gitops.md finds it there.
func (s *site) recorded(state verdict.State) {
	s.Helper()
	var crd *unstructured.Unstructured
	kit.Eventually(s, "the CRD says "+string(state), func() (err error) {
		if crd, err = cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name()); err != nil {
			return err
		}
		if got := crd.GetAnnotations()[api.AnnotationState]; got != string(state) {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
	status, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": crd.GetAPIVersion(), "kind": crd.GetKind(), "status": map[string]any{"conditions": status},
		"metadata": map[string]any{"name": "webs.example.com", "annotations": map[string]string{api.AnnotationState: string(state)}},
	})
	if err != nil {
		s.Fatal(err)
	}
	data = moment.ReplaceAll(data, []byte("2026-01-02T03:04:05Z"))
	file := filepath.Join("testdata", "crds", string(state)+".yaml")
	if *update {
		kit.Write(s, ".", map[string]string{file: string(data)})
		return
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != string(data) {
		s.Errorf("%s is no longer what a CRD says (%v); write it anew with -update:\n%s", file, err, data)
	}
}
