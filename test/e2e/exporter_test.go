package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// exporter: the PrometheusJmxExporter gives JVMs that run already an endpoint
// with metrics, and none of them is restarted.
func exporter(t *testing.T, n *realNode) {
	n.applyExamples(t)
	const selector = "app=dummyapp"
	eventually(t, "the JVMs run", func() error { return n.run("default", selector, 2) })
	eventually(t, "both endpoints are in the status", func() error {
		got := n.kubectl(t, "get", "prometheusjmxexporters", "example-prom-jmx-exp", "-o",
			"jsonpath={range .status.metricsEndpoints[*]}{.pod}:{.port} {end}")
		if strings.Count(got, ":9400") != 2 {
			return fmt.Errorf("the endpoints are %q; %s", got, n.kubectl(t, "get", "prometheusjmxexporters", "-o", "jsonpath={.items[*].status}"))
		}
		return nil
	})
	eventually(t, "the loaders ended well", func() error {
		pods, err := n.pods("default", selector)
		if err != nil {
			return err
		}
		for _, p := range pods {
			for _, c := range p.Status.EphemeralContainerStatuses {
				if c.State.Terminated == nil || c.State.Terminated.ExitCode != 0 {
					return fmt.Errorf("%s in Pod %s is %+v", c.Name, p.Metadata.Name, c.State)
				}
			}
		}
		return nil
	})
	pods, err := n.pods("default", selector)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods {
		if text := fetch(t, "http://"+p.Status.PodIP+":9400/metrics"); !strings.Contains(text, `jvm_memory_used_bytes{area="heap"} `) {
			t.Errorf("Pod %s serves no metrics of its JVM:\n%s", p.Metadata.Name, text)
		}
		if len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("Pod %s was restarted: %+v", p.Metadata.Name, p.Status.ContainerStatuses)
		}
	}
}
