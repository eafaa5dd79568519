package replicas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// servesText finds what jacquard status prints of one replica.
var servesText = regexp.MustCompile(`: (\d+) resources? in (\d+) buckets?, `)

// TestStatus: `jacquard status` says which replicas there are and what each serves, and other
// commands which one serves a resource; and, when all are dead, that no operator runs.
func TestStatus(t *testing.T) {
	t.Parallel()
	const group, n = "status.example.com", 60
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	space := cluster.Namespace(t)
	for i := range n {
		cluster.Apply(t, space, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {}}", group, i))
	}
	for range 3 {
		f.start()
	}
	f.awaitDivided(3)
	f.allReady(group+"/v1", "Thing", n)
	var said string
	kit.Eventually(t, "status says who serves what", func() error {
		said = f.status()
		resources, buckets := 0, 0
		for _, m := range servesText.FindAllStringSubmatch(said, -1) {
			r, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[2])
			resources, buckets = resources+r, buckets+b
		}
		if resources != n || buckets != 16 {
			return errors.New(said)
		}
		return nil
	})
	t.Log(said)
	thing := name + "/" + space + "/thing-0"
	for _, args := range [][]string{{"tree", thing}, {"explain", "--root", f.root, thing}, {"diff", "--root", f.root, thing}} {
		if said := f.jacquard(args...); !strings.Contains(said, "served by ") || !strings.Contains(said, " (1 of 3 replicas)\n") {
			t.Errorf("%v does not say which replica serves it:\n%s", args, said)
		}
	}
	for _, r := range f.replicas {
		r.signal(syscall.SIGKILL)
	}
	kit.Eventually(t, "status and tree say that nobody is there", func() error {
		if said = f.status(); !strings.Contains(said, "has not renewed its Lease") {
			return errors.New(said)
		}
		if said = f.jacquard("tree", thing); !strings.Contains(said, "  not served\n") {
			return errors.New(said)
		}
		return nil
	})
}

// status is what `jacquard status` prints of the installation.
func (f *fleet) status() string { return f.jacquard("status", "--installation", f.identity()) }

// jacquard is what a command prints that looks at the cluster.
func (f *fleet) jacquard(args ...string) string {
	var out bytes.Buffer
	cli.Main(append(args, "--kubeconfig", filepath.Join(f.cluster.Dir, "kubeconfig")), nil, &out, &out)
	return out.String()
}

// TestFakeReplica: a Lease that looks like that of a replica, and that no process renews or
// confirms the division with, gets no buckets. A field of kind.yaml that has no effect is named.
func TestFakeReplica(t *testing.T) {
	t.Parallel()
	const group, n = "fake.example.com", 30
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":           kit.ThingCRD(group),
		"templates/" + name + "/kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nshardBy: uid\n",
		"templates/" + name + "/one.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	space := cluster.Namespace(t)
	for i := range n {
		cluster.Apply(t, space, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {text: first}}", group, i))
	}
	f.start()
	f.awaitDivided(1)
	fake := map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "fake", "labels": map[string]string{
			api.LabelPartOf: api.PartOf, api.LabelReplicas: "uid-" + shard.ID(f.identity())}},
		"spec": map[string]any{"holderIdentity": "nobody", "leaseDurationSeconds": 3600, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")},
	}
	text, err := json.Marshal(fake)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Apply(t, f.home, string(text))
	f.start()
	d := f.awaitDivided(2)
	if slices.Contains(d.Owners, "fake") {
		t.Errorf("the Lease with no process behind it owns buckets: %v", d.Owners)
	}
	f.allReady(group+"/v1", "Thing", n)
	kit.Eventually(t, "status names the Lease that gets nothing, and the ignored field", func() error {
		said := f.status()
		if !strings.Contains(said, "fake: 0 resources in 0 buckets") || !strings.Contains(said, "shardBy has no effect") {
			return errors.New(said)
		}
		return nil
	})
}
