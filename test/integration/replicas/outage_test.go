package replicas

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestOutage: replicas that cannot reach the API server for longer than their Leases last serve
// nothing meanwhile, and go on with what they know when they can: none of them ends, and each logs
// what happened once. So does a replica that serves everything alone.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		buckets, replicas int
	}{{"divided", 16, 2}, {"alone", 0, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const n = 20
			group := tt.name + "outage.example.com"
			name := "things." + group
			f := newFleet(t, cluster, map[string]string{
				"crds/" + name + ".yaml":          kit.ThingCRD(group),
				"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}', version: one}\n",
			})
			f.buckets = tt.buckets
			cluster.Apply(t, "", kit.ThingCRD(group))
			t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
			cluster.Served(t, group+"/v1", "Thing")
			var spaces []string
			for range 4 {
				spaces = append(spaces, cluster.Namespace(t))
			}
			edit := func(text string) {
				for i := range n {
					cluster.Apply(t, spaces[i%len(spaces)], fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%02d}, spec: {text: %q}}",
						group, i, text))
				}
			}
			edit("first")
			for range tt.replicas {
				f.start("--leader-elect-lease-duration", "8s", "--leader-elect-renew-deadline", "6s", "--leader-elect-retry-period", "1s")
			}
			f.allReady(group+"/v1", "Thing", n)
			if tt.buckets > 0 {
				f.awaitDivided(tt.replicas)
			}
			for round, text := range []string{"second", "third"} {
				for _, r := range f.replicas {
					kit.Eventually(t, "the replica holds its Lease", func() error {
						if got := strings.Count(r.log.String(), "this process holds its Lease"); got != round+1 {
							return fmt.Errorf("it said so %d times", got)
						}
						return nil
					})
				}
				for _, r := range f.replicas {
					r.line.cut()
				}
				edit(text)
				for _, r := range f.replicas {
					kit.Eventually(t, "the replica has lost its Lease", func() error {
						if got := strings.Count(r.log.String(), lostLease); got != round+1 {
							return fmt.Errorf("it said so %d times", got)
						}
						return nil
					})
				}
				for _, r := range f.replicas {
					r.line.mend(t)
				}
				kit.Eventually(t, "all is served again", func() error {
					for i := range n {
						if err := f.says(spaces[i%len(spaces)], i, text, "one"); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for _, r := range f.replicas {
				select {
				case <-r.gone:
					t.Errorf("a replica has ended:\n%s", r.log)
				default:
				}
				if got := strings.Count(r.log.String(), lostLease); got != 2 {
					t.Errorf("a replica said %d times that it lost its Lease", got)
				}
			}
		})
	}
}
