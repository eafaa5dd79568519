package golden

import (
	"maps"
	"reflect"
)

// secretFields are the parts of a Secret that nobody is shown.
var secretFields = []string{"data", "stringData"}

func isSecret(o map[string]any) bool { return o["kind"] == "Secret" && o["apiVersion"] == "v1" }

func secretPath(o map[string]any, path []any) bool {
	return isSecret(o) && len(path) > 0 && (path[0] == secretFields[0] || path[0] == secretFields[1])
}

// maskWanted returns a wanted object without the values of a Secret.
func maskWanted(o, other map[string]any) map[string]any { return maskSecret(o, other, "*** (wanted)") }

// maskRendered returns a rendered object without the values of a Secret.
func maskRendered(o, other map[string]any) map[string]any {
	return maskSecret(o, other, "*** (rendered)")
}

// maskSecret returns an object without the values of a Secret. Each of them becomes ***, or the text
// differs where the other object has another value.
func maskSecret(o, other map[string]any, differs string) map[string]any {
	if !isSecret(o) {
		return o
	}
	out := maps.Clone(o)
	for _, field := range secretFields {
		values, ok := o[field].(map[string]any)
		if !ok {
			if _, there := o[field]; there {
				out[field] = "***"
			}
			continue
		}
		others, _ := other[field].(map[string]any)
		hidden := map[string]any{}
		for key, v := range values {
			hidden[key] = "***"
			if other != nil && !reflect.DeepEqual(unifyNumbers(v), unifyNumbers(others[key])) {
				hidden[key] = differs
			}
		}
		out[field] = hidden
	}
	return out
}
