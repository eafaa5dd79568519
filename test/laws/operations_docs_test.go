package laws

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const runbooks = "docs/operations/alerts-and-troubleshooting.md"

// TestAlertsHaveRunbooks: the address that an alert gives leads to a section of
// its own, and there is no section of an alert that there is not.
func TestAlertsHaveRunbooks(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `json:"alert"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(read(t, "charts/jacquard/files/alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	var alerts []string
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" { // it is recorded
				continue
			}
			if name := "### " + rule.Alert; !slices.Contains(alerts, name) { // one name may have several severities
				alerts = append(alerts, name)
			}
			_, address, _ := strings.Cut(rule.Annotations["runbook_url"], "/blob/main/")
			file, anchor, _ := strings.Cut(address, "#")
			if file != runbooks || !slices.Contains(anchors(t, runbooks), anchor) {
				t.Errorf("%s: its runbook_url, %q, leads nowhere", rule.Alert, address)
			}
		}
	}
	sections := heading.FindAllString(section(t, runbooks, "## Alerts"), -1)
	if len(alerts) == 0 || !slices.Equal(alerts, sections) {
		t.Errorf("%s: has sections of the alerts %v; there are %v", runbooks, sections, alerts)
	}
}

// TestAnchorsLead: a link into a document leads to one of its headings.
func TestAnchorsLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	n := 0
	for _, file := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(string(read(t, file)), -1) {
			target := file
			if m[1] != "" {
				target = path.Join(path.Dir(file), m[1])
			}
			if n++; !slices.Contains(anchors(t, target), m[2]) {
				t.Errorf("%s: links to #%s of %s, which has no such heading", file, m[2], target)
			}
		}
	}
	if n == 0 {
		t.Error("no document links into another: this test no longer understands links")
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#{1,6} .+$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names of a document's headings in links, as GitHub makes them.
func anchors(t *testing.T, file string) (all []string) {
	t.Helper()
	for _, line := range heading.FindAllString(fenced.ReplaceAllString(string(read(t, file)), ""), -1) {
		_, title, _ := strings.Cut(line, " ")
		title = dropped.ReplaceAllString(strings.ToLower(title), "")
		all = append(all, strings.ReplaceAll(title, " ", "-"))
	}
	return all
}

// TestStepsWork: no document has steps that mislead. The log of a Deployment may
// be that of the Pod that stands by; --reuse-values keeps the defaults of the
// chart before; and without an image of one's own nothing starts.
func TestStepsWork(t *testing.T) {
	for _, file := range files(t, ".md") {
		for _, wrong := range []string{"logs deployment/", " --reuse-values"} {
			if strings.Contains(string(read(t, file)), wrong) {
				t.Errorf("%s: says %q", file, wrong)
			}
		}
	}
	for _, m := range block.FindAllStringSubmatch(section(t, "docs/gitops.md", "## Installing the operator"), -1) {
		if strings.Contains(m[1], "charts/jacquard") && !strings.Contains(m[1], "repository: registry.example.org/jacquard") {
			t.Errorf("docs/gitops.md: names no image, and none is published:\n%s", m[1])
		}
	}
}
