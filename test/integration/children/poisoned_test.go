package children

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// poisons are what may be wrong with a resource, and what its Ready then says.
var poisons = map[string]string{
	"fails": "poison", "endless": "", "waits": "an antidote", "refused": "Invalid", "foreign": "ConfigMap", "swings": "Oscillating",
}

// poisonable is a folder by which a resource may choose its poison.
var poisonable = map[string]string{
	"map.yaml": config("", "{{ .spec.text }}"),
	"fails.yaml": "{{ if eq .spec.poison \"fails\" }}{{ fail \"poison\" }}{{ end }}\n" +
		"{{ if eq .spec.poison \"endless\" }}{{ range until 10000 }}{{ range until 10000 }}{{ end }}{{ end }}{{ end }}\n",
	"waits.yaml":   "{{ if eq .spec.poison \"waits\" }}{{ wait \"an antidote\" }}{{ end }}\n",
	"refused.yaml": "{{ if eq .spec.poison \"refused\" }}\n" + config("-refused", "{{ .spec.text }}") + "  \"no key!\": x\n{{ end }}\n",
	"foreign.yaml": "{{ if eq .spec.poison \"foreign\" }}\n" + config("-theirs", "{{ .spec.text }}") + "{{ end }}\n",
	"swings.yaml": "{{ if eq .spec.poison \"swings\" }}\n" + config("-swings", "{{ child \"swings\" | toJson | sha256sum }}") +
		"{{ end }}\n",
}

// healthy is how many resources of a kind have nothing, and each how many have
// each poison: one in fifty.
const healthy, each = 50, 1

// ward makes two kinds with the same folder and healthy resources, of which the
// second one has poisoned ones too, and an operator.
func ward(t testing.TB) (well, sick *thing) {
	t.Helper()
	well, sick = newThing(t, "well", poisonable), newThing(t, "sick", poisonable)
	for _, k := range []*thing{well, sick} {
		k.fields = "poison: {type: string, default: none}"
		k.writeCRD(t)
	}
	well.run(t, sick)
	for poison := range poisons {
		for i := range each {
			name := fmt.Sprint(poison, i)
			if poison == "foreign" {
				cluster.Apply(t, sick.ns, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"-theirs}}")
			}
			sick.apply(t, name, "poison: "+poison)
		}
	}
	for i := range healthy {
		well.apply(t, fmt.Sprint("r", i), "")
		sick.apply(t, fmt.Sprint("r", i), "")
	}
	for poison, because := range poisons {
		for i := range each {
			sick.says(t, fmt.Sprint(poison, i), "Ready", "False", because)
		}
	}
	well.follow(t, "hello")
	sick.follow(t, "hello")
	return well, sick
}

// follow waits until all healthy resources and their children have a text.
func (k *thing) follow(t testing.TB, text string) {
	t.Helper()
	kit.Eventually(t, "the healthy ones say "+text, func() error {
		for _, kind := range [][2]string{{"v1", "ConfigMap"}, {k.apiVersion(), "Thing"}} {
			n := 0
			for _, o := range cluster.List(t, kind[0], kind[1], client.InNamespace(k.ns)) {
				said, _, _ := unstructured.NestedString(o.Object, "data", "text")
				if isHealthy(o.GetName()) && (said == text || kit.IsCondition(&o, "Ready", "True", "") == nil) {
					n++
				}
			}
			if n != healthy {
				return fmt.Errorf("%d of %d of %s do", n, healthy, kind[1])
			}
		}
		return nil
	})
}

func isHealthy(name string) bool {
	return strings.HasPrefix(name, "r") && !strings.HasPrefix(name, "refused")
}

// turns are the turns that resources of a kind took since its operator started, by what
// came of them.
func turns(t testing.TB, kind string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "jacquard_reconciliations_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if labels := m.GetLabel(); labels[0].GetValue() == kind { // kind, result
				all[labels[1].GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	return all
}

// reconciliations is how many turns resources of a kind took.
func reconciliations(t testing.TB, kind string) (n float64) {
	t.Helper()
	for _, of := range turns(t, kind) {
		n += of
	}
	return n
}

// awaitReconciled waits until an operator that came up has looked at so many resources of
// a kind.
func awaitReconciled(t testing.TB, kind string, resources float64) {
	t.Helper()
	kit.Eventually(t, "the resources of "+kind+" are reconciled", func() error {
		if n := reconciliations(t, kind); n < resources {
			return fmt.Errorf("%v reconciliations, want %v", n, resources)
		}
		return nil
	})
}

// TestPoisoned: one resource in fifty has each of the poisons. The healthy
// ones cost just what those of a kind cost that has none, and none of them has to
// wait until poisoned ones were tried again and again.
func TestPoisoned(t *testing.T) {
	t.Parallel()
	well, sick := ward(t)
	before, looks, began, mark := turns(t, sick.name()), turns(t, well.name())["done"], time.Now(), cluster.Mark(t)
	for poison := range poisons { // they come first
		for i := range each {
			sick.apply(t, fmt.Sprint(poison, i), "text: new, poison: "+poison)
		}
	}
	for i := range healthy {
		well.apply(t, fmt.Sprint("r", i), "text: new")
		sick.apply(t, fmt.Sprint("r", i), "text: new")
	}
	well.follow(t, "new")
	sick.follow(t, "new")
	tries := float64(bits.Len(uint(time.Since(began)/time.Second)) + 3) // the waits double, from a second on
	tries += (turns(t, well.name())["done"] - looks) / healthy          // and each CRD of other tests is a turn of every resource
	sent := kit.Writes(cluster.Requests(t, mark))
	for _, k := range []*thing{well, sick} {
		n := map[string]int{}
		for _, r := range sent {
			if r.Namespace == k.ns && isHealthy(r.Name) {
				n[r.Verb+" "+r.Resource]++
			}
		}
		t.Logf("%s: the healthy ones took %v", k.group, n)
		if n["patch configmaps"] != healthy || n["patch things/status"] != healthy || len(n) != 2 {
			t.Errorf("%s: %d healthy resources took %v, want an apply and a status for each", k.group, healthy, n)
		}
	}
	after := turns(t, sick.name())
	t.Logf("turns of the kind with poisoned resources: %v, and before %v", after, before)
	for _, result := range []string{"failed", "stalled", "waiting"} {
		if n := after[result] - before[result]; n > tries*each*float64(len(poisons)) {
			t.Errorf("%v turns %s, want at most %v for each of the poisoned resources", n, result, tries)
		}
	}
}

// BenchmarkPoisoned compares how long healthy resources take to be served: the
// 99th percentile of a kind with poisoned resources by that of a kind with none.
func BenchmarkPoisoned(b *testing.B) {
	well, sick := ward(b)
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for at, k := range []*thing{well, sick} {
			for poison := range poisons {
				sick.apply(b, fmt.Sprint(poison, 0), fmt.Sprintf("poison: %s, text: b%d", poison, i))
			}
			name, text, began := fmt.Sprint("r", i%healthy), fmt.Sprint("b", i), time.Now()
			k.apply(b, name, "text: "+text)
			for said := ""; said != text; time.Sleep(2 * time.Millisecond) {
				if o, err := cluster.Get("v1", "ConfigMap", k.ns, name); err == nil {
					said, _, _ = unstructured.NestedString(o.Object, "data", "text")
				}
			}
			took[at] = append(took[at], time.Since(began))
		}
	}
	var p99 [2]time.Duration
	for at := range took {
		slices.SortFunc(took[at], cmp.Compare)
		p99[at] = took[at][len(took[at])*99/100]
	}
	b.ReportMetric(float64(p99[1])/float64(p99[0]), "p99-ratio")
}
