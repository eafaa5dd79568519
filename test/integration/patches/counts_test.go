package patches

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// exporters is a kind that ships: it selects Pods, reads a ConfigMap, and
// patches the Pods and their ephemeral containers.
const exporters = "prometheusjmxexporters.banzaicloud.com"

// exporting adds that kind to a root.
func exporting(t *testing.T, to string) {
	t.Helper()
	from, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(to, "templates", exporters), os.DirFS(filepath.Join(from, "templates", exporters))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(from, "crds", exporters+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kit.Write(t, to, map[string]string{"crds/" + exporters + ".yaml": string(text)})
}

// renders is how often resources of a kind were rendered in this process.
func renders(t *testing.T, kind string) uint64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "jacquard_render_duration_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == kind {
					return m.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	return 0
}

// pod is a Pod that runs on a simulated node.
func pod(name, labels string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: jvm, image: tomcat}]}}\n", name, labels)
}

// pods are so many of them.
func pods(prefix string, n int, labels string) string {
	var all strings.Builder
	for i := range n {
		all.WriteString(pod(fmt.Sprintf("%s%d", prefix, i), labels))
	}
	return all.String()
}

// An exporter is a site of the shipped kind.
type exporter struct{ *site }

// served waits until so many Pods are served and all is well.
func (e *exporter) served(n int) {
	e.Helper()
	kit.Eventually(e, fmt.Sprintf("%d Pods are served", n), func() error {
		o, err := cluster.Get("banzaicloud.com/v1alpha1", "PrometheusJmxExporter", e.namespace, "x")
		if err != nil {
			return err
		}
		served, _, _ := unstructured.NestedSlice(o.Object, "status", "metricsEndpoints")
		if len(served) != n {
			return fmt.Errorf("%d are served", len(served))
		}
		return kit.IsCondition(o, "Ready", "True", "")
	})
}

// count does something and returns what was sent and how often the resource was rendered
// for it until the operator rests. A CRD of another test has every resource rendered again:
// these renders are as many as those of a bystander, which nothing else concerns.
func (e *exporter) count(what string, do func()) (sent map[string]int, rendered int) {
	e.Helper()
	since := func() int { return int(renders(e.T, exporters)) - int(renders(e.T, "webs."+e.group)) }
	e.operator.AwaitQuiet(e)
	mark, before := cluster.Mark(e), since()
	do()
	e.operator.AwaitQuiet(e)
	sent, rendered = kit.Tally(e.operator.Requests(e, mark)), since()-before
	e.Logf("%s: %v, %d renders", what, sent, rendered)
	return sent, rendered
}

const (
	patchPod       = "patch pods"
	patchEphemeral = "patch pods/ephemeralcontainers"
	patchFinalizer = "patch prometheusjmxexporters"
	patchStatus    = "patch prometheusjmxexporters/status"
)

// TestCounts counts what patches cost, request by request.
func TestCounts(t *testing.T) {
	t.Parallel()
	e := &exporter{lay(t, map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"})}
	exporting(t, e.root)
	e.start()
	cluster.Served(t, e.apiVersion(), "Web")
	e.web("bystander", "")
	e.ready("bystander")
	cluster.Served(t, "banzaicloud.com/v1alpha1", "PrometheusJmxExporter")
	e.apply("person", "{apiVersion: v1, kind: ConfigMap, metadata: {name: jmx}, data: {k: v}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {k: v}}\n"+
		pods("other-", 60, "app: other")+pods("late-", 5, "app: none"))
	e.apply("person", "{apiVersion: banzaicloud.com/v1alpha1, kind: PrometheusJmxExporter, metadata: {name: x}, spec: {labelSelector: {app: jvm}, port: 9400, config: {configMapName: jmx, configMapKey: k}}}")
	e.served(0)
	for i := range 5 {
		e.has("v1", "Pod", fmt.Sprintf("late-%d", i), "status.phase", "Running")
	}

	got, rendered := e.count("a Pod that does not match changes, comes and goes", func() {
		e.merge("v1", "Pod", "other-0", "person", `{"metadata":{"labels":{"more":"x"}}}`)
		e.apply("person", pod("guest", "app: guest"))
		e.has("v1", "Pod", "guest", "status.phase", "Running")
		e.delete("v1", "Pod", "guest")
	})
	if len(got) != 0 || rendered != 0 {
		t.Errorf("%v and %d renders, want none", got, rendered)
	}

	got, rendered = e.count("a ConfigMap that nobody reads changes", func() {
		e.merge("v1", "ConfigMap", "other", "person", `{"data":{"k":"w"}}`)
	})
	if len(got) != 0 || rendered != 0 {
		t.Errorf("%v and %d renders, want none", got, rendered)
	}

	for i := range 2 { // the first one costs the finalizer too
		got, _ = e.count("a Pod starts to match", func() {
			e.merge("v1", "Pod", fmt.Sprintf("late-%d", i), "person", `{"metadata":{"labels":{"app":"jvm"}}}`)
			e.served(i + 1)
		})
		if got[patchPod] != 1 || got[patchEphemeral] != 1 || got[patchStatus] != 1 || got[patchFinalizer] != 1-i || len(got) != 4-i {
			t.Errorf("%v, want 1 patch, 1 of the ephemeral containers and 1 status", got)
		}
	}

	e.apply("person", pods("many-", 35, "app: jvm"))
	for i := 2; i < 5; i++ {
		e.merge("v1", "Pod", fmt.Sprintf("late-%d", i), "person", `{"metadata":{"labels":{"app":"jvm"}}}`)
	}
	e.served(40)
	got, rendered = e.count("60 Pods change of which 5 match", func() {
		for i := range 60 {
			name := fmt.Sprintf("other-%d", i)
			if i < 5 {
				name = fmt.Sprintf("late-%d", i)
			}
			e.merge("v1", "Pod", name, "person", `{"metadata":{"labels":{"touched":"x"}}}`)
		}
	})
	if len(got) != 0 || rendered < 1 || rendered > 5 {
		t.Errorf("%v and %d renders, want nothing sent and 1 to 5 renders", got, rendered)
	}
	e.many()
}

// many counts with 40 patched Pods.
func (e *exporter) many() {
	e.Helper()
	got, _ := e.count("one of 40 patched Pods goes", func() {
		e.delete("v1", "Pod", "many-0")
		e.served(39)
	})
	// A Pod is deleted in two steps; on a busy machine both are seen.
	if n := got[patchStatus]; n < 1 || n > 2 || len(got) != 1 {
		e.Errorf("%v, want 1 status, or one for the Pod that goes and one for the Pod that is gone", got)
	}
	got, rendered := e.count("at rest", func() {})
	if len(got) != 0 || rendered != 0 {
		e.Errorf("%v and %d renders, want none", got, rendered)
	}
	e.operator.Stop(e)
	before := renders(e.T, exporters)
	got, _ = e.count("a restart", func() {
		e.start()
		e.operator.AwaitReconciled(e, exporters)
	})
	for what, n := range got {
		if what == "list customresourcedefinitions" {
			continue // other tests write CRDs meanwhile
		}
		if !strings.HasPrefix(what, "list ") || n > 1 {
			e.Errorf("after a restart: %d times %s", n, what)
		}
	}
	if renders(e.T, exporters) == before {
		e.Error("nothing was rendered")
	}
	got, _ = e.count("the resource goes", func() {
		e.delete("banzaicloud.com/v1alpha1", "PrometheusJmxExporter", "x")
		e.gone("banzaicloud.com/v1alpha1", "PrometheusJmxExporter", "x")
	})
	if n := got[patchFinalizer]; got[patchPod] != 39 || n < 1 || n > 2 || got[patchEphemeral] != 0 { // the cache may show it once more
		e.Errorf("%v, want 39 patches given back and the finalizer taken off", got)
	}
	e.unpatched("v1", "Pod", "late-0", "ephemeralcontainers")
}
