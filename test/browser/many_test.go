package browser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// many is how many resources the page has to bear.
const many = 5000

// number is a whole number of the environment, or what it is without.
func number(t *testing.T, name string, without int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// herd makes 5,000 resources of a kind that somebody claims and nobody serves. Its status
// is no subresource, so that one request makes a resource that is Ready.
func herd(t *testing.T) *site {
	t.Helper()
	s := place(t)
	s.defines(strings.NewReplacer("    subresources: {status: {}}\n", "",
		"metadata: {name: ", "metadata: {annotations: {"+api.AnnotationOperator+": nobody/jacquard}, name: ").Replace(kit.WebCRD))
	numbers := make(chan int)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for n := range numbers {
				if err := cluster.Client.Create(context.Background(), s.one(n, "True")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range many {
		numbers <- n
	}
	close(numbers)
	all.Wait()
	return s
}

// one is a resource of the herd.
func (s *site) one(n int, ready string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": s.group + "/v1", "kind": "Web", "metadata": map[string]any{"namespace": s.namespace, "name": fmt.Sprintf("web-%04d", n)},
		"spec": map[string]any{"text": "hello"}, "status": status(ready),
	}}
}

func status(ready string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "Progressing",
		"message": fmt.Sprintf("Deployment web: %d of 1000 replicas are ready", rand.IntN(1000))}}}
}

// stir changes resources of the herd at random until the context ends, and returns how
// many it changed.
func (s *site) stir(ctx context.Context, each time.Duration) (changed int) {
	for tick := time.NewTicker(each); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return changed
		case <-tick.C:
		}
		o := s.one(rand.IntN(many), "")
		text := quoted(map[string]any{"status": status([]string{"True", "True", "True", "False"}[rand.IntN(4)])})
		if err := cluster.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(text))); err != nil && ctx.Err() == nil {
			s.Error(err)
			return changed
		}
		changed++
	}
}

// TestMany: with 5,000 resources that change all the time, no task of the page keeps it
// from answering for long, and its memory does not grow. BROWSER_MINUTES is how long;
// BROWSER_LONGEST_MS how long one task may take, on a machine that does nothing else (make
// browser-soak); without, it is only told, since on a busy one every task may wait.
func TestMany(t *testing.T) {
	browser := start(t)
	lasts := time.Duration(number(t, "BROWSER_MINUTES", 0)) * time.Minute
	lasts = max(lasts, 20*time.Second)
	longest := number(t, "BROWSER_LONGEST_MS", 0)
	s := herd(t)
	p := open(t, browser, ui(t))
	p.visit("#/resources")
	p.shows("5,000 resources")
	p.hides("reading …")
	must[any](p, `(window.tasks = [], new PerformanceObserver((list) => {
		for (const e of list.getEntries()) window.tasks.push(Math.round(e.duration))
	}).observe({ type: 'longtask' }))`)

	ctx, cancel := context.WithCancel(t.Context())
	changed := make(chan int, 1)
	go func() { changed <- s.stir(ctx, 40*time.Millisecond) }()
	p.uses(s) // what is kept once is there before the first measurement
	first := p.heap()
	heaps := []int{first}
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		p.uses(s)
		heaps = append(heaps, p.heap())
	}
	cancel()
	n := <-changed
	tasks := must[[]int](p, "window.tasks")
	over, most := 0, 0
	for _, ms := range tasks {
		most = max(most, ms)
		if longest > 0 && ms > longest {
			over++
		}
	}
	t.Logf("%d changes in %v; tasks of more than 50 ms: %d, the longest of %d ms; heap in KiB: %v", n, lasts, len(tasks), most, thinned(heaps))
	if over > 0 {
		t.Errorf("%d tasks took more than %d ms", over, longest)
	}
	if n < 100 {
		t.Errorf("there were only %d changes", n)
	}
	if last := heaps[len(heaps)-1]; last > first+first/4+4<<10 {
		t.Errorf("the heap grew from %d to %d KiB", first, last)
	}
}

// thinned is at most some twenty of many numbers.
func thinned(all []int) []int {
	var some []int
	for i := 0; i < len(all); i += len(all)/20 + 1 {
		some = append(some, all[i])
	}
	return append(some, all[len(all)-1])
}

// uses does with the page what people do: scrolls, searches, filters, looks around.
func (p *page) uses(s *site) {
	p.Helper()
	must[any](p, `(async () => {
		const list = document.querySelector('.grid')
		for (let at = 0; at <= list.scrollHeight; at += list.scrollHeight / 40) {
			list.scrollTop = at
			await new Promise(requestAnimationFrame)
		}
	})()`)
	p.click("#search", "")
	p.press("w", "e", "b", "-", "4", "9")
	p.shows("100 of 5,000 resources")
	p.click("button", "Clear")
	p.visit("#/resources?state=reconciling")
	p.shows("of 5,000 resources")
	p.visit("#/")
	p.shows("Ready", s.kind())
	p.visit("#/resources")
	p.shows("5,000 resources")
}

// heap is how much of the JavaScript heap is used after a collection, in KiB.
func (p *page) heap() int {
	p.Helper()
	call(p, performance.Enable, performance.EnableParams{})
	call(p, heapprofiler.CollectGarbage, cdp.Empty{})
	for _, m := range call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "JSHeapUsedSize" {
			return int(m.Value) / 1024
		}
	}
	p.Fatal("the browser does not tell of its heap")
	return 0
}
