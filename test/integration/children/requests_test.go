package children

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNewResource: n creates, and one status for every status that a person
// could see.
func TestNewResource(t *testing.T) {
	t.Parallel()
	group := "new.example.com"
	ns := cluster.Namespace(t)
	op := cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	op.AwaitQuiet(t)
	count := statuses(t, group, ns, "a")
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", "replicas: 2"))
	ready(t, group, ns, "a")
	op.AwaitQuiet(t)
	got := op.Requests(t, mark)
	report(t, fmt.Sprintf("a new resource with %d children", children), got)
	tally := kit.Tally(got)
	creates := tally["patch deployments"] + tally["patch services"] + tally["patch configmaps"] + tally["patch secrets"]
	if creates != children {
		t.Errorf("%d creates, want %d", creates, children)
	}
	if seen := count(); tally["patch webs/status"] != seen || seen == 0 {
		t.Errorf("%d status requests for %d different statuses", tally["patch webs/status"], seen)
	}
	if len(got) != creates+tally["patch webs/status"] {
		t.Errorf("other requests: %v", got)
	}
}

// TestNewResourceWithPassword: whether a password was drawn already is read once,
// and before anything is written.
func TestNewResourceWithPassword(t *testing.T) {
	t.Parallel()
	group := "drawn.example.com"
	ns := cluster.Namespace(t)
	dir := root(t, group, "deployment.yaml", "service.yaml", "status.yaml")
	kit.Write(t, dir, map[string]string{"templates/webs." + group +
		"/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}\nstringData:\n  password: {{ stable \"secret\" \"password\" 24 }}\n"})
	op := cluster.Run(t, install, dir)
	cluster.Served(t, group+"/v1", "Web")
	op.AwaitQuiet(t)
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	ready(t, group, ns, "a")
	op.AwaitQuiet(t)
	got := op.Requests(t, mark)
	report(t, "a new resource with 2 children, one of them with a password", got)
	if len(got) != 1+2+1 || got[0].Verb != "get" || got[0].Resource != "secrets" || kit.Tally(got)["patch webs/status"] != 1 {
		t.Errorf("%v, want 1 read, then 2 creates and 1 status", got)
	}
}

// atRest makes a resource of a group, which comes to rest.
func atRest(t *testing.T, group string) (op *kit.Operator, ns string) {
	t.Helper()
	ns = cluster.Namespace(t)
	op = cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	ready(t, group, ns, "a")
	op.AwaitQuiet(t)
	return op, ns
}

// TestAtRest: nothing is sent at rest, nor when every child's status changes in
// a way that our status does not tell.
func TestAtRest(t *testing.T) {
	t.Parallel()
	group := "rest.example.com"
	op, ns := atRest(t, group)
	mark, looks := cluster.Mark(t), reconciliations(t, "webs."+group)
	for i := range 10 {
		touchStatus(t, ns, "a", i)
	}
	kit.Eventually(t, "the operator has seen it", func() error {
		if n := reconciliations(t, "webs."+group); n == looks {
			return fmt.Errorf("%v reconciliations", n)
		}
		return nil
	})
	op.AwaitQuiet(t)
	got := op.Requests(t, mark)
	report(t, "at rest, every child's status touched 10 times", got)
	if len(got) != 0 {
		t.Errorf("%v", got)
	}
	// The proof can fail: one request put in is seen.
	extra, err := client.New(op.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	if err := extra.Get(context.Background(), types.NamespacedName{Namespace: ns, Name: "a"}, o); err != nil {
		t.Fatal(err)
	}
	if got := op.Requests(t, mark); len(got) != 1 {
		t.Errorf("one extra request was sent and the log shows %v", got)
	}
}

// TestMinuteAtRest: nothing that goes by the clock sends anything within a minute.
func TestMinuteAtRest(t *testing.T) {
	kit.Nightly(t, "integration")
	t.Parallel()
	op, _ := atRest(t, "minute.example.com")
	mark := cluster.Mark(t)
	time.Sleep(time.Minute)
	if got := op.Requests(t, mark); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// touchStatus changes statuses without changing what ours says.
func touchStatus(t *testing.T, ns, name string, i int) {
	t.Helper()
	for kind, patch := range map[string]string{
		"Deployment": fmt.Sprintf(`{"status":{"conditions":[{"type":"Touched","status":"True","reason":"Test%d"}]}}`, i),
		"Service":    fmt.Sprintf(`{"status":{"conditions":[{"type":"Touched","status":"True","reason":"Test%d","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, i),
	} {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(map[string]string{"Deployment": "apps/v1", "Service": "v1"}[kind])
		o.SetKind(kind)
		o.SetNamespace(ns)
		o.SetName(name)
		if err := cluster.Client.Status().Patch(context.Background(), o,
			client.RawPatch(types.StrategicMergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestartSendsNothing: an operator that comes up over 60 converged resources writes
// nothing and reads nothing but its informers' lists.
func TestRestartSendsNothing(t *testing.T) {
	t.Parallel()
	groups := []string{"restart.example.com", "restart-too.example.com"} // their children are of the same kinds
	ns := cluster.Namespace(t)
	dir := root(t, groups[0], "deployment.yaml", "status.yaml")
	if err := os.CopyFS(dir, os.DirFS(root(t, groups[1], "deployment.yaml", "status.yaml"))); err != nil {
		t.Fatal(err)
	}
	first := cluster.Run(t, install, dir)
	const many = 60
	for i, group := range groups {
		cluster.Served(t, group+"/v1", "Web")
		var names []string
		for n := range many / len(groups) {
			names = append(names, fmt.Sprintf("%c%d", 'a'+i, n))
			cluster.Apply(t, ns, web(group, ns, names[n], ""))
		}
		ready(t, group, ns, names...)
	}
	first.AwaitQuiet(t)
	first.Stop(t)
	mark := cluster.Mark(t)
	again := cluster.Run(t, nil, dir)
	for _, group := range groups {
		awaitReconciled(t, "webs."+group, many/2)
	}
	again.AwaitQuiet(t)
	got := again.Requests(t, mark)
	report(t, fmt.Sprintf("restart over %d converged resources", many), got)
	if writes := kit.Writes(got); len(writes) != 0 {
		t.Errorf("writes: %v", writes)
	}
	lists := map[string]int{}
	for _, r := range got {
		if r.Verb != "list" {
			t.Errorf("a read besides the informers' lists: %v", r)
		}
		lists[r.Resource+"."+r.Group]++
	}
	for resource, n := range lists {
		if n > 1 {
			t.Errorf("%s listed %d times", resource, n)
		}
	}
}

// TestRolloutOfChild: what a controller takes its time for is one apply, and one
// status for every status that a person could see.
func TestRolloutOfChild(t *testing.T) {
	t.Parallel()
	group := "image.example.com"
	ns := cluster.Namespace(t)
	op := cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, web(group, ns, "a", "replicas: 2"))
	ready(t, group, ns, "a")
	op.AwaitQuiet(t)
	count := statuses(t, group, ns, "a")
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", "replicas: 2, image: other"))
	kit.Eventually(t, "its status is written twice", func() error {
		if n := kit.Tally(op.Requests(t, mark))["patch webs/status"]; n < 2 {
			return fmt.Errorf("%d times", n)
		}
		return nil
	})
	ready(t, group, ns, "a")
	op.AwaitQuiet(t)
	got := op.Requests(t, mark)
	report(t, "a changed image of one of four children, with controllers", got)
	tally := kit.Tally(got)
	if seen := count() - 1; tally["patch deployments"] != 1 || tally["patch webs/status"] != seen || len(got) != 1+seen {
		t.Errorf("%v, want 1 apply, and a status for each of %d new ones", got, seen)
	}
}

// TestForeign: one refused create and one read of metadata for each look, and the
// object's bytes are as they were.
func TestForeign(t *testing.T) {
	t.Parallel()
	group := "foreign.example.com"
	ns := cluster.Namespace(t)
	op := cluster.Run(t, install, root(t, group, "deployment.yaml", "service.yaml", "secret.yaml", "status.yaml"))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {theirs: x}\n")
	before, err := cluster.Get("v1", "ConfigMap", ns, "a")
	if err != nil {
		t.Fatal(err)
	}
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	kit.Eventually(t, "the resource is told", func() error {
		o, err := cluster.Get(group+"/v1", "Web", ns, "a")
		if err != nil {
			return err
		}
		return kit.IsCondition(o, "Ready", "False", "ConfigMap "+ns+"/a")
	})
	op.AwaitQuiet(t)
	var got []kit.Request
	kit.Eventually(t, "no look is half done", func() error {
		got = op.Requests(t, mark)
		if tally := kit.Tally(got); tally["get configmaps"] != tally["patch configmaps"] {
			return fmt.Errorf("%v, want one read for each refused create", got)
		}
		return nil
	})
	report(t, "a foreign object of the same name", got)
	tally := kit.Tally(got)
	looks := tally["patch configmaps"]
	if looks < 1 || tally["patch webs/status"] != 1 || len(got) != 2*looks+1 {
		t.Errorf("%v, want looks of one refused create and one read, and 1 status", got)
	}
	after, err := cluster.Get("v1", "ConfigMap", ns, "a")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(before.Object) != fmt.Sprint(after.Object) {
		t.Errorf("the foreign object changed: %v, was %v", after.Object, before.Object)
	}
	if !strings.HasPrefix(fmt.Sprint(got[0]), "patch configmaps") {
		t.Errorf("the first request was %v", got[0])
	}
}

// TestWithControllers is not parallel: what takes longer than ten seconds has more statuses.
//
// Where real controllers take their time, a new resource with a
// Deployment and a Service costs at most 5 requests, events included, and a changed
// field at most 3.5, over ten resources.
func TestWithControllers(t *testing.T) {
	group := "paced.example.com"
	ns := cluster.Namespace(t)
	op := cluster.Run(t, install, root(t, group, "map.yaml", "secret.yaml", "status.yaml"))
	cluster.Served(t, group+"/v1", "Web")
	op.AwaitQuiet(t)
	var names []string
	for n := range 10 {
		names = append(names, fmt.Sprintf("a%d", n))
	}
	costs := func(what, image string, most float64) {
		t.Helper()
		mark := cluster.Mark(t)
		for _, name := range names {
			cluster.Apply(t, ns, web(group, ns, name, "replicas: 2, image: "+image))
		}
		for _, name := range names {
			kit.Eventually(t, name+" runs "+image, func() error {
				o, err := cluster.Get("apps/v1", "Deployment", ns, name)
				if err != nil {
					return err
				}
				return running(o, image)
			})
		}
		ready(t, group, ns, names...)
		op.AwaitQuiet(t)
		got := op.Requests(t, mark)
		for _, r := range op.AllRequests(t, mark) {
			if r.Resource == "events" {
				got = append(got, r)
			}
		}
		report(t, what, got)
		if each := float64(len(got)) / float64(len(names)); each > most {
			t.Errorf("%s: %.1f requests for each, want at most %.1f: %v", what, each, most, kit.Tally(got))
		}
	}
	costs("ten new resources", "one", 5)
	costs("ten changed images", "two", 3.5)
}

// running says why a Deployment of two replicas does not run an image yet.
func running(o *unstructured.Unstructured, image string) error {
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	if len(containers) != 1 || containers[0].(map[string]any)["image"] != image || status["observedGeneration"] != o.GetGeneration() ||
		status["updatedReplicas"] != int64(2) || status["availableReplicas"] != int64(2) || status["replicas"] != int64(2) {
		return fmt.Errorf("it runs %v: %v", containers, status)
	}
	return nil
}
