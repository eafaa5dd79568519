package replicas

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestStatus: `jacquard status` says which replicas there are and what each serves, and other
// commands which one serves a resource; that
// they are out of balance where one namespace has half of all resources; and, when all
// are dead, that no operator runs.
func TestStatus(t *testing.T) {
	t.Parallel()
	const group, n = "status.example.com", 105 // of fewer, nobody says that they are out of balance
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	spaces := []string{cluster.Namespace(t)}
	for range 12 {
		spaces = append(spaces, cluster.Namespace(t))
	}
	for i := range n {
		in := spaces[0]
		if i > n*6/10 {
			in = spaces[1+i%12]
		}
		cluster.Apply(t, in, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {}}", group, i))
	}
	for range 3 {
		f.start()
	}
	f.awaitDivided(3)
	f.allReady(group+"/v1", "Thing", n)
	var said string
	kit.Eventually(t, "status says who serves what", func() error {
		said = f.status()
		if strings.Count(said, " resources in ") != 3 || !strings.Contains(said, "out of balance: replica ") {
			return errors.New(said)
		}
		return nil
	})
	t.Log(said)
	thing := name + "/" + spaces[0] + "/thing-0"
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
func (f *fleet) status() string { return f.jacquard("status", "--install", f.identity()) }

// jacquard is what a command prints that looks at the cluster.
func (f *fleet) jacquard(args ...string) string {
	var out bytes.Buffer
	cli.Main(append(args, "--kubeconfig", filepath.Join(f.cluster.Dir, "kubeconfig")), nil, &out, &out)
	return out.String()
}

// TestBalance: namespaces whose names begin alike are close to each other in the hash
// space, so at first one replica serves them all. Then the leader moves the bounds.
func TestBalance(t *testing.T) {
	t.Parallel()
	const group, n = "balance.example.com", 120
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	for i := range n {
		namespace := fmt.Sprintf("team-%02d", i%30)
		if i < 30 {
			cluster.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
		}
		cluster.Apply(t, namespace, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {}}", group, i))
	}
	for range 3 {
		f.start()
	}
	f.awaitDivided(3)
	f.allReady(group+"/v1", "Thing", n)
	mark := cluster.Mark(t)
	kit.Eventually(t, "the replicas are in balance", func() error {
		d, err := f.division()
		if err != nil {
			return err
		}
		has := map[string]int{}
		for i := range n {
			has[d.Owner(name, &metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%02d", i%30)})]++
		}
		for owner, count := range has {
			if owner == "" || count > n/2 {
				return fmt.Errorf("they serve %v", has)
			}
		}
		return nil
	})
	kit.Eventually(t, "status is content", func() error {
		if said := f.status(); strings.Contains(said, "out of balance") || strings.Count(said, " resources in ") != 3 {
			return errors.New(said)
		}
		return nil
	})
	if writes := f.writes(mark, "configmaps"); len(writes) > 0 {
		t.Errorf("%d writes: %v", len(writes), writes[0])
	}
}
