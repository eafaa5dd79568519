package docs

import "github.com/jacquard-operator/jacquard/author/lint"

// generateClasses lists the classes of findings of jacquard lint.
func generateClasses(_, _ string) (string, error) {
	var rows [][]string
	for _, d := range lint.Classes {
		rows = append(rows, []string{"`" + string(d.Class) + "`", d.Mistake})
	}
	return formatTable([]string{"class", "what is wrong"}, rows...), nil
}
