package api

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ParseKinds parses the recorded kinds of children: "kind.group", comma-separated.
func ParseKinds(text string) (kinds []schema.GroupKind) {
	for _, item := range strings.Split(text, ",") {
		if item != "" {
			kinds = append(kinds, schema.ParseGroupKind(item))
		}
	}
	return kinds
}
