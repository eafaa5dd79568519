package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	division "github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A sort is a sort of kind: where its resources are, and where its children.
type sort struct {
	group string
	scope string // of its resources
	// together: all resources are in the namespace that all share.
	together bool
	file     string // the template; NS stands for that namespace
	kind     string // kind.yaml
}

func (s sort) crd() string {
	return strings.Replace(kit.ThingCRD(s.group), "scope: Namespaced", "scope: "+s.scope, 1)
}

func (s sort) name() string { return "things." + s.group }

// short is how the names of its resources and children begin.
func (s sort) short() string { return strings.Split(s.group, ".")[0] }

// sorts are the sorts of kinds that replicas divide: a simple one, a cluster-scoped one,
// one with children in another namespace, one that reads across namespaces, one with all
// resources in one namespace, and one that patches. Each child's name tells whose it is.
func sorts() []sort {
	child := func(short, where, more string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '%s.{{ .metadata.name }}'%s, labels: {version: VERSION}}\n"+
			"data: {text: '{{ .spec.text }}'%s}\n", short, where, more)
	}
	elsewhere := "children:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [NS]}\n"
	return []sort{
		{group: "simple.example.com", scope: "Namespaced", file: child("simple", "", "")},
		{group: "global.example.com", scope: "Cluster", file: child("global", ", namespace: NS", ""), kind: elsewhere},
		{group: "elsewhere.example.com", scope: "Namespaced", file: child("elsewhere", ", namespace: NS", ""), kind: elsewhere},
		{group: "reads.example.com", scope: "Namespaced",
			file: child("reads", "", ", theme: '{{ (lookup \"v1\" \"ConfigMap\" \"NS\" \"theme\").data.color }}'"),
			kind: "reads:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [NS], names: [theme]}\n"},
		{group: "uid.example.com", scope: "Namespaced", together: true, file: child("uid", "", ""), kind: "shardBy: uid\n"},
		{group: "patches.example.com", scope: "Namespaced",
			file: "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: default\n  annotations:\n    jacquard.dev/ownership: patch\n" +
				"    text.example.com/{{ .metadata.name }}: '{{ .spec.text }}'\n"},
	}
}

// moments is how often something happens to a replica.
func moments(t *testing.T) int {
	text := os.Getenv("REPLICAS_MOMENTS")
	if text == "" {
		return 8
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("REPLICAS_MOMENTS: %v", err)
	}
	return n
}

// TestOneWriter: whatever happens to replicas while people edit, each object is written by
// the replica that the division names then. One that was killed, stood still or was cut off
// writes nothing but what was on its way, and one that ends in order not even that; nothing
// is made twice, nothing deleted, and in the end all is served.
func TestOneWriter(t *testing.T) {
	kit.Nightly(t, "chaos-replicas")
	t.Parallel()
	w, l, began := gather(t, cluster)
	stop := w.edits(10 * time.Millisecond)
	w.shake(moments(t))
	w.roll()
	stop()
	w.ready()
	w.awaitDivided(2)
	w.settled(l)
	w.judge(l, began)
}

// A crowd is the resources of a fleet, and what is to be known of them.
type crowd struct {
	*fleet
	shared string
	spaces []string
	each   int
	uids   map[string]types.UID // by kind and name
	events []event
}

// TestTakesOver measures how long a bucket has no owner when a replica is killed, or ends
// in order, while nothing happens to the others: a fifth as often as other things happen in
// TestOneWriter. It is not parallel, since it measures, and has the kinds of that one.
func TestTakesOver(t *testing.T) {
	kit.Nightly(t, "chaos-replicas")
	w, l, began := gather(t, cluster)
	stop := w.edits(200 * time.Millisecond)
	for i := range moments(t) / 5 {
		w.awaitDivided(3)
		one, how, signal := w.living()[i%3], "killed", syscall.SIGKILL
		if i%4 == 3 {
			how, signal = "ended", syscall.SIGTERM
		}
		w.happens(one, how, how == "ended")
		one.end(signal)
		w.awaitOwners(2)
		w.hasten()
	}
	w.awaitDivided(3)
	stop()
	w.ready()
	w.settled(l)
	w.judge(l, began)
}

// gather makes the resources and three replicas that serve them, and follows the division
// from before.
func gather(t *testing.T, c *kit.Cluster) (w *crowd, l *timeline, began time.Time) {
	t.Helper()
	w = &crowd{shared: c.Namespace(t), each: 60, uids: map[string]types.UID{}}
	if moments(t) >= 100 {
		w.each = 100
	}
	for range 15 {
		w.spaces = append(w.spaces, c.Namespace(t))
	}
	for _, s := range sorts() {
		c.Apply(t, "", s.crd())
		t.Cleanup(func() { removeKind(t, c, s) })
		c.Served(t, s.group+"/v1", "Thing")
	}
	c.Apply(t, w.shared, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theme}, data: {color: red}}")
	w.fleet = newFleet(t, c, w.files("one"))
	w.make()
	began = time.Now()
	l = w.watchDivision()
	for range 3 {
		w.hasten()
	}
	w.ready()
	return w, l, began
}

// removeKind removes a kind and its resources, which no operator does any more: the next test
// has the same kinds.
func removeKind(t *testing.T, c *kit.Cluster, s sort) {
	const definitions, definition = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	c.Delete(t, definitions, definition, "", s.name())
	kit.Eventually(t, s.name()+" is gone", func() error {
		left := &unstructured.UnstructuredList{}
		left.SetAPIVersion(s.group + "/v1")
		left.SetKind("ThingList")
		_ = c.Client.List(context.Background(), left) // it may be gone by now
		for i := range left.Items {
			release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := c.Client.Patch(context.Background(), &left.Items[i], release); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return c.Gone(definitions, definition, "", s.name())
	})
}

// files are the folders, in a version.
func (w *crowd) files(version string) map[string]string {
	files := map[string]string{}
	for _, s := range sorts() {
		files["crds/"+s.name()+".yaml"] = s.crd()
		in := strings.NewReplacer("NS", w.shared, "VERSION", version)
		files["templates/"+s.name()+"/one.yaml"] = in.Replace(s.file)
		files["templates/"+s.name()+"/kind.yaml"] = in.Replace(s.kind) + "rollout: {waves: [50%]}\n"
	}
	return files
}

// hasten starts a replica whose Lease does not last long.
func (w *crowd) hasten() {
	w.start("--leader-elect-lease-duration", "4s", "--leader-elect-renew-deadline", "2500ms", "--leader-elect-retry-period", "500ms")
}

// in is the namespace of a resource of a kind, and its name.
func (w *crowd) in(s sort, i int) (namespace, name string) {
	switch {
	case s.together:
		namespace = w.shared
	case s.scope == "Namespaced":
		namespace = w.spaces[i%len(w.spaces)]
	}
	return namespace, fmt.Sprintf("%s-%d", s.short(), i)
}

func (w *crowd) make() {
	for _, s := range sorts() {
		w.cluster.Served(w.T, s.group+"/v1", "Thing")
		for i := range w.each {
			namespace, name := w.in(s, i)
			w.cluster.Apply(w.T, namespace, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: %s}, spec: {text: first}}", s.group, name))
		}
		for _, o := range w.cluster.List(w.T, s.group+"/v1", "Thing") {
			w.uids[s.name()+o.GetName()] = o.GetUID()
		}
	}
}

// man has n replicas run at least: one that could not renew its Lease, as the machine had
// no time for it, has ended.
func (w *crowd) man(n int) {
	for len(w.living()) < n {
		w.hasten()
	}
}

// awaitOwners waits until n replicas have all buckets, even if the leader serves some
// kinds alone.
func (w *crowd) awaitOwners(n int) {
	w.Helper()
	w.await(n, "own all buckets", w.owned)
}

// awaitDivided waits until n replicas divide all.
func (w *crowd) awaitDivided(n int) {
	w.Helper()
	w.await(n, "divide all", w.divided)
}

func (w *crowd) await(n int, what string, is func(int) (division.Division, error)) {
	w.Helper()
	kit.Eventually(w.T, fmt.Sprintf("%d replicas %s", n, what), func() error {
		w.man(n)
		_, err := is(n)
		return err
	})
}

// ready waits until all resources are ready.
func (w *crowd) ready() {
	w.Helper()
	for _, s := range sorts() {
		kit.Eventually(w.T, "all resources of "+s.name()+" are ready", func() error {
			w.man(1)
			return w.unready(s.group+"/v1", "Thing", w.each)
		})
	}
}

// edits edits resources, with a pause after each, until it is told to stop.
func (w *crowd) edits(pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for worker := range 2 {
		random := rand.New(rand.NewPCG(uint64(worker), 7))
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s := sorts()[random.IntN(len(sorts()))]
				o := &unstructured.Unstructured{}
				o.SetAPIVersion(s.group + "/v1")
				o.SetKind("Thing")
				namespace, name := w.in(s, random.IntN(w.each))
				o.SetNamespace(namespace)
				o.SetName(name)
				patch := fmt.Sprintf(`{"spec":{"text":"edit-%d-%d"}}`, worker, n)
				if err := w.cluster.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil && ctx.Err() == nil {
					w.Error(err)
				}
				time.Sleep(pause)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}
