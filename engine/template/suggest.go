package template

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// nearest is the known name that a misspelt one most likely means, or "".
func nearest(name string, known []string) string { return schema.Suggest(name, known) }

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", name)
}

// isChildFile says whether a file of this name makes children.
func isChildFile(name string) bool { return name != "status" && !strings.HasPrefix(name, "_") }
