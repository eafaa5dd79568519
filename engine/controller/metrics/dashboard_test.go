package metrics

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the dashboard")

// A panel is one picture of the dashboard: what it shows, in which unit, by
// which expressions with which legends.
type panel struct {
	title, about, unit string
	// stat shows the present value alone.
	stat bool
	// exprs are pairs of an expression and its legend. WHERE stands for the
	// labels that the reader has chosen, HERE for those without the kind.
	exprs []string
}

var panels = []panel{
	{"Replicas", "by version", "short", true, []string{`count by (version) (jacquard_build_info{HERE})`, "{{version}}"}},
	{"Working", "replicas that lead: 1, or nothing is done", "short", true, []string{`sum(jacquard_leader{HERE})`, "leads",
		`sum(jacquard_buckets_unowned{HERE})`, "buckets that nobody serves", `max(jacquard_read_only{HERE})`, "read-only"}},
	{"Kinds", "", "short", true, []string{`sum(max by (kind) (jacquard_kind_served{WHERE}))`, "served",
		`sum(max by (kind) (jacquard_kind_paused{WHERE}))`, "paused",
		`sum(max by (kind) (jacquard_kind_state{WHERE,state=~"RolledBack|RolledBackOnFailure"}))`, "rolled back",
		`sum(jacquard_read_only_pending_resources{WHERE})`, "resources that read-only keeps from a change",
		`sum(max by (kind) (jacquard_kind_served_elsewhere{WHERE}))`, "served elsewhere",
		`sum(max by (kind) (jacquard_crd_deleted{WHERE}))`, "CRD deleted",
		`sum(max by (kind) (jacquard_crd_missing{WHERE}))`, "CRD missing"}},
	{"Folders", "", "short", true, []string{`sum(max by (kind) (jacquard_folder_invalid{WHERE}))`, "invalid",
		`sum(max by (kind) (jacquard_folder_duplicate{WHERE}))`, "not used",
		`sum(max by (root) (jacquard_root_missing{HERE}))`, "roots missing",
		`sum(max by (kind) (jacquard_kind_state{WHERE,state="RollingOut"}))`, "rolling out",
		`sum(max by (kind) (jacquard_kind_state{WHERE,state=~"RolloutStopped|RolloutStuck"}))`, "rollout stopped or stuck"}},
	{"Resources", "each is Ready or NotReady, and may be Reconciling, Stalled or Paused beside that", "short", false,
		[]string{`sum by (kind, condition) (jacquard_resources{WHERE})`, "{{kind}} {{condition}}",
			`sum by (kind) (jacquard_resources_waiting{WHERE})`, "{{kind}} waiting"}},
	{"Resources of replicas", "how many resources and buckets each replica serves", "short", false,
		[]string{`sum by (instance) (jacquard_resources{WHERE,condition=~"Ready|NotReady"})`, "{{instance}} resources",
			`jacquard_buckets{HERE}`, "{{instance}} buckets"}},
	{"Problems", "resources by what is wrong with them", "short", false,
		[]string{`sum by (kind, reason) (jacquard_resources_with_problem{WHERE}) > 0`, "{{kind}} {{reason}}"}},
	{"States of kinds", "each kind has one", "short", false,
		[]string{`max by (kind, state) (jacquard_kind_state{WHERE})`, "{{kind}} {{state}}"}},
	{"Writes", "", "ops", false, []string{`sum by (kind, operation) (rate(jacquard_writes_total{WHERE}[$__rate_interval])) > 0`,
		"{{kind}} {{operation}}"}},
	{"Nothing to do", "applies that were not needed", "ops", false,
		[]string{`sum by (kind) (rate(jacquard_applies_skipped_total{WHERE}[$__rate_interval]))`, "{{kind}}"}},
	{"Reconciliations", "by result", "ops", false,
		[]string{`sum by (kind, result) (rate(jacquard_reconciliations_total{WHERE}[$__rate_interval]))`, "{{kind}} {{result}}"}},
	{"Refused writes", "", "ops", false, []string{`sum by (kind, reason) (rate(jacquard_refusals_total{WHERE}[$__rate_interval])) > 0`,
		"{{kind}} {{reason}}"}},
	{"Panics", "mistakes in the operator; its log says where", "short", false,
		[]string{`sum by (kind) (increase(jacquard_panics_total{WHERE}[$__rate_interval]))`, "{{kind}}"}},
	{"Watches in trouble", "kinds of objects that may not be listed or watched, or that cannot be", "short", false,
		[]string{`max by (kind) (jacquard_watches_forbidden{WHERE})`, "{{kind}} forbidden",
			`max by (kind) (jacquard_watches_failing{WHERE})`, "{{kind}} failing"}},
	{"Strangers", "objects with the label of children that name no resource that is served here", "short", false,
		[]string{`sum by (kind) (jacquard_objects_with_unknown_owner{WHERE})`, "{{kind}}"}},
	{"Drift corrected", "by who had changed it", "ops", false,
		[]string{`sum by (kind, field_manager) (rate(jacquard_drift_corrections_total{WHERE}[$__rate_interval]))`, "{{kind}} {{field_manager}}"}},
	{"Folders taken up", "", "short", false,
		[]string{`max by (kind, result) (increase(jacquard_folder_loads_total{WHERE}[$__rate_interval]))`, "{{kind}} {{result}}"}},
	{"From event to apply", "nine of ten take less", "s", false,
		[]string{`histogram_quantile(0.9, sum by (kind, le) (rate(jacquard_event_to_apply_duration_seconds_bucket{WHERE}[$__rate_interval])))`,
			"{{kind}}"}},
	{"Drift undone", "from the event to the correction; nine of ten take less", "s", false,
		[]string{`histogram_quantile(0.9, sum by (kind, le) (rate(jacquard_drift_correction_duration_seconds_bucket{WHERE}[$__rate_interval])))`,
			"{{kind}}"}},
	{"Queue", "resources that wait for a worker", "short", false, []string{`sum by (kind) (jacquard_queue_depth{WHERE})`, "{{kind}}"}},
	{"Wait in the queue", "nine of ten wait less", "s", false,
		[]string{`histogram_quantile(0.9, sum by (kind, le) (rate(jacquard_queue_wait_duration_seconds_bucket{WHERE}[$__rate_interval])))`, "{{kind}}"}},
	{"Render", "nine of ten take less", "s", false,
		[]string{`histogram_quantile(0.9, sum by (kind, le) (rate(jacquard_render_duration_seconds_bucket{WHERE}[$__rate_interval])))`,
			"{{kind}}"}},
	{"Skeletons found parsed", "", "percentunit", false,
		[]string{`sum by (kind) (rate(jacquard_template_cache_requests_total{WHERE,result="hit"}[$__rate_interval])) / sum by (kind) (rate(jacquard_template_cache_requests_total{WHERE}[$__rate_interval]))`, "{{kind}}"}},
	{"Memory", "resident, with mapped pages of the binary; and what Go's collector cannot free", "bytes", false,
		[]string{`process_resident_memory_bytes{HERE} and on (namespace, job, instance) jacquard_build_info`, "{{instance}} resident",
			`go_gc_heap_live_bytes{HERE} + go_memstats_sys_bytes{HERE} - go_memstats_heap_sys_bytes{HERE} and on (namespace, job, instance) jacquard_build_info`,
			"{{instance}} needed"}},
	{"CPU", "", "short", false,
		[]string{`rate(process_cpu_seconds_total{HERE}[$__rate_interval]) and on (namespace, job, instance) jacquard_build_info`,
			"{{instance}}"}},
}

const here = `namespace=~"$namespace",job=~"$job"`

// exprs are the expressions of the dashboard.
func exprs() (all []string) {
	for _, p := range panels {
		for i := 0; i < len(p.exprs); i += 2 {
			all = append(all, filled(p.exprs[i]))
		}
	}
	return all
}

func filled(expr string) string {
	return strings.NewReplacer("WHERE", here+`,kind=~"$kind"`, "HERE", here).Replace(expr)
}

type object = map[string]any

// dashboard is what Grafana reads.
func dashboard() object {
	var drawn []any
	y := 0
	x := 0
	for i, p := range panels {
		width, height := 12, 8
		if p.stat {
			width, height = 6, 5
		}
		if x+width > 24 {
			x = 0
			y += 8
		}
		drawn = append(drawn, p.drawn(i+1, object{"x": x, "y": y, "w": width, "h": height}))
		x += width
	}
	return object{
		"title": "Jacquard", "uid": "jacquard", "tags": []string{"jacquard"}, "schemaVersion": 39, "editable": true,
		"time": object{"from": "now-6h", "to": "now"}, "refresh": "1m", "panels": drawn,
		"templating": object{"list": []any{
			object{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
			variable("namespace", "Namespace", `label_values(jacquard_build_info, namespace)`),
			variable("job", "Job", `label_values(jacquard_build_info{namespace=~"$namespace"}, job)`),
			variable("kind", "Kind", `label_values(jacquard_kind_served{`+here+`}, kind)`),
		}},
	}
}

func variable(name, label, query string) object {
	return object{
		"name": name, "label": label, "type": "query", "datasource": source, "query": object{"query": query, "refId": name}, "definition": query,
		"refresh": 2, "multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"}, "sort": 1,
	}
}

var source = object{"type": "prometheus", "uid": "${datasource}"}

func (p panel) drawn(id int, at object) object {
	var targets []any
	for i := 0; i < len(p.exprs); i += 2 {
		targets = append(targets, object{"refId": string(rune('A' + i/2)), "datasource": source, "expr": filled(p.exprs[i]),
			"legendFormat": p.exprs[i+1]})
	}
	kind := "timeseries"
	if p.stat {
		kind = "stat"
	}
	return object{
		"id": id, "type": kind, "title": p.title, "description": p.about, "datasource": source, "gridPos": at, "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []any{}},
	}
}

const dashboardFile = "../../../charts/jacquard/files/dashboard.json"

// TestDashboard: the chart's dashboard is this one; -update writes it.
func TestDashboard(t *testing.T) {
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(dashboard()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(dashboardFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the test makes of the metrics: go test ./engine/controller/metrics -run Dashboard -update", dashboardFile)
	}
}
