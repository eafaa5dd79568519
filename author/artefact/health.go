package artefact

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// mergeRootHealth returns a templates/_lib/health.yaml for a root with these kinds, in
// which each uses the entries that it uses now; nil if they use none. It is an error if
// there can be no such file, since the kinds come from roots with different entries.
func mergeRootHealth(kinds []*kind.Kind) ([]byte, error) {
	var all []health.Entry
	for _, k := range kinds {
		for _, e := range k.RootEntries() {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	list, wrong := health.CompileList(all)
	for _, err := range wrong {
		return nil, fmt.Errorf("templates/_lib/health.yaml: two roots have different entries for %s", all[err.Index])
	}
	for _, k := range kinds {
		var now []health.Entry
		for _, rule := range list.Select(k.JudgedKinds()) {
			now = append(now, rule.Entry)
		}
		if !bytes.Equal(kind.WriteRootHealth(now), k.RootHealth()) {
			return nil, fmt.Errorf("templates/_lib/health.yaml: %s would get entries of another root", k.Name)
		}
	}
	return kind.WriteRootHealth(all), nil
}
