package kinds

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// served waits until exactly so many Pods of an app have the exporter, and are
// listed by its resource, and returns them.
func (s *site) served(exporter, app, port string, n int) []unstructured.Unstructured {
	s.Helper()
	var pods []unstructured.Unstructured
	kit.Eventually(s, fmt.Sprintf("%d Pods of %s are served on %s", n, app, port), func() error {
		pods = slices.DeleteFunc(s.list("Pod"), func(o unstructured.Unstructured) bool {
			return o.GetLabels()["app"] != app || o.GetDeletionTimestamp() != nil
		})
		if len(pods) != n {
			return fmt.Errorf("there are %d", len(pods))
		}
		want := map[string]string{}
		for _, o := range pods {
			if at(&o, "spec.ephemeralContainers.0.name") != "jmx-exporter" || o.GetAnnotations()["prometheus.io/port"] != port {
				return fmt.Errorf("%s is not", o.GetName())
			}
			want[o.GetName()] = port
		}
		listed, _ := at(s.get("PrometheusJmxExporter", exporter), "status.metricsEndpoints").([]any)
		got := map[string]string{}
		for _, e := range listed {
			m := e.(map[string]any)
			got[fmt.Sprint(m["pod"])] = fmt.Sprint(m["port"])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("status.metricsEndpoints: %s", diff)
		}
		return nil
	})
	return pods
}

// exporter: a Pod that comes later is served by itself; when the exporter goes,
// exactly its annotations go, and no Pod was restarted.
func exporter(s *site) {
	s.Helper()
	before := s.served("example-prom-jmx-exp", "dummyapp", "9400", 2)
	s.kubectl("scale", "deployment", "dummyapp", "--replicas=3")
	s.served("example-prom-jmx-exp", "dummyapp", "9400", 3)
	s.kubectl("annotate", "pod", before[0].GetName(), "mine=yes")
	s.ready("PrometheusJmxExporter", "example-prom-jmx-exp")
	s.kubectl("delete", "prometheusjmxexporter", "example-prom-jmx-exp")
	s.gone("PrometheusJmxExporter", "example-prom-jmx-exp")
	for _, old := range before {
		o := s.get("Pod", old.GetName())
		if o.GetUID() != old.GetUID() {
			s.Errorf("Pod %s was recreated", o.GetName())
		}
		want := map[string]string{}
		if o.GetName() == before[0].GetName() {
			want["mine"] = "yes"
		}
		if got := o.GetAnnotations(); !maps.Equal(want, got) {
			s.Errorf("Pod %s has the annotations %v, want %v", o.GetName(), got, want)
		}
	}
	s.kubectl("apply", "--filename", root(s)+"/examples/prometheusjmxexporters.banzaicloud.com.yaml")
	s.ready("PrometheusJmxExporter", "example-prom-jmx-exp")
}

// running is a Deployment whose Pods the exporter may serve.
const running = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %[1]s}, spec: {replicas: 1, selector: {matchLabels: {app: %[1]s}},
	template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: a, image: a, ports: [{containerPort: %[2]d}]}]}}}}`

// testExporter: without its ConfigMap nothing is patched; with it the Pods are,
// but for one that has the port itself; a changed port reaches new Pods only.
func testExporter(s *site) {
	s.Helper()
	cluster.Apply(s, s.ns, fmt.Sprintf(running, "jvm", 8080))
	cluster.Apply(s, s.ns, fmt.Sprintf(running, "taken", 9400))
	s.apply("PrometheusJmxExporter", "a", "labelSelector: {app: jvm}, config: {configMapName: c, configMapKey: k}, port: 9400")
	s.apply("PrometheusJmxExporter", "b", "labelSelector: {app: taken}, config: {configMapName: c, configMapKey: k}, port: 9400")
	s.says("PrometheusJmxExporter", "a", "Ready", "False", "ConfigMap c is missing")
	cluster.Apply(s, s.ns, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: x}}")
	s.served("a", "jvm", "9400", 1)
	s.ready("PrometheusJmxExporter", "a")
	s.says("PrometheusJmxExporter", "b", "Skipped", "True", "declares port 9400 itself")
	s.kubectl("delete", "configmap", "c")
	s.says("PrometheusJmxExporter", "a", "Ready", "False", "ConfigMap c is missing")
	s.served("a", "jvm", "9400", 1)
	cluster.Apply(s, s.ns, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: x}}")
	s.apply("PrometheusJmxExporter", "a", "labelSelector: {app: jvm}, config: {configMapName: c, configMapKey: k}, port: 9500")
	s.says("PrometheusJmxExporter", "a", "Outdated", "True", "keeps its port")
	s.served("a", "jvm", "9400", 1)
	s.apply("PrometheusJmxExporter", "second", "labelSelector: {app: jvm}, config: {configMapName: c, configMapKey: k}, port: 9600")
	s.says("PrometheusJmxExporter", "second", "Skipped", "True", "served by PrometheusJmxExporter a")
}
