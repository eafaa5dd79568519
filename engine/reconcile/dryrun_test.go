package reconcile

import (
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/observe"
)

// TestDryRunOfOtherHealth: a dry run names the children by which a resource that is ready
// becomes not ready, since the version judges them otherwise.
func TestDryRunOfOtherHealth(t *testing.T) {
	const stricter = "it is Done"
	changed := strings.Replace(widgetRules, "'Done'", "'Perfect'", 1)
	for name, c := range map[string]struct {
		phase, rules string
		want         []string
	}{
		"the same rules":                   {"Done", widgetRules, nil},
		"a rule that is also true":         {"Done", strings.Replace(widgetRules, "== 'Done'", "!= 'Broken'", 1), nil},
		"a stricter rule":                  {"Done", changed, []string{"Widget w: " + stricter}},
		"no rules, and no conditions":      {"Done", "", []string{"Widget w: it has no conditions yet"}},
		"a resource that is not ready yet": {"Busy", changed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"kind.yaml": widgetRules, "widget.yaml": oneWidget, "one.yaml": oneMap}
			w := newWidgets(t, files)
			w.after(0)
			w.reports(c.phase)
			w.after(statusGap)
			if files["kind.yaml"] = c.rules; c.rules == "" {
				delete(files, "kind.yaml")
			}
			w.folder(files)
			v := w.choice.Version
			v.Children, v.Patched = observe.Needs(v.Kind, nil, observe.APIs{Served: w.r.cluster.Served(), Defined: w.r.cluster.Defined})
			var got []string
			for _, child := range w.r.DryRun(t.Context(), v, w.server.Get(thingKind, "default", "a")).Unready {
				got = append(got, child.Kind+" "+child.Name+": "+child.Message)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
