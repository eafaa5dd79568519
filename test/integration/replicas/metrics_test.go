package replicas

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestMetrics: what replicas measure comes to what one of them would, also after they have
// given something away: each resource and each bucket is counted once. A replica that does
// not lead says too that a kind is paused, and that it is no more.
func TestMetrics(t *testing.T) {
	t.Parallel()
	const group, n = "metrics.example.com", 16
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	for i := range n {
		cluster.Apply(t, cluster.Namespace(t), fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {}}", group, i))
	}
	var at []string
	start := func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		f.start("--metrics-bind-address", at[len(at)-1], "--metrics-secure=false")
	}
	// each is what each replica says, and all of them together.
	each := func(series string, want float64, replicas int) {
		t.Helper()
		kit.Eventually(t, fmt.Sprintf("%d replicas say %s %v", replicas, series, want), func() error {
			sum, said := 0.0, []string{}
			for _, address := range at {
				value, ok := measured(address, series)
				if sum += value; ok {
					said = append(said, fmt.Sprint(value))
				}
			}
			if sum != want || len(said) != replicas {
				return fmt.Errorf("they say %v", said)
			}
			return nil
		})
	}
	ready := fmt.Sprintf(`jacquard_resources{condition="Ready",kind=%q}`, name)
	pauses := func(value string) {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
		if err == nil {
			text := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, api.AnnotationPaused, value)
			err = cluster.Client.Patch(t.Context(), crd, client.RawPatch(types.MergePatchType, text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for replicas := 1; replicas <= 3; replicas++ {
		if start(); replicas == 3 {
			pauses(`"true"`) // before the third one begins with the kind
		}
		f.awaitDivided(replicas)
		each("jacquard_buckets", 16, replicas)
		each("jacquard_buckets_unowned", 0, replicas)
		each("jacquard_leader", 1, replicas)
		if replicas < 3 {
			each(ready, n, replicas)
		}
	}
	paused := fmt.Sprintf("jacquard_kind_paused{kind=%q}", name)
	each(paused, 3, 3)
	pauses("null")
	each(paused, 0, 3)
	each(ready, n, 3)
	f.replicas[0].end(syscall.SIGTERM)
	f.awaitDivided(2)
	each(ready, n, 2)
	each("jacquard_buckets", 16, 2)
	each("jacquard_leader", 1, 2)
	each(fmt.Sprintf("jacquard_queue_depth{kind=%q}", name), 0, 2)
}

// measured is the value of a series that a replica has.
func measured(address, series string) (float64, bool) {
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0, false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	found := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(series) + " (.*)$").FindSubmatch(text)
	if err != nil || found == nil {
		return 0, false
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	return value, err == nil
}
