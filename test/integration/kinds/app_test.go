package kinds

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const containerPath = "spec.template.spec.containers.0."

func testApp(s *site) {
	spec := `replicas: 2, image: one, envs: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
  {name: C, valueFrom: {secretKeyRef: {name: nobody, key: k, optional: true}}}],
  resources: {limits: {cpu: 500m, memory: 500Mi}, requests: {cpu: 100m}}`
	s.apply("App", "a", spec)
	s.ready("App", "a")
	deployment := s.has("Deployment", "a", "spec.replicas", 2, "metadata.labels.app|example|com/v1", "a", "spec.selector.matchLabels",
		map[string]any{"app.example.com/v1": "a"},
		containerPath+"name", "a", containerPath+"image", "one", containerPath+"imagePullPolicy", "IfNotPresent", containerPath+"ports", nil,
		containerPath+"env.0.value", 1, containerPath+"env.1.valueFrom.fieldRef.fieldPath", "metadata.name",
		containerPath+"env.2.valueFrom.secretKeyRef.optional", true,
		containerPath+"resources.limits", map[string]any{"cpu": "500m", "memory": "500Mi"}, containerPath+"resources.requests",
		map[string]any{"cpu": "100m"})
	s.gone("Service", "a")
	kit.Eventually(s, "the Deployment's status is inlined", func() error {
		said, want := at(s.get("App", "a"), "status").(map[string]any), at(s.get("Deployment", "a"), "status").(map[string]any)
		want["deploymentConditions"], want["deploymentObservedGeneration"] = want["conditions"], want["observedGeneration"]
		delete(want, "conditions")
		delete(want, "observedGeneration")
		for key, value := range want {
			if diff := cmp.Diff(value, said[key]); diff != "" {
				return fmt.Errorf("%s: %s", key, diff)
			}
		}
		return nil
	})
	s.rests(deployment)
	s.apply("App", "a", "replicas: 0, image: two")
	s.has("Deployment", "a", "spec.replicas", 0, containerPath+"image", "two", containerPath+"env", nil, containerPath+"resources",
		map[string]any{})
	s.ready("App", "a")
	cluster.Delete(s, versions["App"], "App", s.ns, "a")
	s.gone("Deployment", "a")
}

// testAppPorts: the Service comes and goes with the ports, and keeps what the
// cluster allocated.
func testAppPorts(s *site) {
	s.apply("App", "a", "replicas: 1, image: one")
	s.ready("App", "a")
	s.gone("Service", "a")
	s.apply("App", "a", "replicas: 1, image: one, ports: [{name: web, port: 8080, targetPort: 80}]")
	before := s.has("Service", "a", "spec.selector", map[string]any{"app.example.com/v1": "a"}, "spec.ports.0.port", 8080,
		"spec.ports.0.targetPort", 80)
	s.has("Deployment", "a", containerPath+"ports", []any{map[string]any{"containerPort": 80, "protocol": "TCP"}})
	s.ready("App", "a")
	s.kubectl("patch", "service", "a", "--patch", `{"spec":{"type":"NodePort"}}`)
	node := at(s.get("Service", "a"), "spec.ports.0.nodePort")
	s.apply("App",
		"a", `replicas: 1, image: one, ports: [{name: web, port: 8080, targetPort: 80}, {name: more, port: 9090, targetPort: metrics},
  {name: dns, port: 53, protocol: UDP}]`)
	s.has("Service", "a", "spec.ports.1.port", 9090, "spec.ports.1.targetPort", "metrics", "spec.ports.2.protocol", "UDP",
		"spec.clusterIP", at(before, "spec.clusterIP"), "spec.ports.0.nodePort", node, "spec.type", "NodePort", "metadata.uid", before.GetUID())
	s.has("Deployment", "a", containerPath+"ports", []any{map[string]any{"containerPort": 80, "protocol": "TCP"},
		map[string]any{"containerPort": 9090, "name": "metrics", "protocol": "TCP"}, map[string]any{"containerPort": 53, "protocol": "UDP"}})
	s.ready("App", "a")
	s.rests(s.get("Service", "a"), s.get("Deployment", "a"))
	s.apply("App", "a", "replicas: 1, image: one, ports: [{name: web, port: 8080, targetPort: 81}]")
	s.has("Service", "a", "spec.ports.0.targetPort", 81, "spec.ports.1", nil, "spec.ports.0.nodePort", node)
	s.apply("App", "a", "replicas: 1, image: one")
	s.gone("Service", "a")
	s.ready("App", "a")
	s.rests()
}
