package docs

import "github.com/jacquard-operator/jacquard/engine/controller/metrics"

// generateMetrics lists what the operator registers.
func generateMetrics(_, _ string) (string, error) {
	var rows [][]string
	for _, m := range metrics.All() {
		rows = append(rows, []string{"`" + m.Name + "`", m.Type, quoteNames(m.Labels), formatCell(m.Description)})
	}
	return formatTable([]string{"metric", "type", "labels", "meaning"}, rows...), nil
}
