package kinds

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// testExamples applies every example, as a user does; then does to them what
// the README offers to try; and takes them away again.
func testExamples(t *testing.T) {
	s, p := &site{T: t, ns: cluster.Namespace(t)}, &site{T: t, ns: "podroute"}
	before := s.everything()
	examples := s.applyExamples()
	for _, o := range ours(examples) {
		in := &site{T: t, ns: o.GetNamespace()}
		in.ready(o.GetKind(), o.GetName())
	}
	s.has("Foo", "example-foo", "status.availableReplicas", 1)
	s.has("Genericdaemon", "syslog", "status.installed", 1)
	s.has("Milvus", "milvus-crd-test", "status.readyReplicas", 1)
	s.has("App", "nginx-app", "status.replicas", 2, "status.readyReplicas", 2, "status.availableReplicas", 2, "status.updatedReplicas", 2)
	p.has("Podroute", "test-podroute", "status.readyReplicas", 3)
	if host, _ := at(p.get("Podroute", "test-podroute"), "status.host").(string); host == "" {
		t.Error("the Podroute has no host")
	}
	listed := s.kubectl("get", "jacquard", "--all-namespaces", "--output", "name")
	for _, o := range ours(examples) {
		if !strings.Contains(listed, "/"+o.GetName()+"\n") {
			t.Errorf("kubectl get jacquard does not list %s:\n%s", o.GetName(), listed)
		}
	}
	s.rests()
	p.rests()
	for name, test := range map[string]func(*site){"Deployment": deployment, "Daemon": daemon, "Pod": pod, "Exporter": exporter} {
		t.Run(name, func(t *testing.T) { test(&site{T: t, ns: s.ns}) })
	}
	s.rests()
	t.Run("Deleted", func(t *testing.T) { deleted(&site{T: t, ns: s.ns}, examples, before) })
}

// deleted: nothing is left behind.
func deleted(s *site, examples []*unstructured.Unstructured, before map[string]bool) {
	s.Helper()
	for _, o := range examples {
		cluster.Delete(s, o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
	}
	kit.Eventually(s, "nothing is left behind", func() error {
		if diff := cmp.Diff(before, s.everything()); diff != "" {
			return fmt.Errorf("%s", diff)
		}
		return nil
	})
}

// ours are the custom resources among the examples.
func ours(examples []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(examples), func(o *unstructured.Unstructured) bool { return !slices.Contains(kinds, o.GetKind()) })
}

// applyExamples applies the files of examples/ and returns the resources.
func (s *site) applyExamples() []*unstructured.Unstructured {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(root(s), "examples", "*.yaml"))
	if err != nil || len(files) < 5 {
		s.Fatalf("there are %d examples: %v", len(files), err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		example := strings.ReplaceAll(text(s.T, file), "namespace: default", "namespace: "+s.ns)
		cluster.Apply(s, s.ns, example)
		for _, o := range kit.Parse(s, example) {
			if o.GetNamespace() == "" {
				o.SetNamespace(s.ns)
			}
			if o.GetKind() != "Namespace" {
				all = append(all, o)
			}
		}
	}
	return all
}

// deployment: one that is deleted is back, and one that is scaled is put back
// by one write.
func deployment(s *site) {
	s.Helper()
	old := s.get("Deployment", "nginx-app")
	s.kubectl("delete", "deployment", "nginx-app")
	s.anew(old)
	s.ready("App", "nginx-app")
	s.has("Deployment", "nginx-app", "status.readyReplicas", 2)
	s.rests()
	mark := cluster.Mark(s)
	s.kubectl("scale", "deployment", "nginx-app", "--replicas=9")
	s.has("Deployment", "nginx-app", "spec.replicas", 2)
	s.ready("App", "nginx-app")
	s.has("App", "nginx-app", "status.replicas", 2, "status.readyReplicas", 2)
	s.rests(s.get("App", "nginx-app"), s.get("Deployment", "nginx-app"), s.get("Service", "nginx-app"))
	tally := kit.Tally(s.sent(mark))
	// As the Pods came and went; another's may be late, since counts wait.
	maps.DeleteFunc(tally, func(request string, _ int) bool { return strings.HasSuffix(request, "/status") })
	if diff := cmp.Diff(map[string]int{"patch deployments": 1}, tally); diff != "" {
		s.Errorf("after scaling, requests (- wanted, + sent): %s", diff)
	}
}

// daemon: a node that gets the label later counts, without anything but a status
// being written: another's may be late, since counts wait.
func daemon(s *site) {
	s.Helper()
	s.rests() // the tests before may have left others something to tell
	before := s.get("Genericdaemon", "syslog")
	mark := cluster.Mark(s)
	s.kubectl("label", "node", "node-1", "daemon=logs")
	after := s.has("Genericdaemon", "syslog", "status.installed", 2)
	s.ready("Genericdaemon", "syslog")
	if after.GetGeneration() != before.GetGeneration() || !cmp.Equal(before.Object["spec"], after.Object["spec"]) {
		s.Error("the spec was touched")
	}
	for _, r := range kit.Writes(s.sent(mark)) {
		if !strings.HasSuffix(r.Resource, "/status") {
			s.Errorf("the operator sent %s", r)
		}
	}
	s.kubectl("label", "node", "node-1", "daemon-")
	s.has("Genericdaemon", "syslog", "status.installed", 1)
}

// pod: a bare one that is deleted is recreated.
func pod(s *site) {
	s.Helper()
	old := s.get("Pod", "milvus-crd-test")
	s.kubectl("delete", "pod", "milvus-crd-test", "--wait=false")
	s.anew(old)
	s.ready("Milvus", "milvus-crd-test")
}

// everything lists "resource namespace/name" of all objects in the namespaces
// of the examples, but for Events and what every namespace gets.
func (s *site) everything() map[string]bool {
	s.Helper()
	kinds, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		s.Fatal(err)
	}
	lists, err := kinds.ServerPreferredNamespacedResources()
	if err != nil {
		s.Fatal(err)
	}
	objects, err := metadata.NewForConfig(cluster.Config)
	if err != nil {
		s.Fatal(err)
	}
	all := map[string]bool{}
	for _, list := range lists {
		gv, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, r := range list.APIResources {
			if r.Kind == "Event" || !strings.Contains(r.Verbs.String(), "list") {
				continue
			}
			for _, ns := range []string{s.ns, "podroute"} {
				found, err := objects.Resource(gv.WithResource(r.Name)).Namespace(ns).List(context.Background(), metav1.ListOptions{})
				if err != nil {
					s.Fatal(err)
				}
				for _, o := range found.Items {
					if o.Name != "kube-root-ca.crt" && !(r.Kind == "ServiceAccount" && o.Name == "default") {
						all[r.Name+" "+ns+"/"+o.Name] = true
					}
				}
			}
		}
	}
	return all
}
