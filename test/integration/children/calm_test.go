package children

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: {{ .spec.count }}
  selector:
    matchLabels:
      app: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app: {{ .metadata.name }}
        text: {{ .spec.text }}
    spec:
      containers:
      - name: web
        image: nginx
`

func statusOf(o *unstructured.Unstructured, field string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, "status", field)
	return n
}

// TestFlapping: a child's status that changes 100 times a second is reported
// with few statuses and no applies, and its last state always.
func TestFlapping(t *testing.T) {
	t.Parallel()
	k := newThing(t, "flapping", map[string]string{
		"pod.yaml":    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  schedulerName: nobody\n  containers:\n  - name: web\n    image: nginx\n",
		"status.yaml": "seen: {{ (child \"pod\").status.message }}\n",
	})
	k.status = "seen: {type: string}"
	k.writeCRD(t)
	k.run(t)
	k.apply(t, "a", "")
	k.says(t, "a", "Ready", "False", "Pod")
	mark := cluster.Mark(t)
	pod := &unstructured.Unstructured{}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetNamespace(k.ns)
	pod.SetName("a")
	const times = 200
	started := time.Now()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for i := range times {
		<-every.C
		patch := fmt.Sprintf(`{"status":{"message":"m%d"}}`, i+1)
		if err := cluster.Client.Status().Patch(context.Background(), pod, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	kit.Eventually(t, "the last state is reported", func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "a")
		if err != nil {
			return err
		}
		if seen, _, _ := unstructured.NestedString(o.Object, "status", "seen"); seen != fmt.Sprintf("m%d", times) {
			return fmt.Errorf("it reports %s", seen)
		}
		return nil
	})
	statuses := 0
	for _, r := range cluster.Requests(t, mark) {
		if r.Namespace != k.ns {
			continue
		}
		if r.Resource != "things/status" {
			t.Errorf("a request that flapping does not need: %v", r)
		}
		statuses++
	}
	took := time.Since(started)
	t.Logf("%d changes of the child's status in %s, %d statuses written", times, took.Round(time.Millisecond), statuses)
	if most := 10 + int(took/(70*time.Millisecond)); statuses > most { // about ten a second
		t.Errorf("%d statuses for %d changes, want at most %d", statuses, times, most)
	}
}

// TestNoFalseReady: whenever the resource is Ready for its generation, its
// Deployment has what that generation says, has been observed by its
// controller, and is rolled out.
func TestNoFalseReady(t *testing.T) {
	t.Parallel()
	k := newThing(t, "falseready", map[string]string{"deployment.yaml": deployment})
	k.run(t)
	k.apply(t, "a", "text: t0, count: 1")
	k.ready(t, "a")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	var samples atomic.Int64
	go func() { defer close(done); k.sample(t, ctx, &samples) }()
	defer func() { stop(); <-done }()
	for i := range 25 {
		k.apply(t, "a", fmt.Sprintf("text: t%d, count: %d", i+1, 1+i%3))
		if i%5 == 4 {
			k.ready(t, "a")
			before := samples.Load()
			kit.Eventually(t, "it is sampled while it is Ready", func() error {
				if samples.Load() == before {
					return errors.New("no sample")
				}
				return nil
			})
		}
		time.Sleep(time.Duration(i%4) * 70 * time.Millisecond)
	}
	k.ready(t, "a")
	stop()
	k.atRest(t, "a", "Deployment/a")
}

// sample looks at the resource until ctx ends, and counts how often it was Ready
// and the Deployment could be compared.
func (k *thing) sample(t *testing.T, ctx context.Context, n *atomic.Int64) {
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		before, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "a")
		if err != nil || kit.IsCondition(before, "Ready", "True", "") != nil {
			continue
		}
		d, err := cluster.Get("apps/v1", "Deployment", k.ns, "a")
		if err != nil {
			t.Error(err)
			continue
		}
		after, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "a")
		if err != nil || after.GetGeneration() != before.GetGeneration() {
			continue // the Deployment may be that of the next generation
		}
		n.Add(1)
		if err := k.rolledOut(before, d); err != nil {
			t.Errorf("Ready for generation %d, and %v", before.GetGeneration(), err)
		}
	}
}

func (k *thing) rolledOut(thing, d *unstructured.Unstructured) error {
	wantText, _, _ := unstructured.NestedString(thing.Object, "spec", "text")
	text, _, _ := unstructured.NestedString(d.Object, "spec", "template", "metadata", "labels", "text")
	want, _, _ := unstructured.NestedInt64(thing.Object, "spec", "count")
	switch {
	case text != wantText:
		return fmt.Errorf("the Deployment says %s, not %s", text, wantText)
	case statusOf(d, "observedGeneration") != d.GetGeneration():
		return fmt.Errorf("the Deployment's generation %d is not observed: %d", d.GetGeneration(), statusOf(d, "observedGeneration"))
	case statusOf(d, "updatedReplicas") != want || statusOf(d, "availableReplicas") != want || statusOf(d, "replicas") != want:
		return fmt.Errorf("the Deployment is not rolled out to %d: %v", want, d.Object["status"])
	}
	return nil
}
