package rollouts

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A killer ends all traffic of an operator at one of its writes, as if the process was killed: the
// write is the last one that the API server gets, or the first one that it does not. It writes
// freely until it is armed.
type killer struct {
	next http.RoundTripper

	mu sync.Mutex
	// left is how many more writes there are, or 0 if it is not armed.
	left int
	// delivers is true if the API server gets the last write, whose answer is lost.
	delivers bool
	isDead   bool
}

var errKilled = errors.New("the process was killed")

// arm has the process killed at its nth write from now on.
func (k *killer) arm(n int, delivers bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.delivers = n, delivers
}

func (k *killer) hasKilled() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isDead
}

// RoundTrip implements [http.RoundTripper].
func (k *killer) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	isWrite := r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/events")
	mayPass := !k.isDead
	if isWrite && mayPass && k.left > 0 {
		if k.left--; k.left == 0 {
			k.isDead, mayPass = true, k.delivers
		}
	}
	k.mu.Unlock()
	if !mayPass {
		return nil, errKilled
	}
	answer, err := k.next.RoundTrip(r)
	if isWrite && k.hasKilled() && err == nil {
		answer.Body.Close()
		return nil, errKilled
	}
	return answer, err
}

// TestKilledAtEachRequest: a rollout whose operator is killed at any of its writes ends as one whose
// operator was not, whether it changes children, only deletes some, only patches, or only changes
// status.yaml.
func TestKilledAtEachRequest(t *testing.T) {
	kit.Nightly(t, "integration")
	t.Parallel()
	child := func(name, text string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}-" + name + "'}\ndata: {text: " + text + "}\n"
	}
	patch := func(name, text string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}-" + name +
			"', annotations: {jacquard.dev/ownership: patch}}\ndata: {patched: " + text + "}\n"
	}
	for name, tt := range map[string]struct{ before, after map[string]string }{
		"changes": {map[string]string{"a.yaml": child("a", "one"), "b.yaml": child("b", "one")},
			map[string]string{"a.yaml": child("a", "two")}},
		"deletes": {map[string]string{"a.yaml": child("a", "one"), "b.yaml": child("b", "one")},
			map[string]string{"b.yaml": "{{ if eq .metadata.name \"\" }}\n" + child("b", "one") + "{{ end }}\n"}},
		"patches": {map[string]string{"a.yaml": patch("a", "one"), "b.yaml": patch("b", "one")},
			map[string]string{"a.yaml": patch("a", "two"), "b.yaml": patch("b", "two")}},
		"status": {map[string]string{"a.yaml": child("a", "one"), "status.yaml": "conditions:\n- {type: Told, status: \"True\", reason: One, message: one}\n"},
			map[string]string{"status.yaml": "conditions:\n- {type: Told, status: \"True\", reason: Two, message: two}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, home := newThing(t, "killed-"+name, tt.before), cluster.Namespace(t)
			if name == "patches" {
				for i := range 3 {
					cluster.Apply(t, k.ns, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: r%02d-a}}\n---\n"+
						"{apiVersion: v1, kind: ConfigMap, metadata: {name: r%02d-b}}\n", i, i))
				}
			}
			op := k.at(t, home)
			k.many(t, 3)
			number := k.complete(t, 0)
			k.write(t, tt.after)
			number = k.complete(t, number)
			after := k.outcome(t, op, number)
			k.write(t, tt.before)
			number = k.complete(t, number)
			before := k.outcome(t, op, number)
			op.Stop(t)
			writes := 0
			for _, delivers := range []bool{false, true} {
				for n := 1; ; n++ {
					deadly := &killer{}
					op := cluster.Run(t, func(o *controller.Options) {
						o.InstallCRDs, o.Namespace, o.Identity = true, home, home+"/jacquard"
						o.Config = rest.CopyConfig(o.Config)
						o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { deadly.next = next; return deadly })
					}, k.root)
					op.AwaitReconciled(t, k.name())
					deadly.arm(n, delivers)
					k.write(t, tt.after)
					kit.Eventually(t, fmt.Sprintf("the process is killed at write %d, or has completed the rollout", n), func() error {
						if r := k.record(t); !deadly.hasKilled() && (r.State != rollout.Complete || r.Target().Number <= number) {
							return fmt.Errorf("it is %s", r)
						}
						return nil
					})
					op.Stop(t)
					expireLease(t, home)
					op = k.at(t, home)
					number = k.complete(t, number)
					if diff := cmp.Diff(after, k.outcome(t, op, number)); diff != "" {
						t.Errorf("killed at write %d, which was delivered: %t (-without +with a kill):\n%s", n, delivers, diff)
					}
					k.write(t, tt.before)
					number = k.complete(t, number)
					if diff := cmp.Diff(before, k.outcome(t, op, number)); diff != "" {
						t.Fatalf("back again (-want +got):\n%s", diff)
					}
					op.Stop(t)
					if !deadly.hasKilled() {
						break
					}
					writes++
				}
			}
			if t.Logf("killed at %d writes", writes); writes < 10 {
				t.Error("the test shows nothing")
			}
		})
	}
}

// expireLease deletes the Lease of an installation, which a process that was killed still holds.
func expireLease(t *testing.T, home string) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: api.Lease(home + "/jacquard")}}
	if err := client.IgnoreNotFound(cluster.Client.Delete(t.Context(), lease)); err != nil {
		t.Fatal(err)
	}
}

// record reads the record of the kind's rollout.
func (k *thing) record(t *testing.T) rollout.Record {
	t.Helper()
	return rollout.ParseRecord(k.crd(t).GetAnnotations()[api.AnnotationRollout])
}

// complete waits until a revision with a greater number serves all resources, and returns its
// number.
func (k *thing) complete(t *testing.T, than int64) (number int64) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("a revision of %s after number %d serves all resources", k.group, than), func() error {
		r := k.record(t)
		if number = r.Target().Number; r.State != rollout.Complete || number <= than {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
	return number
}

// outcome returns, once the operator is quiet, what a rollout has made of the objects of the kind's namespace: their content,
// whether the newest revision wrote them, and the conditions of resources.
func (k *thing) outcome(t *testing.T, op *kit.Operator, newest int64) map[string]any {
	t.Helper()
	op.AwaitQuiet(t)
	all := map[string]any{}
	for _, gvk := range [][2]string{{"v1", "ConfigMap"}, {k.apiVersion(), "Thing"}} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(gvk[0])
		list.SetKind(gvk[1] + "List")
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(k.ns)); err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			by := o.GetAnnotations()[api.AnnotationWrittenBy]
			of := map[string]any{"data": o.Object["data"], "isWrittenByNewest": strings.HasPrefix(by, fmt.Sprintf("%d-", newest)), "isMarked": by != ""}
			conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			for _, c := range conditions {
				condition := c.(map[string]any)
				of[condition["type"].(string)] = fmt.Sprint(condition["status"], " ", condition["reason"]) // how many are ready comes later
			}
			all[gvk[1]+" "+o.GetName()] = of
		}
	}
	return all
}
