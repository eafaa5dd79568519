package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// servedPod is what is added to a Pod that the exporter serves already.
const servedPod = `
  ephemeralContainers:
  - name: jmx-exporter
    env: [{name: JMX_EXPORTER_PORT, value: "9400"}, {name: JMX_EXPORTER_OWNER, value: jvms}]`

// TestManyPods: the exporter serves 500 Pods, those that it serves already
// first, and reports the rest, however many there are.
func TestManyPods(t *testing.T) {
	catalog := shipped(t)
	for name, c := range map[string]struct {
		pods, served      int // the last ones are served
		first, last       string
		endpoints, others int
	}{
		"as many as there may be": {500, 0, "p0000", "p0499", 0, 0},
		"new ones":                {700, 0, "p0000", "p0499", 0, 200},
		"old ones first":          {700, 100, "p0000", "p0699", 100, 200},
		"all are old":             {800, 600, "p0200", "p0699", 500, 300},
	} {
		t.Run(name, func(t *testing.T) {
			out := runMany(t, catalog, c.pods, c.served)
			want, status := out.Got[FileWant], out.Got[FileWantStatus]
			if n := strings.Count(want, "kind: Pod\n"); n != 1000 {
				t.Errorf("%d documents, want 1000", n)
			}
			first, last := strings.Index(want, "name: p"), strings.LastIndex(want, "name: p")
			if first < 0 || want[first+6:first+11] != c.first || want[last+6:last+11] != c.last {
				t.Errorf("the Pods are not those from %s to %s", c.first, c.last)
			}
			if n := strings.Count(status, "- pod: "); n != c.endpoints {
				t.Errorf("%d endpoints, want %d", n, c.endpoints)
			}
			more := fmt.Sprintf("and %d more.", c.others-20)
			status = strings.Join(strings.Fields(status), " ")
			if told := strings.Contains(status, "is more than the 500 that are served"); told != (c.others > 0) || told &&
				!strings.Contains(status, more) {
				t.Errorf("the status does not say %q: %s", more, status)
			}
		})
	}
}

// runMany runs a case with so many Pods, the last of them served.
func runMany(t *testing.T, catalog *Catalog, pods, served int) *Outcome {
	t.Helper()
	const name = "prometheusjmxexporters.banzaicloud.com"
	cr, err := os.ReadFile(filepath.Join("../../templates", name, "tests/new/resource.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var cluster strings.Builder
	cluster.WriteString("{apiVersion: v1, kind: ConfigMap, metadata: {name: exporter}, data: {config.yaml: x}}\n")
	for i := range pods {
		extra := ""
		if i >= pods-served {
			extra = servedPod
		}
		fmt.Fprintf(&cluster, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%04d, labels: {app: web}}\nstatus: {phase: Running}\nspec:\n  containers: [{name: web}]%s\n", i, extra)
	}
	one := &Case{Kind: catalog.Kinds[name], Name: "many", givens: map[string]given{
		fileResource: {fileResource, cr}, fileCluster: {fileCluster, []byte(cluster.String())}}}
	out, err := catalog.Run(t.Context(), one)
	if err := errors.Join(err, out.Err); err != nil {
		t.Fatal(err)
	}
	return out
}
