package operators

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestUpgradeOfRollouts: an operator of the version before rollouts were a state machine is killed and
// upgraded. What was rolled out, or rolled back, completely stays so, and no child is written, also
// when the earlier operator comes back. A rollout that was under way, or stopped, begins anew from
// the revision that served before. A rollback that was under way goes on. Nothing is deleted.
func TestUpgradeOfRollouts(t *testing.T) {
	kit.Nightly(t, "integration")
	t.Parallel()
	program := programOf(t, earlier)
	const (
		said = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .spec.name }}\ndata:\n  text: %s-{{ .spec.text }}\n"
		// slow is a child that never gets ready, since nobody gives it an address.
		slow = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  type: LoadBalancer\n  ports: [{port: 80}]\n"
	)
	one, two := fmt.Sprintf(said, "one"), fmt.Sprintf(said, "two")
	none, all := []string{"one", "one", "one"}, []string{"two", "two", "two"}
	for name, tt := range map[string]struct {
		one, two string
		deadline string
		// rollsBack is true if the kind is rolled back from two to one, once two is rolled out.
		rollsBack bool
		// before are the texts of the children at the end of the earlier operator.
		before []string
		state  rollout.State
		// serving is which folder serves all resources, or will.
		serving string
	}{
		"complete":     {one: one, two: two, deadline: "10m", before: all, state: rollout.Complete},
		"running":      {one: one, two: two + slow, deadline: "10m", before: []string{"two", "one", "one"}, state: rollout.Running},
		"stopped":      {one: one, two: two + slow, deadline: "5s", before: []string{"two", "one", "one"}, state: rollout.Stopped},
		"rolled back":  {one: one, two: two, deadline: "10m", rollsBack: true, before: none, state: rollout.Complete},
		"rolling back": {one: one + slow, two: two, deadline: "10m", rollsBack: true, before: []string{"one", "two", "two"}, state: rollout.Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nshardBy: uid\nrollout: {waves: [\"1\"], progressDeadline: " + tt.deadline + "}\n"
			s := build(t, map[string]string{"kind.yaml": settings, "map.yaml": one + slow})
			line := s.line()
			line.Namespace = cluster.Namespace(t)
			line.LeaderElectionNamespace = line.Namespace
			divides(&line)
			cluster.Grant(t, kit.User, line, s.dir)
			folder := filepath.Join(s.dir, "templates", "webs."+s.group)
			kit.Write(t, folder, map[string]string{"map.yaml": tt.one})
			for _, name := range []string{"a", "b", "c"} {
				s.web(name, "name: "+name+", text: hello")
			}
			kill := s.killable(program, line)
			s.awaitTexts(none, "hello")
			first := s.rolledOut()
			kit.Write(t, folder, map[string]string{"map.yaml": tt.two})
			if tt.rollsBack {
				s.awaitRecord(rollout.Complete, all)
				rollback := rollout.Rollback{To: first, From: s.rolledOut(), Request: "2026-11-30T00:00:00Z"}
				patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, api.AnnotationRollback, rollback)
				if err := cluster.Client.Patch(t.Context(), s.crd(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
					t.Fatal(err)
				}
			}
			s.awaitRecord(tt.state, tt.before)
			kill()

			mark := cluster.Mark(t)
			op := s.upgraded(divides, func(o *controller.Options) { o.Namespace, o.LeaderElectionNamespace = line.Namespace, line.Namespace })
			s.web("c", "name: c, text: edited") // which shows that everything is served
			after := slices.Clone(tt.before)
			s.awaitRecord(tt.state, after)
			s.awaitText("c", after[2]+"-edited")
			s.checkUntouched(mark, tt.state)
			if back := s.crd().GetAnnotations()[api.AnnotationRollback]; (back != "") != tt.rollsBack {
				t.Errorf("the rollback is %q", back)
			}
			op()
			if tt.state != rollout.Complete {
				return
			}
			mark = cluster.Mark(t)
			kill = s.killable(program, line)
			s.web("c", "name: c, text: again")
			s.awaitText("c", after[2]+"-again")
			s.checkUntouched(mark, tt.state)
			kill()
		})
	}
}

// killable runs another version of the operator. kill ends it as kill -9 does, and its Lease.
func (s *site) killable(program string, line controller.Options) (kill func()) {
	s.Helper()
	cmd := s.startProgram(program, line)
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that the process was killed
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: line.Namespace, Name: api.Lease(line.Identity)}}
		if err := client.IgnoreNotFound(cluster.Client.Delete(s.Context(), lease)); err != nil {
			s.Error(err)
		}
	}
	s.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	return kill
}

// crd reads the CRD.
func (s *site) crd() *unstructured.Unstructured {
	s.Helper()
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "webs."+s.group)
	if err != nil {
		s.Fatal(err)
	}
	return crd
}

// rolledOut returns the digest of the folder that serves all resources.
func (s *site) rolledOut() string {
	s.Helper()
	return s.crd().GetAnnotations()[api.AnnotationRolledOut]
}

// awaitTexts waits until the children of a, b and c come from these folders, and say a text.
func (s *site) awaitTexts(folders []string, text string) {
	s.Helper()
	for i, name := range []string{"a", "b", "c"} {
		s.awaitText(name, folders[i]+"-"+text)
	}
}

// awaitText waits until the child of a resource has a text.
func (s *site) awaitText(name, text string) {
	s.Helper()
	s.saying(map[string]string{name: text})
}

// awaitRecord waits until the record of the kind has a state, and the children come from these folders.
func (s *site) awaitRecord(state rollout.State, folders []string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("the kind is %s with %v", state, folders), func() error {
		var record struct {
			State rollout.State `json:"state"`
		}
		text := s.crd().GetAnnotations()[api.AnnotationRollout]
		if err := json.Unmarshal([]byte(text), &record); err != nil || record.State != state {
			return fmt.Errorf("the record is %q", text)
		}
		for i, name := range []string{"a", "b", "c"} {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, name)
			if err != nil {
				return err
			}
			data, _ := o.Object["data"].(map[string]any)
			if said, _ := data["text"].(string); !strings.HasPrefix(said, folders[i]+"-") {
				return fmt.Errorf("%s says %s", name, said)
			}
		}
		return nil
	})
}

// checkUntouched fails if since mark a child was deleted, or, of a kind whose rollout is complete, any
// child but that of c was written.
func (s *site) checkUntouched(mark int64, state rollout.State) {
	s.Helper()
	for _, r := range s.sentOf(mark, "") {
		isChild := r.Resource == "configmaps" || r.Resource == "services"
		if isChild && (r.Verb == "delete" || state == rollout.Complete && r.Name != "c") {
			s.Errorf("it was written: %v", r)
		}
	}
}
