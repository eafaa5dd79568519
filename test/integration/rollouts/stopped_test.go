package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// deployment is a folder whose Deployment runs on nodes that are there, or on
// none: then it never becomes ready, as with a bad image.
func deployment(nowhere bool) map[string]string {
	selector := ""
	if nowhere {
		selector = "      nodeSelector: {nobody: has-this}\n"
	}
	return map[string]string{"kind.yaml": quick, "deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app: {{ .metadata.name }}
    spec:
` + selector + `      containers:
      - name: web
        image: nginx
`}
}

// changed counts the Deployments that run nowhere.
func (k *thing) changed(t *testing.T) int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apps/v1")
	list.SetKind("DeploymentList")
	if err := cluster.Client.List(context.Background(), list, client.InNamespace(k.ns)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range list.Items {
		if _, found, _ := unstructured.NestedMap(o.Object, "spec", "template", "spec", "nodeSelector"); found {
			n++
		}
	}
	return n
}

// TestNeverReady: a change that never becomes ready stops after the first
// wave, also when the operator comes up again; the others keep what they have;
// what is made or edited is served by the version before, and waits for it where
// that is not here any more; the next good folder reaches all.
func TestNeverReady(t *testing.T) {
	t.Parallel()
	k := newThing(t, "neverready", deployment(false))
	op := k.run(t)
	names := k.many(t, 10)
	k.write(t, deployment(true))
	r := k.rollout(t, rollout.Stopped, rollout.NotReady)
	if r.Moved != 1 || r.Ready != 0 || r.Total != 10 || k.changed(t) != 1 {
		t.Errorf("%d Deployments changed: %s", k.changed(t), r)
	}
	k.told(t, "RolloutStopped", "not ready again", k.ns+"/r00")
	k.apply(t, "r07", "edited")
	k.served(t, "r07")
	k.apply(t, "made", "hello")
	k.ready(t, append(names[1:], "made")...)
	op.Stop(t)

	op = k.run(t)
	k.apply(t, "new", "hello")
	k.apply(t, "r08", "edited")
	for _, name := range []string{"new", "r08"} {
		k.says(t, name, "Ready", "False", "RolloutPending")
	}
	k.ready(t, append(slices.Delete(slices.Clone(names), 8, 9)[1:], "made")...)
	if n := k.changed(t); n != 1 {
		t.Errorf("%d Deployments changed", n)
	}

	k.write(t, deployment(false))
	k.ready(t, append(names, "made", "new")...)
	kit.Eventually(t, "the record is that of the good folder", func() error {
		if k.changed(t) != 0 || k.crd(t).GetAnnotations()["jacquard.dev/rollout"] != "" &&
			rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]).State != rollout.Complete {
			return fmt.Errorf("%d changed, %v", k.changed(t), k.crd(t).GetAnnotations())
		}
		return nil
	})
	op.Stop(t)
}

// bad is a folder whose ConfigMap the API refuses.
func bad() map[string]string {
	files := config("refused")
	files["map.yaml"] += "  \"no key!\": x\n"
	return files
}

// TestRefused: a change that the API refuses stops at once; a resource that is
// paused meanwhile and goes on stays as it was; going back to the earlier folder
// ends it; a good one reaches all, in waves.
func TestRefused(t *testing.T) {
	t.Parallel()
	k := newThing(t, "refused", config("one"))
	k.run(t)
	names := k.many(t, 30)
	k.write(t, bad())
	k.rollout(t, rollout.Stopped, rollout.Refused)
	k.says(t, "r00", "Stalled", "True", "Invalid")
	k.annotate(t, "r05", "jacquard.dev/paused", "true")
	k.says(t, "r05", "Paused", "True", "")
	k.annotate(t, "r05", "jacquard.dev/paused", nil)
	k.says(t, "r05", "Paused", "", "")
	k.ready(t, names[1:]...)
	k.allSay(t, "one", 30)
	k.write(t, config("one"))
	k.ready(t, names...)
	k.write(t, config("two"))
	k.rollout(t, rollout.Complete, "")
	k.allSay(t, "two", 30)
	k.ready(t, names...)
}

// annotate writes an annotation of a resource; nil takes it off.
func (k *thing) annotate(t *testing.T, name, key string, value any) {
	t.Helper()
	o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, body)); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedAtStart: an operator that comes up with such a folder holds what
// it has not reached: nothing is changed, drift waits and is told, deleting
// works.
func TestRefusedAtStart(t *testing.T) {
	t.Parallel()
	k := newThing(t, "refusedatstart", config("one"))
	first := k.run(t)
	names := k.many(t, 30)
	first.Stop(t)
	k.write(t, bad())
	k.run(t)
	k.rollout(t, rollout.Stopped, rollout.Refused)
	k.ready(t, names[1:]...)
	k.allSay(t, "one", 30)
	cluster.Delete(t, "v1", "ConfigMap", k.ns, "r20")
	k.says(t, "r20", "Ready", "False", "rollout")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "r21")
	kit.Eventually(t, "its child is gone", func() error { return cluster.Gone("v1", "ConfigMap", k.ns, "r21") })
	k.write(t, config("two"))
	k.rollout(t, rollout.Complete, "")
	k.allSay(t, "two", 29)
	k.ready(t, slices.DeleteFunc(names, func(n string) bool { return n == "r21" })...)
}

// claims is a folder with a PersistentVolumeClaim of this name.
func claims(suffix string) map[string]string {
	files := config("one")
	files["claim.yaml"] = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: {{ .metadata.name }}" + suffix +
		"\n  annotations:\n    jacquard.dev/on-delete: delete\nspec:\n  accessModes: [ReadWriteOnce]\n  storageClassName: none\n  resources:\n    requests:\n      storage: 1Gi\n"
	return files
}

// sets is a folder with a StatefulSet of this name.
func sets(suffix string) map[string]string {
	files := config("one")
	files["set.yaml"] = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: {{ .metadata.name }}" + suffix +
		"\nspec:\n  replicas: 0\n  serviceName: none\n  selector:\n    matchLabels:\n      app: x\n  template:\n    metadata:\n      labels:\n        app: x\n    spec:\n      containers:\n      - name: web\n        image: nginx\n"
	return files
}

// TestPreciousRenamed: a renamed PersistentVolumeClaim or StatefulSet stops the
// rollout before it begins, by hot reload and by restart; it is named, and
// goes on once it is approved.
func TestPreciousRenamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, apiVersion, kind string
		folder                 func(string) map[string]string
		restart                bool
	}{
		{"preciousclaim", "v1", "PersistentVolumeClaim", claims, false},
		{"set", "apps/v1", "StatefulSet", sets, false},
		{"setatstart", "apps/v1", "StatefulSet", sets, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newThing(t, tt.name, tt.folder(""))
			op := k.run(t)
			for _, name := range []string{"r00", "r01"} {
				k.apply(t, name, "hello")
				k.exists(t, tt.apiVersion, tt.kind, name)
			}
			k.served(t, "r00", "r01")
			if tt.restart {
				k.ready(t, "r00", "r01")
				op.Stop(t)
			}
			k.write(t, tt.folder("-renamed"))
			if tt.restart {
				k.run(t)
			}
			r := k.rollout(t, rollout.Stopped, rollout.Deletes)
			want := []string{tt.kind + " " + k.ns + "/r00", tt.kind + " " + k.ns + "/r01"}
			if r.Moved != 0 || r.Total != 2 || !slices.Equal(r.DeletionNames, want) || r.DeletionCount != 2 {
				t.Errorf("the record is %s", r)
			}
			k.told(t, "RolloutStopped", want[0], "jacquard approve "+k.name())
			if _, err := cluster.Get(tt.apiVersion, tt.kind, k.ns, "r00-renamed"); err == nil {
				t.Error("the first was made although the rollout stopped before it began")
			}
			k.approve(t)
			k.exists(t, tt.apiVersion, tt.kind, "r00-renamed")
			if tt.kind == "StatefulSet" {
				k.rollout(t, rollout.Complete, "")
				for _, name := range []string{"r00", "r01"} {
					kit.Eventually(t, "the old one is gone", func() error { return cluster.Gone(tt.apiVersion, tt.kind, k.ns, name) })
				}
			}
			kit.Eventually(t, "the approval is used", func() error {
				if a := k.crd(t).GetAnnotations()["jacquard.dev/approved"]; a != "" {
					return fmt.Errorf("it is %s", a)
				}
				return nil
			})
		})
	}
}

func (k *thing) exists(t *testing.T, apiVersion, kind, name string) {
	t.Helper()
	kit.Eventually(t, kind+" "+name+" is there", func() error {
		_, err := cluster.Get(apiVersion, kind, k.ns, name)
		return err
	})
}
