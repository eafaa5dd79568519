package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// mark begins the comment in values.yaml that says what a value is.
	mark = "# -- "
	// heading begins the section of README.md that lists them; it is the last.
	heading = "\n## Values\n"
)

// withTable is a README whose last section lists the values, as values.yaml
// says what they are.
func withTable(readme, values []byte) ([]byte, error) {
	before, _, found := strings.Cut(string(readme), heading)
	if !found {
		return nil, fmt.Errorf("reading README.md: it has no section %q", strings.TrimSpace(heading))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(values, &doc); err != nil {
		return nil, fmt.Errorf("reading values.yaml: %w", err)
	}
	lines, err := tableRows("", doc.Content[0])
	if err != nil {
		return nil, err
	}
	return []byte(before + heading + "\n| value | default | |\n|---|---|---|\n" + strings.Join(lines, "")), nil
}

// tableRows returns lines of the table for the values in a map. prefix is the path of the map.
func tableRows(prefix string, values *yaml.Node) ([]string, error) {
	var all []string
	for i := 0; i+1 < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		name := prefix + key.Value
		_, about, marked := strings.Cut(key.HeadComment, mark)
		if !marked {
			if value.Kind != yaml.MappingNode || len(value.Content) == 0 {
				return nil, fmt.Errorf("values.yaml:%d: %s: say what it is by a comment `%s…`", key.Line, name, mark)
			}
			below, err := tableRows(name+".", value)
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
			continue
		}
		given, err := formatInline(value)
		if err != nil {
			return nil, fmt.Errorf("values.yaml:%d: %s: %w", key.Line, name, err)
		}
		about = strings.NewReplacer("\n# ", " ", "|", `\|`).Replace(about)
		all = append(all, fmt.Sprintf("| `%s` | `%s` | %s |\n", name, given, about))
	}
	return all, nil
}

// formatInline formats a default on one line.
func formatInline(node *yaml.Node) ([]byte, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
