package scale

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// The load of a hoster: in each second so many Websites are made, deleted, and get another
// text, and every so many seconds a Theme gets another color.
const (
	hosted      = 2000
	themes      = 40
	perSecond   = 8
	perTheme    = 2 * time.Second
	hosting     = time.Minute
	websiteName = "websites.hosting.example.com"
)

// TestWebhosting: how long Websites wait for a worker, and until their pages are as they
// should be, with one, two and four replicas.
func TestWebhosting(t *testing.T) {
	l := &load{T: t, buckets: replicas.Buckets, home: "webhosting", table: &table{}, spaces: namespaces(160),
		cluster: kit.Start(t, "--components", "etcd,apiserver", "--nodes", "0")}
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	l.root = filepath.Join(root, "examples", "kinds", "webhosting")
	for _, ns := range append(l.spaces, l.home) {
		l.cluster.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+ns+"}}")
	}
	for _, file := range []string{"schemas/themes.hosting.example.com.yaml", "crds/" + websiteName + ".yaml"} {
		text, err := os.ReadFile(filepath.Join(l.root, file))
		if err != nil {
			t.Fatal(err)
		}
		l.cluster.Apply(t, "", string(text))
	}
	l.cluster.Served(t, "hosting.example.com/v1", "Website")
	l.cluster.Served(t, "hosting.example.com/v1", "Theme")
	l.cluster.Grant(t, kit.User, controller.Options{Namespace: l.home, Identity: l.identity(), LeaderElectionNamespace: l.home, Buckets: l.buckets}, l.root)
	h := newHoster(l)
	l.table.add("replicas", "changes/s", "pages/s", "99 of 100 wait less for a worker", "the page is there after: median", "99 of 100", "CPU of all")
	l.table.add("---", "---", "---", "---", "---", "---", "---")
	for _, n := range []int{1, 2, 4} {
		h.measure(n)
	}
	l.write(fmt.Sprintf("Webhosting, %d Websites with %d Themes", hosted, themes))
}

// A hoster has Websites, and notes how long each change takes until its page is there.
type hoster struct {
	*load
	random *rand.Rand
	colors []string // of Themes

	mu     sync.Mutex
	sites  map[client.ObjectKey]*site
	waits  []time.Duration
	late   int // pages that are not as they should be
	number int // of Websites that were ever made
}

// A site is a Website: what its page must hold, and since when it does not.
type site struct {
	theme int
	text  string
	since time.Time
}

func newHoster(l *load) *hoster {
	h := &hoster{load: l, random: rand.New(rand.NewPCG(1, 2)), sites: map[client.ObjectKey]*site{}, colors: make([]string, themes)}
	for i := range themes {
		h.recolor(i, "#000")
	}
	h.follow()
	op := l.run()
	for range hosted {
		h.open()
	}
	h.quiet()
	op.stop()
	return h
}

// follow notes of each page that is written whether it is as it should be.
func (h *hoster) follow() {
	h.Helper()
	watching, err := client.NewWithWatch(h.cluster.Config, client.Options{})
	if err != nil {
		h.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	pages, err := watching.Watch(h.Context(), list, client.HasLabels{"app.kubernetes.io/instance"})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(pages.Stop)
	go func() {
		for event := range pages.ResultChan() {
			if o, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Deleted {
				h.written(o)
			}
		}
	}()
}

func (h *hoster) written(page *unstructured.Unstructured) {
	html, _, _ := unstructured.NestedString(page.Object, "data", "index.html")
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sites[client.ObjectKeyFromObject(page)]
	if s == nil || s.since.IsZero() || !strings.Contains(html, "<p>"+s.text+"</p>") || !strings.Contains(html, "color: "+h.colors[s.theme]+";") {
		return
	}
	h.waits = append(h.waits, time.Since(s.since))
	s.since = time.Time{}
	h.late--
}

// changes notes that a page must become different now. It needs the mutex.
func (h *hoster) changes(s *site) {
	if s.since.IsZero() {
		s.since = time.Now()
		h.late++
	}
}

func website(key client.ObjectKey) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("hosting.example.com/v1")
	o.SetKind("Website")
	o.SetNamespace(key.Namespace)
	o.SetName(key.Name)
	return o
}

// open makes a Website.
func (h *hoster) open() {
	h.mu.Lock()
	i := h.number
	h.number++
	s := &site{theme: i % themes, text: fmt.Sprint("text ", i)}
	key := client.ObjectKey{Namespace: h.spaces[i%len(h.spaces)], Name: fmt.Sprint("site-", i)}
	h.sites[key] = s
	h.changes(s)
	h.mu.Unlock()
	o := website(key)
	o.Object["spec"] = map[string]any{"theme": fmt.Sprint("theme-", s.theme), "title": "A site", "text": s.text}
	h.check(h.cluster.Client.Create(context.Background(), o))
}

// any is a Website at random, of which no page is late.
func (h *hoster) any() (client.ObjectKey, *site) {
	keys := slices.SortedFunc(maps.Keys(h.sites), func(a, b client.ObjectKey) int { return strings.Compare(a.Name, b.Name) })
	for {
		if key := keys[h.random.IntN(len(keys))]; h.sites[key].since.IsZero() {
			return key, h.sites[key]
		}
	}
}

// close deletes a Website.
func (h *hoster) close() {
	h.mu.Lock()
	key, _ := h.any()
	delete(h.sites, key)
	h.mu.Unlock()
	h.check(h.cluster.Client.Delete(context.Background(), website(key)))
}

// rewrite gives a Website another text.
func (h *hoster) rewrite(n int) {
	h.mu.Lock()
	key, s := h.any()
	s.text = fmt.Sprint("text again ", n)
	h.changes(s)
	h.mu.Unlock()
	h.check(h.cluster.Client.Patch(context.Background(), website(key), merge(`{"spec":{"text":%q}}`, s.text)))
}

// recolor gives a Theme another color, and so all its Websites other pages.
func (h *hoster) recolor(i int, color string) {
	h.mu.Lock()
	h.colors[i] = color
	for _, s := range h.sites {
		if s.theme == i {
			h.changes(s)
		}
	}
	h.mu.Unlock()
	theme := &unstructured.Unstructured{}
	theme.SetAPIVersion("hosting.example.com/v1")
	theme.SetKind("Theme")
	theme.SetName(fmt.Sprint("theme-", i))
	theme.Object["spec"] = map[string]any{"color": color}
	h.check(h.cluster.Client.Patch(context.Background(), theme, client.Apply, client.FieldOwner("hoster"))) //nolint:staticcheck // of an unstructured object
}

func merge(text string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, text, args...))
}

func (h *hoster) check(err error) {
	if err != nil {
		h.Error(err)
	}
}

// quiet waits until all pages are as they should be.
func (h *hoster) quiet() {
	h.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		h.mu.Lock()
		late := h.late
		h.mu.Unlock()
		if late == 0 {
			return
		}
		if time.Now().After(end) {
			h.Fatalf("%d pages are not as they should be", late)
		}
	}
}

// measure puts the load on so many replicas.
func (h *hoster) measure(n int) {
	h.Helper()
	var all []*operatorProcess
	var ports []int
	for range n {
		ports = append(ports, free(h.T))
		all = append(all, h.run("--metrics-secure=false", "--metrics-bind-address", fmt.Sprint("127.0.0.1:", ports[len(ports)-1])))
	}
	h.spread(len(h.sites), n)
	time.Sleep(10 * time.Second) // at rest
	h.mu.Lock()
	h.waits = nil
	h.mu.Unlock()
	cpu, waited, began := sum(all), h.waited(ports), time.Now()
	changes := h.work()
	h.quiet()
	took := time.Since(began).Seconds()
	used := (sum(all) - cpu).Seconds() / took
	longest := quantile(h.waited(ports), waited, 0.99)
	for _, op := range all {
		op.stop()
	}
	slices.Sort(h.waits)
	ms := func(q float64) string {
		return h.waits[int(q*float64(len(h.waits)-1))].Round(time.Millisecond).String()
	}
	h.table.add(strconv.Itoa(n), fmt.Sprintf("%.0f", float64(changes)/took), fmt.Sprintf("%.0f", float64(len(h.waits))/took),
		longest, ms(0.5), ms(0.99), fmt.Sprintf("%.2f cores", used))
}

// work is the load, for a while: all of it evenly. It returns how many changes it made.
func (h *hoster) work() (changes int) {
	var all sync.WaitGroup
	defer all.Wait()
	step, themeAt := time.Second/(3*perSecond), time.Now()
	for began := time.Now(); time.Since(began) < hosting; changes++ {
		if time.Since(themeAt) >= perTheme {
			themeAt = themeAt.Add(perTheme)
			changes++
			theme, color := h.random.IntN(themes), fmt.Sprintf("#%06x", h.random.IntN(1<<24))
			all.Go(func() { h.recolor(theme, color) })
		}
		kind, n := changes%3, h.number*100000+changes
		all.Go(func() {
			switch kind {
			case 0:
				h.open()
			case 1:
				h.close()
			default:
				h.rewrite(n)
			}
		})
		time.Sleep(time.Until(began.Add(time.Duration(changes+1) * step)))
	}
	return changes
}

// free is a free port of the loopback address.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// inQueue is a line of the metrics with how many Websites waited no longer than a bound.
var inQueue = regexp.MustCompile(`jacquard_queue_wait_duration_seconds_bucket\{kind="` + websiteName + `",le="([^"]*)"\} (\S+)`)

// waited are the buckets of the histogram of how long resources waited for a worker, by
// their upper bounds, over all replicas.
func (h *hoster) waited(ports []int) map[float64]float64 {
	h.Helper()
	all := map[float64]float64{}
	for _, port := range ports {
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", port))
		if err != nil {
			h.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			h.Fatal(err)
		}
		for _, found := range inQueue.FindAllSubmatch(text, -1) {
			bound, _ := strconv.ParseFloat(string(found[1]), 64)
			count, _ := strconv.ParseFloat(string(found[2]), 64)
			all[bound] += count
		}
	}
	return all
}

// quantile is the least upper bound below which are so many of what came between two
// readings of a histogram.
func quantile(after, before map[float64]float64, q float64) string {
	bounds := slices.Sorted(maps.Keys(after))
	if len(bounds) == 0 {
		return "?"
	}
	total := after[bounds[len(bounds)-1]] - before[bounds[len(bounds)-1]]
	for _, b := range bounds {
		if after[b]-before[b] >= q*total {
			return fmt.Sprint(time.Duration(b * float64(time.Second)))
		}
	}
	return "more"
}
