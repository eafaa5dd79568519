package metrics

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers the process' own metrics
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"
)

// An alert is a rule of the chart; one with Record is recorded, and alerts nobody.
type alert struct {
	Alert, Record       string
	Expr, For           string
	Labels, Annotations map[string]string
}

// alerts are those of the chart.
func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile("../../../charts/jacquard/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []alert
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// alertRow is a line of the table of alerts in docs/metrics.md.
var alertRow = regexp.MustCompile("(?m)^\\| `(Jacquard[A-Za-z]+)` \\| ([a-z]+) \\| .+ \\|$")

// TestAlerts: docs/metrics.md has every alert, and every alert says what it is
// about, what to do next, and where there is more.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var told, there []string
	for _, m := range alertRow.FindAllStringSubmatch(string(text), -1) {
		told = append(told, m[1]+" "+m[2])
	}
	for _, a := range alerts(t) {
		if a.Record != "" {
			continue
		}
		there = append(there, a.Alert+" "+a.Labels["severity"])
		anchor := "/docs/operations/alerts-and-troubleshooting.md#" + strings.ToLower(a.Alert)
		if a.For == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" ||
			!strings.HasSuffix(a.Annotations["runbook_url"], anchor) {
			t.Errorf("%s lacks for, summary, description, or %s: %v", a.Alert, anchor, a)
		}
	}
	if !slices.Equal(told, there) {
		t.Errorf("docs/metrics.md tells of %v, and there are %v", told, there)
	}
}

// alertExprs are the expressions of the chart's alerts.
func alertExprs(t *testing.T) (all []string) {
	t.Helper()
	for _, a := range alerts(t) {
		all = append(all, a.Expr)
	}
	return all
}

var (
	// selected is a metric with what is asked of its labels.
	selected = regexp.MustCompile(`\b([a-z]+_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(?:=~?|!=|!~)"([^"]*)"`)
	// grouped are labels that something is grouped by.
	grouped = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

// language is what looks like the name of a metric and is none.
var language = []string{"histogram_quantile", "max_over_time", "quantile_over_time"}

// targets are labels that Prometheus gives to what it scrapes, and le is that
// of buckets.
var targets = []string{"namespace", "job", "instance", "le"}

// TestExpressions: alerts and dashboard ask for nothing that there is not, and
// the dashboard shows every metric. Prometheus itself reads the expressions in
// test/integration/watched.
func TestExpressions(t *testing.T) {
	known := map[string]Metric{}
	for _, m := range defined {
		known[m.Name] = m
	}
	for _, expr := range slices.Concat(alertExprs(t), exprs()) {
		labels := slices.Clone(targets)
		for _, m := range selected.FindAllStringSubmatch(grouped.ReplaceAllString(expr, ""), -1) {
			labels = append(labels, asked(t, known, expr, m)...)
		}
		for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
			for _, label := range strings.Split(m[1], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("%s: no metric in it has the label %s", expr, label)
				}
			}
		}
	}
	shown := strings.Join(exprs(), " ")
	for name := range known {
		if !strings.Contains(shown, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// asked checks one use of a metric and returns the labels that the metric has.
func asked(t *testing.T, known map[string]Metric, expr string, use []string) []string {
	t.Helper()
	name := use[1]
	if slices.Contains(language, name) || foreign(t, name) {
		return nil
	}
	m, found := known[name]
	whole, isPart := strings.CutSuffix(name, "_bucket")
	if !isPart {
		whole, isPart = strings.CutSuffix(name, "_count")
	}
	if isPart {
		m, found = known[whole]
		found = found && m.Type == "histogram"
	}
	if !found {
		t.Errorf("%s: there is no metric %s", expr, name)
	}
	for _, a := range matcher.FindAllStringSubmatch(use[2], -1) {
		label, value := a[1], a[2]
		if !slices.Contains(m.Labels, label) && !slices.Contains(targets, label) {
			t.Errorf("%s: %s has no label %s", expr, name, label)
		}
		for one := range strings.SplitSeq(value, "|") {
			if all := values[label]; all != nil && !slices.Contains(all, one) {
				t.Errorf("%s: %s is no %s", expr, one, label)
			}
		}
	}
	return m.Labels
}

// foreign reports whether a metric is one of the process, as the Go client has it.
func foreign(t *testing.T, name string) bool {
	t.Helper()
	if !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "go_") {
		return false
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return true
		}
	}
	return false
}
