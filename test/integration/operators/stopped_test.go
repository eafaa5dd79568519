package operators

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestKilledInRollout: the operator is killed while a rollout waits for its first wave,
// and again when it is stopped. The process that comes next serves what the rollout has
// not reached by the revision before, and undoes what happened meanwhile.
func TestKilledInRollout(t *testing.T) {
	t.Parallel()
	const settings = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"1\"], progressDeadline: 5s}\n"
	p := newPair(t, "stopped", map[string]string{"kind.yaml": settings})
	names := []string{"a", "b", "c"}
	for _, name := range names {
		p.apply(name, "hello")
	}
	p.ready(names...)
	kit.Write(t, p.root, map[string]string{"templates/" + p.name() + "/one.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}}
data: {text: two-{{ .spec.text }}}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .metadata.name }}}
spec:
  type: LoadBalancer # which nobody gives an address
  ports: [{port: 80}]
`})
	p.access.Serve(controller.Options{Namespace: p.home, Identity: p.home + "/jacquard", LeaderElectionNamespace: p.home}, p.root)
	p.say(map[string]string{"a": "two-hello", "b": "hello", "c": "hello"})
	p.killed()
	p.say(map[string]string{"a": "two-hello", "b": "hello", "c": "hello"})
	p.await("the rollout stops", func() error {
		if r := p.record(t); r.State != rollout.Stopped || r.Reason != rollout.NotReady || r.Moved != 1 {
			return fmt.Errorf("the record is %s", r)
		}
		return nil
	})
	p.killed(func() {
		for _, name := range []string{"a", "b"} {
			o, err := cluster.Get("v1", "ConfigMap", p.ns, name)
			if err == nil {
				err = cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(`{"data":{"text":"drifted"}}`)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		p.apply("c", "edited")
		p.apply("d", "hello")
	})
	p.say(map[string]string{"a": "two-hello", "b": "hello", "c": "edited", "d": "hello"})
	if r := p.record(t); r.State != rollout.Stopped || r.Moved != 1 {
		t.Errorf("the record is %s", r)
	}
}

// killed kills the operator and starts another one, after something was done meanwhile.
func (p *pair) killed(meanwhile ...func()) {
	p.Helper()
	p.killFirst()
	for _, do := range meanwhile {
		do()
	}
	p.first = p.start()
}

// say waits until the ConfigMaps of resources have these texts.
func (p *pair) say(texts map[string]string) {
	p.Helper()
	for name, want := range texts {
		p.await(name+" says "+want, func() error {
			o, err := cluster.Get("v1", "ConfigMap", p.ns, name)
			if err != nil {
				return err
			}
			if got, _, _ := unstructured.NestedString(o.Object, "data", "text"); got != want {
				return fmt.Errorf("it says %s", got)
			}
			return nil
		})
	}
}

// record is the record of the kind's rollout.
func (p *pair) record(t *testing.T) rollout.Record {
	t.Helper()
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", p.name())
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range crd.GetAnnotations() {
		if strings.HasPrefix(key, api.AnnotationRollout) {
			return rollout.ParseRecord(text)
		}
	}
	return rollout.Record{}
}
