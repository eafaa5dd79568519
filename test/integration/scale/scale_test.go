// Package scale measures, for docs/scaling.md, how far an operator goes: on a real API
// server and etcd without anything else, with thousands of resources. It is no test:
// `make scale` runs it.
package scale

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

const (
	// asOperator makes the test's binary the operator's.
	asOperator = "JACQUARD_SCALE_OPERATOR"
	// asked says how many resources to measure with, as in 1000,5000.
	asked = "JACQUARD_SCALE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asOperator) != "":
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv(asked) == "":
		fmt.Println("nothing is measured: make scale does it")
		os.Exit(0)
	}
	kit.Main(m, &cluster, "--components", "etcd,apiserver", "--nodes", "0")
}

// A load is a kind in a group of its own, and its resources.
type load struct {
	*testing.T
	cluster     *kit.Cluster
	buckets     int // of the operators that run
	group, root string
	home        string   // the operator's namespace
	spaces      []string // namespaces of resources
	objects     dynamic.Interface
	table       *table
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .metadata.name }}-%s\"}\ndata: {text: {{ .spec.text }}, more: \"a line or two of settings, as there are in many a ConfigMap\"}\n"

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .metadata.name }}"}
spec:
  replicas: 2
  selector: {matchLabels: {app: "{{ .metadata.name }}"}}
  template:
    metadata: {labels: {app: "{{ .metadata.name }}"}}
    spec:
      containers:
      - name: app
        image: example.com/app:1
        ports: [{name: http, containerPort: 8080}]
        env: [{name: TEXT, value: {{ .spec.text }}}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`

func newLoad(t *testing.T, name string, files map[string]string) *load {
	t.Helper()
	l := &load{T: t, cluster: cluster, group: name + ".example.com", home: name + "-operator", spaces: []string{name}, root: t.TempDir(), table: &table{}}
	l.define(files)
	return l
}

// define makes the kind and its namespaces.
func (l *load) define(files map[string]string) {
	t := l.T
	t.Helper()
	crd := kit.ThingCRD(l.group)
	kit.Write(t, l.root, map[string]string{"crds/" + l.name() + ".yaml": crd})
	for file, text := range files {
		kit.Write(t, l.root, map[string]string{"templates/" + l.name() + "/" + file: text})
	}
	for _, ns := range append(l.spaces, l.home) {
		l.cluster.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+ns+"}}")
	}
	l.cluster.Apply(t, "", crd)
	l.cluster.Served(t, l.group+"/v1", "Thing")
	cfg := rest.CopyConfig(l.cluster.Config)
	cfg.QPS = -1
	var err error
	if l.objects, err = dynamic.NewForConfig(cfg); err != nil {
		t.Fatal(err)
	}
	l.cluster.Grant(t, kit.User, controller.Options{Namespace: l.home, Identity: l.identity(), LeaderElectionNamespace: l.home, Buckets: l.buckets}, l.root)
	t.Cleanup(l.clean)
}

// identity is that of the installation.
func (l *load) identity() string { return l.home + "/jacquard" }

func (l *load) name() string { return "things." + l.group }

// abreast is how many writers make resources at the same time.
const abreast = 16

// make makes the resources from..to-1.
func (l *load) make(from, to int) {
	l.Helper()
	l.each(from, to, func(o *unstructured.Unstructured) error {
		o.Object["spec"] = map[string]any{"text": "v1"}
		return l.cluster.Client.Create(context.Background(), o)
	})
}

// each does something with the resources from..to-1.
func (l *load) each(from, to int, do func(o *unstructured.Unstructured) error) {
	l.Helper()
	var all sync.WaitGroup
	next := make(chan int)
	for range abreast {
		all.Go(func() {
			for i := range next {
				o := &unstructured.Unstructured{}
				o.SetAPIVersion(l.group + "/v1")
				o.SetKind("Thing")
				o.SetNamespace(l.spaces[i%len(l.spaces)])
				o.SetName(fmt.Sprintf("r%05d", i))
				if err := do(o); err != nil {
					l.Error(err)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	all.Wait()
}

// clean takes everything away: nothing collects garbage here.
func (l *load) clean() {
	l.cluster.Delete(l, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", l.name())
	for apiVersion, kind := range map[string]string{"v1": "ConfigMap", "apps/v1": "Deployment"} {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(apiVersion)
		o.SetKind(kind)
		for _, ns := range l.spaces {
			if err := l.cluster.Client.DeleteAllOf(context.Background(), o, client.InNamespace(ns)); err != nil {
				l.Error(err)
			}
		}
	}
}

// sizes are how many resources to measure with.
func sizes(t *testing.T) []int {
	t.Helper()
	var all []int
	for _, text := range strings.Split(os.Getenv(asked), ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", asked, err)
		}
		all = append(all, n)
	}
	return all
}
