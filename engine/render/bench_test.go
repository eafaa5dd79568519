package render_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// manyResources is how many resources the comparison goes through, no two of
// them alike.
const manyResources = 1024

// fast is how many times as fast as the usual way rendering must be.
const fast = 5

const shippedApp = "apps.app.huolala.cn"

// both are two ways to the children of the same resources.
type both struct {
	kind      *kind.Kind
	world     *catalog.World
	usual     *usual
	resources []*unstructured.Unstructured
}

func newBoth(t testing.TB, name string) *both {
	t.Helper()
	loaded, err := catalog.Load([]string{"../.."})
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := loaded.Cluster(nil, beside())
	if err != nil {
		t.Fatal(err)
	}
	b := &both{kind: loaded.Kinds[name]}
	if b.kind == nil {
		t.Fatal(loaded.Broken[name])
	}
	for i := range manyResources {
		b.resources = append(b.resources, resources[name](i))
	}
	b.world = cluster.For(b.kind, b.resources[0])
	b.usual = newUsual(t, name, b.world)
	return b
}

func (b *both) prepared(i int) ([]render.Child, error) {
	r, err := render.Children(context.Background(), b.kind, b.resources[i%manyResources], b.world)
	if err != nil {
		return nil, err
	}
	return r.Children, nil
}

func (b *both) text(i int) ([]*unstructured.Unstructured, error) {
	return b.usual.render(b.resources[i%manyResources])
}

// TestSameObjects proves that both ways of the benchmark do the same work.
func TestSameObjects(t *testing.T) {
	for name := range resources {
		t.Run(name, func(t *testing.T) { sameObjects(t, newBoth(t, name)) })
	}
}

func sameObjects(t *testing.T, b *both) {
	t.Helper()
	different := map[string]bool{}
	for i, resource := range b.resources {
		if problems := apiserver.Validate(b.kind.Version, resource.Object); len(problems) > 0 {
			t.Fatalf("resource %d is not valid: %v", i, problems)
		}
		children, err := b.prepared(i)
		if err != nil {
			t.Fatal(err)
		}
		var got []*unstructured.Unstructured
		for _, c := range children {
			got = append(got, c.Object)
		}
		want, err := b.text(i)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("resource %d: %s", i, diff)
		}
		different[fmt.Sprint(resource.Object["spec"])] = true
	}
	if len(different) < 1000 {
		t.Errorf("only %d of the resources differ", len(different))
	}
}

// TestRenderIsFaster compares both ways in rounds that take turns, so that
// whatever else the machine does hits both; the median of the ratios counts.
func TestRenderIsFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	b := newBoth(t, shippedApp)
	const rounds, perRound = 31, 256
	took := func(one func(i int) error, round int) time.Duration {
		start := time.Now()
		for i := range perRound {
			if err := one(round*perRound + i); err != nil {
				t.Fatal(err)
			}
		}
		return time.Since(start)
	}
	prepared := func(i int) error { _, err := b.prepared(i); return err }
	text := func(i int) error { _, err := b.text(i); return err }
	took(prepared, 0)
	took(text, 0)
	var ratios []float64
	for round := range rounds {
		ratios = append(ratios, float64(took(text, round))/float64(took(prepared, round)))
	}
	slices.Sort(ratios)
	median := ratios[rounds/2]
	t.Logf("rendering is %.1f times as fast as templates and YAML (%.1f to %.1f)", median, ratios[0], ratios[rounds-1])
	if median < fast {
		t.Errorf("the ratio %.2f is below %d", median, fast)
	}
}

// BenchmarkRender renders a block of resources of each shipped kind both ways,
// one after the other, so that each way collects its own garbage; "ratio" is how
// many times as fast as the usual way it is.
func BenchmarkRender(b *testing.B) {
	const block = 64
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		b.Run(name, func(b *testing.B) {
			both := newBoth(b, name)
			var text, prepared time.Duration
			for round := 0; b.Loop(); round++ {
				start := time.Now()
				for i := range block {
					if _, err := both.prepared(round*block + i); err != nil {
						b.Fatal(err)
					}
				}
				between := time.Now()
				for i := range block {
					if _, err := both.text(round*block + i); err != nil {
						b.Fatal(err)
					}
				}
				prepared, text = prepared+between.Sub(start), text+time.Since(between)
			}
			b.ReportMetric(float64(text)/float64(prepared), "ratio")
		})
	}
}

// BenchmarkUsual is the usual way alone.
func BenchmarkUsual(b *testing.B) {
	both := newBoth(b, shippedApp)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := both.text(i); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPrepared is rendering alone.
func BenchmarkPrepared(b *testing.B) {
	both := newBoth(b, shippedApp)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := both.prepared(i); err != nil {
			b.Fatal(err)
		}
	}
}

// perRender is how many allocations rendering App makes at most, which stays the same
// from run to run, as time does not.
const perRender = 260

// TestRenderAllocates counts them.
func TestRenderAllocates(t *testing.T) {
	both, i := newBoth(t, shippedApp), 0
	n := testing.AllocsPerRun(100, func() {
		if _, err := both.prepared(i); err != nil {
			t.Fatal(err)
		}
		i++
	})
	if t.Logf("%.0f allocations", n); n > perRender {
		t.Errorf("%.0f allocations, want at most %d", n, perRender)
	}
}
