package faults

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// retries: writes that are refused are tried again, with back-off.
	retries bool
}

// stretch is for how long nothing is to happen.
const stretch = 4 * time.Second

// rests holds the five invariants of rest against the cluster.
func (s *site) rests(r rest) {
	s.Helper()
	if r.because == "" {
		s.ready()
	} else {
		s.is("Ready", "False", r.because)
	}
	s.says(r.children) // I1
	kit.Eventually(s, "the children are those wanted", func() error { return s.children(r, s.everything()) })
	s.settles(r)
	after := s.quiet(r)
	if err := s.children(r, after); err != nil {
		s.Error(err)
	}
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

// stretches is how many there may be until one is quiet: who stood still while
// all others settled comes late, but who comes late every time does not rest.
const stretches = 3

// quiet waits for a stretch in which the operator sends nothing and nothing
// changes (I5), and returns everything as it is then.
func (s *site) quiet(r rest) map[types.UID]*unstructured.Unstructured {
	s.Helper()
	for n := 1; ; n++ {
		before := s.everything()
		mark := cluster.Mark(s)
		time.Sleep(stretch)
		sent := accepted(s.sent(mark), r.retries)
		after := s.everything()
		late := changed(before, after)
		if len(sent)+len(late) == 0 {
			return after
		}
		if n == stretches {
			s.Errorf("at rest the operator sent %v", sent)
			for _, o := range late {
				s.Errorf("at rest %s %s changed", o.GetKind(), o.GetName())
			}
			return after
		}
		s.Logf("late: the operator sent %v, and %d objects changed", sent, len(late))
		s.settles(r)
	}
}

// settles waits until a stretch passes in which the operator sends nothing, and
// nobody else has anything left to do.
func (s *site) settles(r rest) {
	s.Helper()
	kit.Eventually(s, "nothing happens any more", func() error {
		mark, before := cluster.Mark(s), s.everything()
		time.Sleep(stretch / 2)
		if got := accepted(s.sent(mark), r.retries); len(got) > 0 {
			return fmt.Errorf("the operator sent %v", got)
		}
		after := s.everything()
		if got := changed(before, after); len(got) > 0 {
			return fmt.Errorf("%s %s changed", got[0].GetKind(), got[0].GetName())
		}
		if r.because == "" {
			return rolledOut(after)
		}
		return nil
	})
}

// changed are the objects of after that before has not, or has otherwise.
func changed(before, after map[types.UID]*unstructured.Unstructured) (all []*unstructured.Unstructured) {
	for uid, o := range after {
		if was := before[uid]; was == nil || was.GetResourceVersion() != o.GetResourceVersion() {
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

// accepted are the requests that count: all, or with retries those writes that
// the server accepted.
func accepted(requests []kit.Request, retries bool) []kit.Request {
	if !retries {
		return requests
	}
	return slices.DeleteFunc(kit.Writes(requests), func(r kit.Request) bool { return r.Code >= 300 })
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
	all := map[types.UID]*unstructured.Unstructured{}
	for _, kind := range append(slices.Clone(kinds), s.apiVersion()+" Web") {
		apiVersion, name, _ := strings.Cut(kind, " ")
		for _, o := range cluster.List(s, apiVersion, name, client.InNamespace(s.namespace)) {
			all[o.GetUID()] = &o
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
