package docs

import "github.com/jacquard-operator/jacquard/engine/api"

// generateReasons lists the reasons of conditions and events.
func generateReasons(_, _ string) (string, error) {
	var rows [][]string
	for _, r := range api.Reasons {
		rows = append(rows, []string{"`" + r.Name + "`", r.About, r.Meaning, r.Remedy})
	}
	return formatTable([]string{"reason", "about", "meaning", "what to do"}, rows...), nil
}
