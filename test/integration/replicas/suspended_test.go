package replicas

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestSuspended: a replica that stood still for longer than its Lease lasts, with much to
// write, writes nothing when it goes on, and takes part again with another Lease.
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
	for range 2 {
		f.start("--leader-elect-lease-duration", "8s", "--leader-elect-renew-deadline", "6s", "--leader-elect-retry-period", "1s")
	}
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
	f.awaitDivided(2)
	if late := f.writes(mark, "configmaps", "things/status"); len(late) > 0 {
		t.Errorf("it wrote %d times: %v", len(late), late[:min(5, len(late))])
	}
}
