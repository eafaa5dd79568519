package kinds

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// testScale: kubectl scale works on the kinds that have replicas, and the
// selector that it shows finds the Pods.
func testScale(s *site) {
	for kind, spec := range map[string]string{"Foo": "deploymentName: foo", "Podroute": "image: one", "Milvus": "image: one",
		"App": "image: one, replicas: 1"} {
		name := strings.ToLower(kind)
		s.apply(kind, name, spec)
		s.ready(kind, name)
		resource := name + "." + strings.Split(versions[kind], "/")[0]
		s.kubectl("scale", resource, name, "--replicas=3")
		s.has(kind, name, "spec.replicas", 3)
		s.ready(kind, name)
		selector := fmt.Sprint(at(s.get(kind, name), "status.selector"))
		kit.Eventually(s, "the selector of "+kind+" finds its Pods", func() error {
			if found := strings.Fields(s.kubectl("get", "pods", "--selector", selector, "--output", "name")); len(found) != 3 {
				return fmt.Errorf("%s finds %q", selector, found)
			}
			return nil
		})
	}
}

// testRefused: the API server says no to what no folder can make sense of.
func testRefused(s *site) {
	sound := map[string]string{
		"Foo": "deploymentName: one, replicas: 10", "Genericdaemon": "image: one, label: logs", "Podroute": "image: one, replicas: 0, name: x",
		"Milvus": "image: one, replicas: 1000", "App": "image: one, replicas: 0, envs: [{name: A}], ports: [{port: 80}]",
	}
	for kind, spec := range sound {
		if err := s.try(kind, spec); err != nil {
			s.Errorf("%s {%s}: %v", kind, spec, err)
		}
	}
	for _, bad := range []struct{ kind, spec, field string }{
		{"Foo", "deploymentName: one, replicas: 11", "spec.replicas"},
		{"Foo", "deploymentName: one, replicas: 0", "spec.replicas"},
		{"Foo", "deploymentName: one, replicas: two", "spec.replicas"},
		{"Foo", "replicas: 1", "spec.deploymentName"},
		{"Foo", "deploymentName: Not a name", "spec.deploymentName"},
		{"Foo", `deploymentName: ""`, "spec.deploymentName"},
		{"Genericdaemon", "label: logs", "spec.image"},
		{"Genericdaemon", `image: ""`, "spec.image"},
		{"Genericdaemon", "image: one, label: not a label", "spec.label"},
		{"Podroute", "replicas: 1", "spec.image"},
		{"Podroute", "image: one, replicas: -1", "spec.replicas"},
		{"Podroute", "image: one, name: Not-a-name", "spec.name"},
		{"Milvus", "replicas: 1", "spec.image"},
		{"Milvus", "image: one, replicas: 1001", "spec.replicas"},
		{"Milvus", "image: one, replicas: -1", "spec.replicas"},
		{"Milvus", "image: one, milvusSpec: 7", "spec.milvusSpec"},
		{"App", "image: one", "spec.replicas"},
		{"App", "replicas: 1", "spec.image"},
		{"App", "image: one, replicas: -1", "spec.replicas"},
		{"App", "image: one, replicas: 1, ports: [{port: 80}, {port: 80}]", "spec.ports"},
		{"App", "image: one, replicas: 1, ports: [{port: 0}]", "spec.ports[0].port"},
		{"App", "image: one, replicas: 1, envs: [{name: A}, {name: A}]", "spec.envs"},
		{"App", "image: one, replicas: 1, envs: [{value: A}]", "spec.envs[0].name"},
		{"App", "image: one, replicas: 1, resources: {limits: {cpu: many}}", "spec.resources.limits"},
	} {
		err := s.try(bad.kind, bad.spec)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), bad.field) {
			s.Errorf("%s {%s}: want a refusal of %s, got: %v", bad.kind, bad.spec, bad.field, err)
		}
	}
}

// try asks the API server whether it would create a resource.
func (s *site) try(kind, spec string) error {
	s.Helper()
	text := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: try, namespace: %s}, spec: {%s}}", versions[kind], kind, s.ns, spec)
	return cluster.Client.Create(context.Background(), kit.Parse(s, text)[0], client.DryRunAll)
}
