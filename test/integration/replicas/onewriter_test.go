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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	division "github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A sort is a sort of kind: where its resources are, and where its children.
type sort struct {
	group string
	by    division.Key
	file  string // the template; NS stands for the namespace that all share
	kind  string // kind.yaml
}

func (s sort) crd() string {
	crd := kit.ThingCRD(s.group)
	if s.by == division.ByUID {
		crd = strings.Replace(crd, "scope: Namespaced", "scope: Cluster", 1)
	}
	return crd
}

func (s sort) name() string { return "things." + s.group }

// sorts are the sorts of kinds that replicas divide: a simple one, a cluster-scoped one,
// one with children in another namespace, one that reads across namespaces, and one that
// patches. Each child's name tells whose it is.
func sorts() []sort {
	const child = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '%s'%s}\ndata: {text: '{{ .spec.text }}'%s}\n"
	elsewhere := "children:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [NS]}\n"
	return []sort{
		{"simple.example.com", division.ByNamespace, fmt.Sprintf(child, "simple.{{ .metadata.name }}", "", ""), ""},
		{"global.example.com", division.ByUID, fmt.Sprintf(child, "global.{{ .metadata.name }}", ", namespace: NS", ""), elsewhere},
		{"elsewhere.example.com", division.ByNamespace,
			fmt.Sprintf(child, "elsewhere.{{ .metadata.name }}", ", namespace: NS", ""), elsewhere},
		{"reads.example.com", division.ByNamespace, fmt.Sprintf(child, "reads.{{ .metadata.name }}", "",
			", theme: '{{ (lookup \"v1\" \"ConfigMap\" \"NS\" \"theme\").data.color }}'"),
			"reads:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [NS], names: [theme]}\n"},
		{"patches.example.com", division.ByNamespace,
			"apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: default\n  annotations:\n    jacquard.dev/ownership: patch\n    text.example.com/{{ .metadata.name }}: '{{ .spec.text }}'\n", ""},
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
// the replica that the division names then. One that was cut off writes nothing but what
// was on its way; nothing is made twice, nothing deleted, and in the end all is served.
func TestOneWriter(t *testing.T) {
	for _, gate := range []bool{true, false} {
		t.Run("gate "+strconv.FormatBool(gate), func(t *testing.T) {
			c := cluster
			if !gate {
				c = kit.Start(t, "--nodes", "0", "--components", "etcd,apiserver,controller-manager")
			}
			oneWriter(t, c)
		})
	}
}

// A crowd is the resources of a fleet, and what is to be known of them.
type crowd struct {
	*fleet
	shared string
	spaces []string
	each   int
	uids   map[string]types.UID // of cluster-scoped ones, by name
}

func oneWriter(t *testing.T, c *kit.Cluster) {
	w := &crowd{shared: c.Namespace(t), each: 60, uids: map[string]types.UID{}}
	for range 15 {
		w.spaces = append(w.spaces, c.Namespace(t))
	}
	files := map[string]string{}
	for _, s := range sorts() {
		files["crds/"+s.name()+".yaml"] = s.crd()
		files["templates/"+s.name()+"/one.yaml"] = strings.ReplaceAll(s.file, "NS", w.shared)
		if s.kind != "" {
			files["templates/"+s.name()+"/kind.yaml"] = strings.ReplaceAll(s.kind, "NS", w.shared)
		}
		c.Apply(t, "", s.crd())
		t.Cleanup(func() { c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name()) })
		c.Served(t, s.group+"/v1", "Thing")
	}
	c.Apply(t, w.shared, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theme}, data: {color: red}}")
	w.fleet = newFleet(t, c, files)
	w.make()
	began := time.Now()
	l := w.watchDivision()
	for range 3 {
		w.hasten()
	}
	w.ready()
	stop := w.edits()
	w.shake(moments(t))
	stop()
	w.ready()
	w.settled(l)
	w.judge(l, began)
}

// hasten starts a replica whose Lease does not last long.
func (w *crowd) hasten() {
	w.start("--leader-elect-lease-duration", "4s", "--leader-elect-renew-deadline", "2500ms", "--leader-elect-retry-period", "500ms")
}

// in is the namespace of a resource of a kind, and its name.
func (w *crowd) in(s sort, i int) (namespace, name string) {
	if s.by != division.ByUID {
		namespace = w.spaces[i%len(w.spaces)]
	}
	return namespace, fmt.Sprintf("%s-%d", strings.Split(s.group, ".")[0], i)
}

func (w *crowd) make() {
	for _, s := range sorts() {
		for i := range w.each {
			namespace, name := w.in(s, i)
			w.cluster.Apply(w.T, namespace, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: %s}, spec: {text: first}}", s.group, name))
		}
	}
	for _, s := range sorts() {
		if s.by != division.ByUID {
			continue
		}
		for _, o := range w.cluster.List(w.T, s.group+"/v1", "Thing") {
			w.uids[o.GetName()] = o.GetUID()
		}
	}
}

func (w *crowd) ready() {
	w.Helper()
	for _, s := range sorts() {
		w.allReady(s.group+"/v1", "Thing", w.each)
	}
}

// edits edits resources until it is told to stop.
func (w *crowd) edits() (stop func()) {
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
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// shake kills, stops, ends and begins replicas, so many times.
func (w *crowd) shake(times int) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			seed = n
		}
	}
	w.Logf("CHAOS_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range times {
		var living []*replica
		for _, r := range w.replicas {
			if r.lives() {
				living = append(living, r)
			}
		}
		if len(living) == 0 {
			w.hasten()
			continue
		}
		one := living[random.IntN(len(living))]
		switch what := random.IntN(5); {
		case what == 0:
			one.end(syscall.SIGKILL)
		case what == 1 && len(living) > 1:
			one.end(syscall.SIGTERM)
		case what == 2 || what == 3:
			one.signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(3000+random.IntN(4000)) * time.Millisecond)
			one.signal(syscall.SIGCONT)
		}
		if len(living) < 4 && random.IntN(2) == 0 || len(living) < 2 {
			w.hasten()
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
}

// ownerOf is the resource whose child or patched object was written.
func (w *crowd) ownerOf(o written) (kind string, resource metav1.Object) {
	sortName, rest, _ := strings.Cut(o.ObjectRef.Name, ".")
	for _, s := range sorts() {
		if short, _, _ := strings.Cut(s.group, "."); o.ObjectRef.Resource == "configmaps" && short == sortName {
			_, number, _ := strings.Cut(rest, "-")
			i, err := strconv.Atoi(number)
			if err != nil {
				return "", nil
			}
			namespace, name := w.in(s, i)
			return s.name(), &metav1.ObjectMeta{Namespace: namespace, Name: name, UID: w.uids[name]}
		}
		if s.group == "patches.example.com" && o.ObjectRef.Resource == "serviceaccounts" {
			return s.name(), &metav1.ObjectMeta{Namespace: o.ObjectRef.Namespace}
		}
	}
	return "", nil
}

// judge compares what replicas wrote with what they served.
func (w *crowd) judge(l *timeline, began time.Time) {
	log := w.written(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	eras, accounts := l.eras, w.accounts(log)
	users := map[string]bool{}
	for _, user := range accounts {
		users[user] = true
	}
	writes, late := 0, map[string]int{}
	made := map[string]int{}
	for _, one := range log {
		kind, resource := w.ownerOf(one)
		if resource == nil || !users[one.User.Username] {
			continue
		}
		key := one.ObjectRef.Resource + " " + one.ObjectRef.Namespace + "/" + one.ObjectRef.Name
		switch {
		case one.Verb == "delete":
			w.Errorf("%s deleted %s", one.User.Username, key)
		case one.ResponseStatus.Code == 201:
			if made[key]++; made[key] > 1 {
				w.Errorf("%s was made again", key)
			}
		}
		writes++
		mine := false
		for _, e := range during(eras, one) {
			mine = mine || accounts[e.Owner(kind, resource)] == one.User.Username
		}
		if !mine {
			late[one.User.Username]++
			w.Logf("%s wrote %s at %s", one.User.Username, key, one.Received.Format("05.000"))
		}
	}
	w.Logf("%d writes by %d replicas under %d divisions; late: %v", writes, len(users), len(eras), late)
	for user, n := range late {
		if most := 4 * len(sorts()); n > most {
			w.Errorf("%s wrote %d times what another replica serves, at most %d may be on their way", user, n, most)
		}
	}
	if writes < 100 {
		w.Errorf("there were just %d writes: the test shows nothing", writes)
	}
}

// TestSuspended: a replica that stood still for longer than its Lease lasts, with much to
// write, writes nothing when it goes on.
func TestSuspended(t *testing.T) {
	t.Parallel()
	const group, n = "suspended.example.com", 80
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	var spaces []string
	for range 10 {
		spaces = append(spaces, cluster.Namespace(t))
	}
	edit := func(text string) {
		for i := range n {
			cluster.Apply(t, spaces[i%len(spaces)], fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {text: %q}}",
				group, i, text))
		}
	}
	edit("first")
	w := &crowd{fleet: f}
	w.hasten()
	w.hasten()
	f.awaitDivided(2)
	f.allReady(group+"/v1", "Thing", n)
	one := f.replicas[0]
	var editing sync.WaitGroup
	editing.Go(func() { edit("second") })
	time.Sleep(100 * time.Millisecond)
	one.signal(syscall.SIGSTOP)
	editing.Wait()
	f.awaitDivided(1)
	f.allReady(group+"/v1", "Thing", n)
	mark := cluster.Mark(t)
	one.signal(syscall.SIGCONT)
	<-one.gone // its Lease is gone
	f.replicas = f.replicas[:1]
	if late := f.writes(mark, "configmaps", "things/status"); len(late) > 0 {
		t.Errorf("it wrote %d times: %v", len(late), late[:min(5, len(late))])
	}
}
