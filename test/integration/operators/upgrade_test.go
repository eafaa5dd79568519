package operators

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestUpgrade: an operator of an earlier version and this one serve the same
// resources in turn, the earlier one all of them, this one as replicas divide them. None
// writes what the other one made, but one status of each
// resource at most, and the mark of drawn Secrets; each serves what is new, writes
// what is changed once, and deletes.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	program := programOf(t, earlier)
	files := map[string]string{}
	for _, name := range []string{"kind", "map", "secret", "role", "second"} {
		files[name+".yaml"] = everyWay[name+".yaml"]
	}
	s := build(t, files)
	cluster.Apply(t, s.namespace, foreign)
	line := s.line()
	divides(&line)
	cluster.Grant(t, kit.User, line, s.dir)
	passwords := record(t, s.namespace)
	s.web("a", "name: map-a, text: first, second: true")
	names, said := []string{"a"}, "first"
	for i, run := range []func() func(){
		func() func() { return s.process(program) }, func() func() { return s.upgraded(divides) },
		func() func() { return s.process(program) }, func() func() { return s.upgraded(divides) },
	} {
		mark := cluster.Mark(t)
		stop := run()
		made := fmt.Sprint("made-", i)
		s.web(made, fmt.Sprintf("name: map-%s, text: first, second: false", made))
		names = append(names, made)
		s.serve(names, said)
		if i > 0 {
			s.spares(mark, made, 0)
		}
		mark, said = cluster.Mark(t), fmt.Sprint("text-", i)
		s.web("a", "name: map-a, text: "+said+", second: true")
		s.serve(names, said)
		s.spares(mark, "", 1)
		if len(s.sentOf(mark, "")) < 5 {
			t.Errorf("of a change that four objects and a status show only %v was seen", s.sentOf(mark, ""))
		}
		if i == 3 {
			break
		}
		stop()
	}
	for _, name := range names {
		cluster.Delete(t, s.apiVersion(), "Web", s.namespace, name)
	}
	kit.Eventually(t, "the resources and what nobody collects are gone", func() error {
		for _, name := range names {
			if err := cluster.Gone(s.apiVersion(), "Web", s.namespace, name); err != nil {
				return err
			}
		}
		return s.roles(want{})
	})
	s.collectGarbage()
	if err := s.left(); err != nil {
		t.Error(err)
	}
	passwords.once(t, len(names))
}

// divides makes an operator divide the resources with others, which the earlier one does not.
func divides(o *controller.Options) { o.Buckets = 16 }

// TestUpgradeInRollout: an operator that kept no revisions is upgraded while its
// rollout is stopped. What the rollout has not reached is held, says why, and is
// neither changed nor deleted, until an approval goes on.
func TestUpgradeInRollout(t *testing.T) {
	t.Parallel()
	program := programOf(t, withoutRevisions)
	const settings = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"1\"], progressDeadline: 10s}\n"
	const said = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .spec.name }}\ndata:\n  text: %s-{{ .spec.text }}\n"
	s := build(t, map[string]string{"kind.yaml": settings, "map.yaml": fmt.Sprintf(said, "one")})
	cluster.Grant(t, kit.User, s.line(), s.dir)
	for _, name := range []string{"a", "b", "c"} {
		s.web(name, "name: "+name+", text: hello, second: true")
	}
	stop := s.process(program)
	s.saying(map[string]string{"a": "one-hello", "b": "one-hello", "c": "one-hello"})
	kit.Write(t, filepath.Join(s.dir, "templates", "webs."+s.group), map[string]string{
		"map.yaml": fmt.Sprintf(said, "two") + `---
apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  type: LoadBalancer # which nobody gives an address
  ports: [{port: 80}]
`})
	cluster.Grant(t, kit.User, s.line(), s.dir)
	s.saying(map[string]string{"a": "two-hello", "b": "one-hello", "c": "one-hello"})
	s.stopped(rollout.NotReady)
	stop()
	s.web("b", "name: b, text: edited, second: true")
	s.web("d", "name: d, text: hello, second: true")
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "c")

	line := s.line()
	line.Namespace = cluster.Namespace(t)
	cluster.Grant(t, kit.User, line, s.dir)
	s.upgraded(func(o *controller.Options) { o.Namespace = line.Namespace })
	s.saying(map[string]string{"a": "two-hello", "b": "one-hello"})
	for _, name := range []string{"b", "d"} {
		kit.Eventually(t, name+" says why it is held", func() error {
			o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, name)
			if err != nil {
				return err
			}
			return kit.IsCondition(o, "Ready", "False", "revision")
		})
	}
	if _, err := cluster.Get("v1", "ConfigMap", s.namespace, "d"); !apierrors.IsNotFound(err) {
		t.Errorf("d was served: %v", err)
	}
	s.saying(map[string]string{"a": "two-hello", "b": "one-hello"})
	s.stopped(rollout.NotReady)

	var out strings.Builder
	approve := []string{"approve", "webs." + s.group, "--all-waves", "--yes", "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}
	if code := cli.Main(approve, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	s.saying(map[string]string{"a": "two-hello", "b": "two-edited", "d": "two-hello"})
	kit.Eventually(t, "c is gone", func() error { return cluster.Gone("v1", "ConfigMap", s.namespace, "c") })
}

// saying waits until the ConfigMaps of resources have these texts.
func (s *site) saying(texts map[string]string) {
	s.Helper()
	kit.Eventually(s, "the ConfigMaps have their texts", func() error {
		for name, want := range texts {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, name)
			if err != nil {
				return err
			}
			if got, _, _ := unstructured.NestedString(o.Object, "data", "text"); got != want {
				return fmt.Errorf("%s says %s, not %s", name, got, want)
			}
		}
		return nil
	})
}

// stopped waits until the kind's rollout is stopped for this reason.
func (s *site) stopped(reason rollout.Reason) {
	s.Helper()
	kit.Eventually(s, "the rollout is stopped", func() error {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "webs."+s.group)
		if err != nil {
			return err
		}
		for key, text := range crd.GetAnnotations() {
			if r := rollout.ParseRecord(text); strings.HasPrefix(key, api.AnnotationRollout) && (r.State != rollout.Stopped || r.Reason != reason) {
				return fmt.Errorf("the record is %s", r)
			}
		}
		return nil
	})
}
