package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// stretch is for how long nothing is to be written at rest.
const stretch = 5 * time.Second

// end opens what waits, deletes a resource of each kind for good, and checks the
// five invariants: each wanted child is there and says what was rendered, no
// other is, nobody else's object was touched, the statuses tell the truth, and
// nothing is written any more. The controllers of Kubernetes start again: their
// garbage collector tries what failed in an outage again after up to 17 minutes.
func (w *world) end(t *testing.T) {
	t.Helper()
	patient, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	deleted := map[string]bool{}
	for _, r := range w.resources {
		if r.now != nil && !deleted[r.kind] {
			deleted[r.kind] = true
			w.remove(patient, r)
		}
	}
	for _, r := range w.resources {
		if r.now != nil && !r.now.open {
			s := *r.now
			s.open = true
			w.put(context.Background(), r, s)
		}
	}
	w.signal("controller-manager", syscall.SIGKILL)
	begun := time.Now()
	var last error
	for time.Since(begun) < w.patience {
		if last = errors.Join(w.children(), w.statuses(), w.foreign()); last == nil {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	if last != nil {
		t.Fatalf("the cluster did not get into order:\n%v", last)
	}
	t.Logf("in order %.0f s after the last fault", time.Since(begun).Seconds())
	kit.Eventually(t, "nothing is written any more", func() error {
		mark := cluster.Mark(t)
		time.Sleep(stretch)
		writes := kit.Writes(cluster.Requests(t, mark))
		if len(writes) > 0 {
			return fmt.Errorf("%d writes, the first %v", len(writes), writes[0])
		}
		return nil
	})
	if err := errors.Join(w.children(), w.statuses(), w.foreign()); err != nil {
		t.Errorf("at rest: %v", err)
	}
}

// children compares what is there with what is wanted.
func (w *world) children() error {
	ctx := context.Background()
	want := map[key]string{}
	for _, r := range w.resources {
		if r.now != nil {
			maps.Copy(want, wanted(r.kind, r.namespace, r.name, *r.now))
		}
	}
	got := map[key]string{}
	var configMaps corev1.ConfigMapList
	var secrets corev1.SecretList
	var services corev1.ServiceList
	var roles rbacv1.ClusterRoleList
	for _, list := range []client.ObjectList{&configMaps, &secrets, &services, &roles} {
		if err := w.admin.List(ctx, list, client.HasLabels{api.LabelOwnerUID}); err != nil {
			return err
		}
	}
	for _, o := range configMaps.Items {
		got[keyOf("configmaps", o.Namespace, o.Name)] = o.Data["text"]
	}
	for _, o := range secrets.Items {
		got[keyOf("secrets", o.Namespace, o.Name)] = string(o.Data["text"])
		if err := w.model.password(o); err != nil {
			return err
		}
	}
	for _, o := range services.Items {
		got[keyOf("services", o.Namespace, o.Name)] = ""
	}
	for _, o := range roles.Items {
		got[keyOf("clusterroles", "", o.Name)] = o.Rules[0].ResourceNames[0]
	}
	return compare(got, want)
}

// compare says of what is there and of what is wanted where they differ, of the
// first few.
func compare(got, want map[key]string) error {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if text, there := got[k]; !there {
			all = append(all, fmt.Sprintf("%s is missing", k))
		} else if text != want[k] {
			all = append(all, fmt.Sprintf("%s says %q, want %q", k, text, want[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[k]; !wanted {
			all = append(all, fmt.Sprintf("%s is still there", k))
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("%d children: %v", len(all), all[:min(6, len(all))])
	}
	return nil
}

// statuses checks that each resource is ready as it is now, and gone ones gone.
func (w *world) statuses() error {
	var all []error
	for _, r := range w.resources {
		o := r.object()
		err := w.admin.Get(context.Background(), client.ObjectKeyFromObject(o), o)
		switch {
		case r.now == nil && apierrors.IsNotFound(err):
			continue
		case err != nil:
		case r.now == nil:
			err = errors.New("it is still there")
		default:
			err = kit.IsCondition(o, "Ready", "True", "")
			if seen, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); err == nil && seen != o.GetGeneration() {
				err = fmt.Errorf("its observedGeneration is %d of %d", seen, o.GetGeneration())
			}
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s %s: %w", r.kind, r.name, err))
		}
	}
	return errors.Join(all[:min(6, len(all))]...)
}

// foreign checks that somebody's objects are as they were, but for the field
// that a graft patches.
func (w *world) foreign() error {
	for _, r := range w.resources {
		if r.kind != "graft" {
			continue
		}
		o := &corev1.ConfigMap{}
		if err := w.admin.Get(context.Background(), client.ObjectKey{Namespace: r.namespace, Name: r.name + "-theirs"}, o); err != nil {
			return err
		}
		want := map[string]string{"theirs": "x"}
		if r.now != nil {
			want["ours"] = r.now.text
		}
		if !maps.Equal(o.Data, want) || o.Labels["a"] != "b" || len(o.Labels) != 1 || len(o.OwnerReferences) > 0 {
			return fmt.Errorf("%s-theirs is %v %v, want %v", r.name, o.Data, o.Labels, want)
		}
	}
	return nil
}
