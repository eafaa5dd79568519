package reconcile

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// alertedReasons matches the reasons for which an alert looks.
var alertedReasons = regexp.MustCompile(`jacquard_resources_with_problem\{reason=~?"([^"]+)"\}`)

// TestRefusalPolicies: each cause has a policy. The label of one that is an answer of the API
// server stands in the description of the metric, and the reason of one that is denied has
// an alert: the metrics of waiting resources leave these out.
func TestRefusalPolicies(t *testing.T) {
	all := metrics.All()
	i := slices.IndexFunc(all, func(m metrics.Metric) bool { return m.Name == "jacquard_refusals_total" })
	if i < 0 {
		t.Fatal("there is no jacquard_refusals_total")
	}
	data, err := os.ReadFile("../../charts/jacquard/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var alerted []string
	for _, m := range alertedReasons.FindAllStringSubmatch(string(data), -1) {
		alerted = append(alerted, strings.Split(m[1], "|")...)
	}
	for cause := refusals.TryAgain; cause <= refusals.WrongScope; cause++ {
		policy, found := refusalPolicies[cause]
		switch {
		case !found || policy.reason == "":
			t.Errorf("refusalPolicies (refused.go) has no row, or none with a reason, for cause %d of engine/refusals", cause)
		case cause.IsAnswer() != (policy.label != ""):
			t.Errorf("cause %d has the label %q, and only what the API server answered has one", cause, policy.label)
		case cause.IsAnswer() && !strings.Contains(all[i].Description, "`"+policy.label+"`"):
			t.Errorf("the description of jacquard_refusals_total (engine/controller/metrics/all.go) does not name %q", policy.label)
		case (cause == refusals.Forbidden || cause.IsDenied()) && !slices.Contains(alerted, policy.reason):
			t.Errorf("no alert of charts/jacquard/files/alerts.yaml looks for the reason %s", policy.reason)
		}
	}
}
