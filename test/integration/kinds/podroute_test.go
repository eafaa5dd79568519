package kinds

import (
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// testRouteAPI: the Route API goes and comes back under the running operator.
func testRouteAPI(t *testing.T) {
	s := &site{T: t, ns: cluster.Namespace(t)}
	s.apply("Podroute", "p", "image: one")
	s.ready("Podroute", "p")
	s.says("Podroute", "p", "RouteAvailable", "True", "Admitted")
	deployment, service, route := s.get("Deployment", "pod-route"), s.get("Service", "podroute-service"), s.get("Route", "podroute-route")
	cluster.Delete(t, versions["CustomResourceDefinition"], "CustomResourceDefinition", "", "routes.route.openshift.io")
	s.says("Podroute", "p", "RouteAvailable", "False", "NoRouteAPI", "No Route was made")
	s.ready("Podroute", "p")
	s.has("Podroute", "p", "status.host", nil, "status.readyReplicas", 1)
	s.apply("Podroute", "late", "image: one, name: late") // works without the API too
	s.ready("Podroute", "late")
	s.rests(deployment, service)
	kit.Eventually(t, "the CRD is gone", func() error { // else it would be one that goes which is installed
		return cluster.Gone(versions["CustomResourceDefinition"], "CustomResourceDefinition", "", "routes.route.openshift.io")
	})
	installRoutes(t)
	s.anew(route)
	for _, name := range []string{"p", "late"} {
		s.says("Podroute", name, "RouteAvailable", "True", "Admitted")
		s.ready("Podroute", name)
	}
	if s.get("Deployment", "pod-route").GetUID() != deployment.GetUID() || s.get("Service", "podroute-service").GetUID() != service.GetUID() {
		t.Error("Deployment and Service were recreated")
	}
	s.has("Route", "late-route", "spec.to.name", "late-service")
}

func testPodroute(s *site) {
	s.apply("Podroute", "p", "image: one")
	s.ready("Podroute", "p")
	s.has("Deployment", "pod-route", "spec.replicas", 1, "metadata.labels.app", "PodRoute", "metadata.labels.podroute_cr", "p",
		"metadata.labels.tier", "backend-podroute",
		"spec.template.spec.containers.0.name", "podroute-pod", "spec.template.spec.containers.0.imagePullPolicy", "Always",
		"spec.template.spec.containers.0.ports.0.containerPort", 8080, "spec.template.spec.containers.0.ports.0.name", "podroute")
	s.has("Service", "podroute-service", "spec.ports.0.port", 8080, "spec.ports.0.targetPort", 8080, "spec.ports.0.protocol", "TCP",
		"spec.selector", map[string]any{"app": "PodRoute", "podroute_cr": "p", "tier": "backend-podroute"})
	route := s.has("Route", "podroute-route", "spec.to.kind", "Service", "spec.to.name", "podroute-service", "spec.port.targetPort", 8080)
	s.has("Podroute", "p", "status.host", at(route, "status.ingress.0.host"), "status.readyReplicas", 1)
	old := s.get("Deployment", "pod-route")
	s.apply("Podroute", "p", "image: two, replicas: 2")
	now := s.has("Deployment", "pod-route", "spec.replicas", 2, "spec.template.spec.containers.0.image", "two")
	if now.GetUID() != old.GetUID() {
		s.Error("the Deployment was recreated")
	}
	s.ready("Podroute", "p")
	s.has("Podroute", "p", "status.readyReplicas", 2)
	s.apply("Podroute", "p", "image: two, replicas: 2, name: x")
	s.gone("Deployment", "pod-route")
	s.gone("Service", "podroute-service")
	s.gone("Route", "podroute-route")
	s.has("Deployment", "x")
	s.has("Service", "x-service")
	s.has("Route", "x-route", "spec.to.name", "x-service")
	s.ready("Podroute", "p")
	s.rests()
}

// testPodrouteTwice: two that want the same names.
func testPodrouteTwice(s *site) {
	s.apply("Podroute", "first", "image: one")
	s.ready("Podroute", "first")
	s.apply("Podroute", "second", "image: two")
	s.says("Podroute", "second", "Ready", "False", "Deployment "+s.ns+"/pod-route", "Service "+s.ns+"/podroute-service",
		"Route "+s.ns+"/podroute-route", "it belongs to Podroute first")
	s.says("Podroute", "second", "Stalled", "True", "it belongs to Podroute first")
	for kind, name := range map[string]string{"Deployment": "pod-route", "Service": "podroute-service", "Route": "podroute-route"} {
		s.has(kind, name, "metadata.labels.podroute_cr", "first")
	}
	s.has("Deployment", "pod-route", "spec.template.spec.containers.0.image", "one")
	s.ready("Podroute", "first")
	s.apply("Podroute", "second", "image: two, name: second")
	s.ready("Podroute", "second")
	s.ready("Podroute", "first")
	cluster.Delete(s, versions["Podroute"], "Podroute", s.ns, "second")
	s.gone("Deployment", "second")
	s.ready("Podroute", "first")
	s.rests(s.get("Deployment", "pod-route"))
}
