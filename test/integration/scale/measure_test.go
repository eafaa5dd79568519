package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A table is what was measured, in Markdown.
type table struct{ rows []string }

func (t *table) add(name string, cells ...any) {
	texts := []string{name}
	for _, c := range cells {
		texts = append(texts, fmt.Sprint(c))
	}
	t.rows = append(t.rows, "| "+strings.Join(texts, " | ")+" |")
}

// write prints the table, and appends it to the file that is asked for.
func (l *load) write(title string) {
	l.Helper()
	text := title + "\n\n" + strings.Join(l.table.rows, "\n") + "\n\n"
	l.Log("\n" + text)
	name := os.Getenv("JACQUARD_SCALE_OUT")
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		l.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		l.Error(err)
	}
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func (l *load) things() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: l.group, Version: "v1", Resource: "things"}
}

// served counts the resources whose status says what became of them as they are
// now.
func (l *load) served() int {
	l.Helper()
	n := 0
	for opts := (metav1.ListOptions{Limit: 2000}); ; {
		list, err := l.objects.Resource(l.things()).List(context.Background(), opts)
		if err != nil {
			l.Fatal(err)
		}
		for i := range list.Items {
			if isServed(&list.Items[i]) {
				n++
			}
		}
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return n
		}
	}
}

func isServed(o *unstructured.Unstructured) bool {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	return observed == o.GetGeneration() &&
		slices.ContainsFunc([]string{"True", "False"}, func(s string) bool { return kit.IsCondition(o, "Ready", s, "") == nil })
}

// fastest is how many resources a second are surely not served: looking costs
// the API server time that the operator is to have.
const fastest = 200

// patience is how long nothing may happen.
const patience = 3 * time.Minute

// await waits until so many resources are served.
func (l *load) await(n int) {
	l.Helper()
	for end, least := time.Now().Add(patience), n; ; {
		left := n - l.served()
		if left == 0 {
			return
		}
		if left < least {
			end, least = time.Now().Add(patience), left
		}
		if time.Now().After(end) {
			l.Fatalf("%d of %d resources are not served", left, n)
		}
		time.Sleep(max(300*time.Millisecond, time.Duration(left)*time.Second/fastest))
	}
}

// change changes a resource and says how long it takes until its child has
// changed.
func (l *load) change(name, text string) time.Duration {
	l.Helper()
	patch := fmt.Sprintf(`{"spec":{"text":%q}}`, text)
	began := time.Now()
	if _, err := l.objects.Resource(l.things()).Namespace(l.spaces[0]).Patch(context.Background(), name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		l.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(max(2*time.Millisecond, time.Since(began)/100)) {
		o, err := l.objects.Resource(configMaps).Namespace(l.spaces[0]).Get(context.Background(), name+"-one", metav1.GetOptions{})
		if err != nil {
			l.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(o.Object, "data", "text"); got == text {
			return time.Since(began)
		}
	}
	l.Fatal(errors.New("the child does not change"))
	return 0
}

// median is the time of a change, of eleven.
func (l *load) median(mark string) time.Duration {
	l.Helper()
	var all []time.Duration
	for i := range 11 {
		all = append(all, l.change(fmt.Sprintf("r%05d", i*7), fmt.Sprint(mark, i)))
	}
	slices.Sort(all)
	return all[5].Round(time.Millisecond)
}

// tally says which requests were sent, for each resource that there is.
func (l *load) tally(mark int64, n int) (all map[string]int, each string) {
	l.Helper()
	all = kit.Tally(l.cluster.Requests(l, mark))
	total := 0
	for _, n := range all {
		total += n
	}
	return all, fmt.Sprintf("%.3f", float64(total)/float64(n))
}

// atRest is the share of one processor that the operator takes for a while.
func (p *operatorProcess) atRest() string {
	const long = 20 * time.Second
	before := p.cpu()
	time.Sleep(long)
	return fmt.Sprintf("%.2f %%", 100*float64(p.cpu()-before)/float64(long))
}

// grow measures with more and more resources.
func (l *load) grow(t *testing.T, title string) {
	l.table.add("resources", "served in", "resources/s", "requests for each", "memory", "its peak", "heap", "CPU at rest", "a change",
		"restart: ready in", "its memory", "its peak", "its writes")
	l.table.add("---", slices.Repeat([]any{"---"}, 12)...)
	before := 0
	for _, n := range sizes(t) {
		l.make(before, n)
		mark := l.cluster.Mark(t)
		op := l.run()
		l.await(n)
		took := time.Since(op.began)
		all, each := l.tally(mark, n-before)
		t.Logf("%d: %v", n, all)
		rest := op.atRest()
		now, peak, heap := op.memory()
		change := l.median(fmt.Sprint("v", n))
		l.await(n) // else the last status would be written after the restart
		op.stop()

		mark = l.cluster.Mark(t)
		op = l.run()
		l.change("r00001", fmt.Sprint("again", n))
		back := time.Since(op.began)
		time.Sleep(20 * time.Second) // at rest
		again, _ := l.tally(mark, n)
		t.Logf("%d, after a restart: %v", n, again)
		sent := kit.Writes(l.cluster.Requests(t, mark))
		writes := len(sent) - 3 // two children and a status, for the change
		if writes != 0 {
			t.Logf("more was written than the change wants: %v", sent)
		}
		nowAgain, peakAgain, _ := op.memory()
		op.stop()
		l.table.add(fmt.Sprint(n), took.Round(100*time.Millisecond), fmt.Sprintf("%.0f", float64(n-before)/took.Seconds()), each,
			mib(now), mib(peak), mib(heap), rest, change, back.Round(100*time.Millisecond), mib(nowAgain), mib(peakAgain), writes)
		before = n
	}
	l.write(title)
}

func mib(n float64) string { return fmt.Sprintf("%.0f MiB", n) }

// TestConfigMaps: two ConfigMaps for each resource, of which metadata is kept.
func TestConfigMaps(t *testing.T) {
	l := newLoad(t, "maps", map[string]string{"one.yaml": fmt.Sprintf(configMap, "one"), "two.yaml": fmt.Sprintf(configMap, "two")})
	l.grow(t, "Two ConfigMaps for each resource")
}

// TestDeployments: a ConfigMap and a Deployment for each resource; of the
// Deployment is kept what readiness is judged by.
func TestDeployments(t *testing.T) {
	l := newLoad(t, "deployments", map[string]string{"one.yaml": fmt.Sprintf(configMap, "one"), "deployment.yaml": deployment})
	l.grow(t, "A ConfigMap and a Deployment for each resource")
}

// TestWorkers: what more workers, and no limit of requests, bring.
func TestWorkers(t *testing.T) {
	n := sizes(t)[0]
	l := newLoad(t, "workers", map[string]string{"one.yaml": fmt.Sprintf(configMap, "one"), "two.yaml": fmt.Sprintf(configMap, "two")})
	l.table.add("flags", "served in", "resources/s")
	l.table.add("---", "---", "---")
	for i, flags := range []string{"--workers=1", "--workers=4", "--workers=16", "--workers=16 --kube-api-qps=-1",
		"--workers=64 --kube-api-qps=-1"} {
		l.make(i*n, (i+1)*n)
		op := l.run(strings.Fields(flags)...)
		l.await((i + 1) * n)
		took := time.Since(op.began)
		op.stop()
		l.table.add("`"+flags+"`", took.Round(100*time.Millisecond), fmt.Sprintf("%.0f", float64(n)/took.Seconds()))
	}
	l.write(fmt.Sprintf("%d new resources each time, with those before at rest", n))
}
