package watched

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// values are all series about a kind, without zeros, as name{label,…} → value:
// of a histogram, how much was observed.
func values(t *testing.T, kind string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), "jacquard_")
		for _, m := range f.GetMetric() {
			about, labels := "", []string{}
			for _, l := range m.GetLabel() {
				if l.GetName() == "kind" {
					about = l.GetValue()
				} else {
					labels = append(labels, l.GetValue())
				}
			}
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			if ours && about == kind && v != 0 {
				all[strings.TrimSuffix(name+" "+strings.Join(labels, ","), " ")] = v
			}
		}
	}
	return all
}

// only are the values of some metrics.
func only(all map[string]float64, names ...string) map[string]float64 {
	out := map[string]float64{}
	for key, v := range all {
		for _, name := range names {
			if key == name || strings.HasPrefix(key, name+" ") {
				out[key] = v
			}
		}
	}
	return out
}

// counts waits until metrics of the kind have these values, and no others.
func (k *thing) counts(what string, want map[string]float64, names ...string) {
	k.Helper()
	kit.Eventually(k, what, func() error {
		if diff := cmp.Diff(want, only(values(k.T, k.name()), names...)); diff != "" {
			return errors.New("(- want, + got)\n" + diff)
		}
		return nil
	})
}

type n = map[string]float64

// patch changes an object as a manager.
func (k *thing) patch(apiVersion, kind, name, manager, text string) {
	k.Helper()
	o := k.object(apiVersion, kind, name)
	if err := cluster.Client.Patch(k.Context(), o, client.RawPatch(types.MergePatchType, []byte(text)),
		client.FieldOwner(manager)); err != nil {
		k.Fatal(err)
	}
}

// TestCounts: what metrics say is what happened, from the first resource to the
// end of the kind. It runs alone: operators that have no folder of the kind say so in the
// metrics of the process.
func TestCounts(t *testing.T) {
	k := newThing(t, "counts.example.com", t.TempDir(), configMap)
	op := cluster.Run(t, install, k.root)
	k.served()
	k.counts("nothing but the kind is counted", n{"kind_served": 1, "folder_loads_total loaded": 1}, "kind_served", "folder",
		"folder_loads_total", "writes_total", "resources")
	mark := cluster.Mark(t)
	for _, name := range []string{"a", "b", "c"} {
		k.apply(name, "one")
	}
	k.ready("a", "b", "c")
	k.counts("three are created", n{"resources Ready": 3}, "resources", "resources_with_problem")
	k.writes(mark, n{"writes_total create": 3})

	k.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"data":{"text":"theirs"}}`)
	k.counts("drift is corrected", n{"drift_corrections_total kubectl-edit": 1, "writes_total create": 3, "writes_total update": 1},
		"drift_corrections_total", "writes_total create", "writes_total update")

	before := values(t, k.name())
	k.annotate(k.object(k.apiVersion(), "Thing", "a"), api.AnnotationReconcileAt, "now")
	kit.Eventually(t, "a look at what is as it should be", func() error { // events that come late may make for more looks
		if skipped := values(t, k.name())["applies_skipped_total"]; skipped <= before["applies_skipped_total"] {
			return fmt.Errorf("%v applies skipped, as before", skipped)
		}
		return nil
	})
	k.counts("turns that wrote to children: three creates and one update", n{"event_to_apply_duration_seconds": 4}, "event_to_apply_duration_seconds")

	k.annotate(k.object(k.apiVersion(), "Thing", "a"), api.AnnotationPaused, "true")
	k.apply("b", "bad")
	k.says("b", "Stalled", "not good")
	k.counts("one is paused and one stalled", n{"resources Ready": 2, "resources Paused": 1, "resources NotReady": 1, "resources Stalled": 1,
		"resources_with_problem RejectedByTemplate": 1},
		"resources", "resources_with_problem")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "c")
	k.counts("one is gone", n{"resources Ready": 1, "resources Paused": 1, "resources NotReady": 1, "resources Stalled": 1,
		"resources_with_problem RejectedByTemplate": 1},
		"resources", "resources_with_problem")

	op.Stop(t)
	if left := only(values(t, k.name()), "resources", "kind_served", "writes_total"); len(left) > 0 {
		t.Errorf("a stopped operator counts %v", left)
	}
	cluster.Run(t, install, k.root)
	k.counts("all are known after a restart, and none was written",
		n{"resources Ready": 1, "resources Paused": 1, "resources NotReady": 1, "resources Stalled": 1, "resources_with_problem RejectedByTemplate": 1},
		"resources", "resources_with_problem", "writes_total")

	k.annotate(k.crd(), api.AnnotationPaused, "true")
	k.counts("the kind is paused", n{"kind_paused": 1}, "kind_paused")
	k.annotate(k.crd(), api.AnnotationPaused, "")
	k.counts("it goes on", n{}, "kind_paused")
	k.write("{{ .spec.nonsense }}\n")
	// Both operators of this process have loaded it.
	k.counts("the folder is broken", n{"folder_invalid": 1, "folder_loads_total invalid": 1, "folder_loads_total loaded": 2}, "folder_invalid",
		"folder_loads_total")
	k.write(configMap)
	k.counts("the folder is mended", n{"folder_loads_total invalid": 1, "folder_loads_total loaded": 3}, "folder_invalid", "folder_loads_total")
	k.deleteCRD()
	k.left("the CRD is gone while its folder stays", n{"crd_deleted": 1, "kind_state CRDDeleted,Unhealthy": 1})
	if err := os.RemoveAll(filepath.Join(k.root, "templates", k.name())); err != nil {
		t.Fatal(err)
	}
	k.left("the folder is gone too", n{})
}

// left waits until these are all the values of the kind's metrics.
func (k *thing) left(what string, want map[string]float64) {
	k.Helper()
	kit.Eventually(k, what, func() error {
		if diff := cmp.Diff(want, values(k.T, k.name())); diff != "" {
			return errors.New("(- want, + got)\n" + diff)
		}
		return nil
	})
}

// writes compares the counted writes with those in the audit log since mark.
func (k *thing) writes(mark int64, children n) {
	k.Helper()
	kit.Eventually(k, "all writes are counted", func() error {
		statuses := 0.0
		for _, r := range kit.Writes(cluster.Requests(k, mark)) {
			if r.Namespace == k.ns && r.Resource == "things/status" && r.Code == 200 {
				statuses++
			}
		}
		got := only(values(k.T, k.name()), "writes_total create", "writes_total update", "writes_total delete", "writes_total status",
			"writes_total metadata")
		want := n{"writes_total status": statuses}
		for key, v := range children {
			want[key] = v
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("(- want, + got)\n" + diff)
		}
		return nil
	})
}
