package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A rest is what the cluster says when nothing happens any more.
type rest struct {
	// children are documents: each exists once and has these fields.
	children string
	// because is a part of why the resource is not Ready; "" means it is.
	because string
	// foreign are objects as they were, which nobody has touched.
	foreign []*unstructured.Unstructured
}

// rests holds the five invariants of rest against the cluster.
func (s *site) rests(r rest) {
	s.Helper()
	if r.because == "" {
		s.ready()
	} else {
		s.is("Ready", "False", r.because)
	}
	s.says(r.children)
	hasChildren := func(all map[types.UID]*unstructured.Unstructured) error { return s.children(r, all) } // I1, I2

	after := s.settles(r, hasChildren) // I5

	for _, o := range r.foreign { // I3
		if now := after[o.GetUID()]; now == nil || fmt.Sprint(now.Object) != fmt.Sprint(o.Object) {
			s.Errorf("the foreign %s %s is %v, was %v", o.GetKind(), o.GetName(), now, o.Object)
		}
	}
	if generation, _, _ := unstructured.NestedInt64(s.owner().Object, "status",
		"observedGeneration"); generation != s.owner().GetGeneration() {
		s.Errorf("observedGeneration is %d, want %d", generation, s.owner().GetGeneration()) // I4
	}
}

// settles waits until the operator is quiet, nobody else has anything left to do, and
// everything as it is then passes the checks. It returns everything.
func (s *site) settles(r rest, checks ...func(map[types.UID]*unstructured.Unstructured) error) (after map[types.UID]*unstructured.Unstructured) {
	s.Helper()
	s.operator.AwaitReconciled(s, "webs."+s.group)
	kit.Eventually(s, "nothing changes any more", func() error {
		before := s.everything()
		s.operator.AwaitQuiet(s)
		after = s.everything()
		if got := changed(before, after); len(got) > 0 {
			return fmt.Errorf("%s %s changed", got[0].GetKind(), got[0].GetName())
		}
		for _, check := range checks {
			if err := check(after); err != nil {
				return err
			}
		}
		if r.because == "" {
			return rolledOut(after)
		}
		return nil
	})
	return after
}

// retriesAlone waits until a write that was refused is tried again, and is quiet after
// that, and fails if the operator changed anything then.
func (s *site) retriesAlone() {
	s.Helper()
	mark := cluster.Mark(s)
	kit.Eventually(s, "what was refused is tried again", func() error {
		if sent := s.sent(mark); len(refused(sent)) == 0 {
			return fmt.Errorf("it sent %v", sent)
		}
		return nil
	})
	s.operator.AwaitQuiet(s)
	for _, r := range kit.Writes(s.sent(mark)) {
		if r.Code < http.StatusMultipleChoices {
			s.Errorf("trying again, it sent %v", r)
		}
	}
}

// changed are the objects that before and after do not both have, or not in the same
// version.
func changed(before, after map[types.UID]*unstructured.Unstructured) (all []*unstructured.Unstructured) {
	for uid, o := range after {
		if was := before[uid]; was == nil || was.GetResourceVersion() != o.GetResourceVersion() {
			all = append(all, o)
		}
	}
	for uid, o := range before {
		if after[uid] == nil {
			all = append(all, o)
		}
	}
	return all
}

// rolledOut fails while a Deployment's Pods are being replaced.
func rolledOut(all map[types.UID]*unstructured.Unstructured) error {
	for _, o := range all {
		if o.GetKind() != "Deployment" {
			continue
		}
		number := func(fields ...string) int64 {
			n, _, _ := unstructured.NestedInt64(o.Object, fields...)
			return n
		}
		want := number("spec", "replicas")
		for _, have := range []string{"replicas", "updatedReplicas", "availableReplicas"} {
			if number("status", "observedGeneration") != o.GetGeneration() || number("status", have) != want {
				return fmt.Errorf("Deployment %s is being rolled out", o.GetName())
			}
		}
	}
	return nil
}

// kinds are all kinds of children in these tests.
var kinds = []string{
	"v1 ConfigMap", "v1 Secret", "v1 Service", "v1 ServiceAccount", "v1 Pod", "apps/v1 Deployment",
	"batch/v1 Job", "rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding",
	"networking.k8s.io/v1 NetworkPolicy", "networking.k8s.io/v1 Ingress", "discovery.k8s.io/v1 EndpointSlice",
	"v1 PersistentVolumeClaim", "policy/v1 PodDisruptionBudget", "apps/v1 StatefulSet", "v1 LimitRange",
}

// everything is every object of these kinds in the namespace, and the resource.
func (s *site) everything() map[types.UID]*unstructured.Unstructured {
	s.Helper()
	lists, errs := make([]unstructured.UnstructuredList, len(kinds)+1), make([]error, len(kinds)+1)
	var listing sync.WaitGroup
	for i, kind := range append(slices.Clone(kinds), s.apiVersion()+" Web") {
		apiVersion, name, _ := strings.Cut(kind, " ")
		lists[i].SetAPIVersion(apiVersion)
		lists[i].SetKind(name + "List")
		listing.Go(func() {
			errs[i] = cluster.Client.List(context.Background(), &lists[i], client.InNamespace(s.namespace))
		})
	}
	listing.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	all := map[types.UID]*unstructured.Unstructured{}
	for _, list := range lists {
		for i := range list.Items {
			all[list.Items[i].GetUID()] = &list.Items[i]
		}
	}
	return all
}

// children says how the children of the resource are not those wanted: each once
// and wholly ours (I1), and no other (I2).
func (s *site) children(r rest, all map[types.UID]*unstructured.Unstructured) error {
	s.Helper()
	var want, got []string
	for _, o := range kit.Parse(s, r.children) {
		want = append(want, o.GetKind()+"/"+o.GetName())
	}
	owner := s.owner().GetUID()
	for _, o := range all {
		if made(o, owner) {
			got = append(got, o.GetKind()+"/"+o.GetName())
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("the children are %v, want %v", got, want)
	}
	return nil
}

// made reports whether an object is a child of a resource: its label is applied
// by the operator, and the resource controls it.
func made(o *unstructured.Unstructured, owner types.UID) bool {
	c := metav1.GetControllerOf(o)
	return c != nil && c.UID == owner && o.GetLabels()["jacquard.dev/owner-uid"] == string(c.UID) &&
		applied(o, "jacquard.dev/owner-uid")
}

// applied reports whether the operator's Apply entry names a field.
func applied(o *unstructured.Unstructured, field string) bool {
	for _, m := range o.GetManagedFields() {
		if m.Manager == "jacquard" && m.Operation == metav1.ManagedFieldsOperationApply &&
			bytes.Contains(m.FieldsV1.GetRawBytes(), []byte(`"f:`+field+`"`)) {
			return true
		}
	}
	return false
}
