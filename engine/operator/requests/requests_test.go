// Package requests counts what the operator sends, at the API server's audit
// log: speed is exact numbers of requests.
package requests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/operator"
	"github.com/jacquard-operator/jacquard/engine/operator/testcluster"
)

var cluster *testcluster.Cluster

func TestMain(m *testing.M) {
	testcluster.Main(m, &cluster, "--nodes", "1", "--components", "etcd,apiserver,controller-manager,scheduler,kwok")
}

// crd is a kind Web in a group of its own.
func crd(group string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.%[1]s}
spec:
  group: %[1]s
  names: {kind: Web, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, default: 1}
              text: {type: string, default: hello}
              image: {type: string, default: nginx}
          status:
            type: object
            properties:
              available: {type: integer}
              observedGeneration: {type: integer}
              childrenReady: {type: integer}
              childrenTotal: {type: integer}
              children: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
                    observedGeneration: {type: integer}
`, group)
}

// folderOf is a folder with four kinds of children: a Deployment, a Service, a
// ConfigMap and a Secret.
var folderOf = map[string]string{
	"deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: {{ .spec.replicas }}
  selector:
    matchLabels:
      app: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app: {{ .metadata.name }}
    spec:
      containers:
      - name: web
        image: {{ .spec.image }}
        ports:
        - containerPort: 80
`,
	"service.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  selector:
    app: {{ .metadata.name }}
  ports:
  - port: 80
`,
	"config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text }}
`,
	"secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}
stringData:
  text: {{ .spec.text }}
`,
	"status.yaml": "available: {{ (child \"deployment\").status.availableReplicas | ifNil 0 }}\n",
}

const children = 4

// root writes a root with the kind Web of a group; names leave files out.
func root(t *testing.T, group string, without ...string) string {
	dir := t.TempDir()
	files := map[string]string{"crds/webs." + group + ".yaml": crd(group)}
	for name, text := range folderOf {
		if !slices.Contains(without, name) {
			files["templates/webs."+group+"/"+name] = text
		}
	}
	testcluster.Write(t, dir, files)
	return dir
}

func install(o *operator.Options) { o.InstallCRDs = true }

func web(group, namespace, name, spec string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Web\nmetadata: {name: %s, namespace: %s}\nspec: {%s}\n", group, name, namespace, spec)
}

func ready(t *testing.T, group, namespace string, names ...string) {
	t.Helper()
	for _, name := range names {
		testcluster.Eventually(t, name+" is Ready", func() error { return cluster.Ready(group+"/v1", "Web", namespace, name) })
	}
}

// quiet waits until the operator has sent nothing for a while.
const quiet = 3 * time.Second

func settled(t *testing.T) {
	t.Helper()
	for {
		mark := cluster.Mark(t)
		time.Sleep(quiet)
		if len(cluster.Requests(t, mark)) == 0 {
			return
		}
	}
}

// statuses counts the statuses that a resource had, by watching it.
func statuses(t *testing.T, group, namespace, name string) func() int {
	t.Helper()
	w, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/v1")
	list.SetKind("WebList")
	watch, err := w.Watch(context.Background(), list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok && o.GetName() == name && o.Object["status"] != nil {
				seen[fmt.Sprint(o.Object["status"])] = true
			}
		}
	}()
	return func() int { watch.Stop(); <-done; return len(seen) }
}

func report(t *testing.T, what string, requests []testcluster.Request) {
	t.Helper()
	t.Logf("%s: %d requests %v", what, len(requests), testcluster.Tally(requests))
}

// TestNewResource: n creates, and one status for every status that a person
// could see.
func TestNewResource(t *testing.T) {
	group := "new.example.com"
	ns := cluster.Namespace(t)
	cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	settled(t)
	count := statuses(t, group, ns, "a")
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", "replicas: 2"))
	ready(t, group, ns, "a")
	settled(t)
	got := cluster.Requests(t, mark)
	report(t, fmt.Sprintf("a new resource with %d children", children), got)
	tally := testcluster.Tally(got)
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

// TestNewResourceThatNeedsNoWaiting: n + 1 exactly.
func TestNewResourceThatNeedsNoWaiting(t *testing.T) {
	group := "still.example.com"
	ns := cluster.Namespace(t)
	cluster.Run(t, install, root(t, group, "deployment.yaml", "service.yaml", "status.yaml"))
	cluster.Served(t, group+"/v1", "Web")
	settled(t)
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	ready(t, group, ns, "a")
	settled(t)
	got := cluster.Requests(t, mark)
	report(t, "a new resource with 2 children that are ready at once", got)
	if len(got) != 2+1 {
		t.Errorf("%v, want 2 creates and 1 status", got)
	}
}

// TestAtRest: nothing for a minute, nor when every child's status changes in
// a way that our status does not tell.
func TestAtRest(t *testing.T) {
	group := "rest.example.com"
	ns := cluster.Namespace(t)
	cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	ready(t, group, ns, "a")
	settled(t)
	mark := cluster.Mark(t)
	for i := range 10 {
		touchStatus(t, ns, "a", i)
	}
	time.Sleep(time.Minute)
	got := cluster.Requests(t, mark)
	report(t, "at rest for 60 s, every child's status touched 10 times", got)
	if len(got) != 0 {
		t.Errorf("%v", got)
	}
	// The proof can fail: one request put in is seen.
	extra, err := client.New(cluster.OperatorConfig, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	if err := extra.Get(context.Background(), types.NamespacedName{Namespace: ns, Name: "a"}, o); err != nil {
		t.Fatal(err)
	}
	if got := cluster.Requests(t, mark); len(got) != 1 {
		t.Errorf("one extra request was sent and the log shows %v", got)
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
		if err := cluster.Client.Status().Patch(context.Background(), o, client.RawPatch(types.StrategicMergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestart: an operator that comes up over 200 converged resources writes
// nothing and reads nothing but its informers' lists.
func TestRestart(t *testing.T) {
	group := "restart.example.com"
	ns := cluster.Namespace(t)
	dir := root(t, group, "deployment.yaml", "status.yaml")
	first := cluster.Run(t, install, dir)
	cluster.Served(t, group+"/v1", "Web")
	const many = 200
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("a%d", i))
		cluster.Apply(t, ns, web(group, ns, names[i], ""))
	}
	ready(t, group, ns, names...)
	settled(t)
	first.Stop(t)
	mark := cluster.Mark(t)
	cluster.Run(t, nil, dir)
	testcluster.Eventually(t, "the informers have listed", func() error {
		if len(cluster.AllRequests(t, mark)) < 3 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	settled(t)
	settled(t)
	got := cluster.Requests(t, mark)
	report(t, fmt.Sprintf("restart over %d converged resources", many), got)
	if writes := testcluster.Writes(got); len(writes) != 0 {
		t.Errorf("writes: %v", writes)
	}
	lists := map[string]int{}
	for _, r := range got {
		if r.Verb != "list" {
			t.Errorf("a read besides the informers' lists: %v", r)
		}
		lists[r.Resource]++
	}
	for resource, n := range lists {
		if n > 1 {
			t.Errorf("%s listed %d times", resource, n)
		}
	}
}

// TestOneField: one field changed is one apply for each child that differs,
// and one status.
func TestOneField(t *testing.T) {
	group := "field.example.com"
	ns := cluster.Namespace(t)
	cluster.Run(t, install, root(t, group))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, web(group, ns, "a", "text: one"))
	ready(t, group, ns, "a")
	settled(t)
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", "text: two"))
	ready(t, group, ns, "a")
	settled(t)
	got := cluster.Requests(t, mark)
	report(t, "one field changed that two of four children show", got)
	tally := testcluster.Tally(got)
	if len(got) != 3 || tally["patch configmaps"] != 1 || tally["patch secrets"] != 1 || tally["patch webs/status"] != 1 {
		t.Errorf("%v, want 2 applies and 1 status", got)
	}
}

// TestForeign: one refused create and one read of metadata for each look, the
// looks back off, and the object's bytes are as they were.
func TestForeign(t *testing.T) {
	group := "foreign.example.com"
	ns := cluster.Namespace(t)
	cluster.Run(t, install, root(t, group, "deployment.yaml", "service.yaml", "secret.yaml", "status.yaml"))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Apply(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {theirs: x}\n")
	before, err := cluster.Get("v1", "ConfigMap", ns, "a")
	if err != nil {
		t.Fatal(err)
	}
	mark := cluster.Mark(t)
	cluster.Apply(t, ns, web(group, ns, "a", ""))
	testcluster.Eventually(t, "the resource is told", func() error {
		o, err := cluster.Get(group+"/v1", "Web", ns, "a")
		if err != nil {
			return err
		}
		return testcluster.IsCondition(o, "Ready", "False", "ConfigMap "+ns+"/a")
	})
	time.Sleep(30 * time.Second)
	got := cluster.Requests(t, mark)
	report(t, "a foreign object of the same name, 30 s", got)
	tally := testcluster.Tally(got)
	looks := tally["patch configmaps"]
	if looks < 2 || looks > 4 || tally["get configmaps"] != looks || tally["patch webs/status"] != 1 || len(got) != 2*looks+1 {
		t.Errorf("%v, want 2 to 4 looks of one refused create and one read, and 1 status", got)
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
