package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// stretch is for how long nothing is to happen.
const stretch = 3 * time.Second

// sent lists the operator's requests about the site's namespace.
func (s *site) sent(mark int64) []kit.Request {
	s.Helper()
	var ours []kit.Request
	for _, r := range cluster.Requests(s, mark) {
		if r.Namespace == s.ns {
			ours = append(ours, r)
		}
	}
	return ours
}

// workloads are the resource versions of what Kubernetes' controllers change in
// the namespace, and the operator tells of.
func (s *site) workloads() map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, kind := range []string{"Deployment", "ReplicaSet", "DaemonSet", "Pod"} {
		for _, o := range s.list(kind) {
			all[kind+" "+o.GetName()] = o.GetResourceVersion()
		}
	}
	return all
}

// unprovoked reports whether no change of workloads may be the reason of a write: a
// status may be due to any, what a Pod is given to its coming late.
func unprovoked(r kit.Request) bool {
	return !strings.HasSuffix(r.Resource, "/status") && !strings.HasPrefix(r.Resource, "pods")
}

// tellers are the resources and Pods that were written to since workloads changed.
type tellers map[string]bool

// again notes a request, and reports whether there was such a one before.
func (t tellers) again(r kit.Request) bool {
	what := r.Resource + " " + r.Name
	before := t[what]
	t[what] = true
	return before
}

// rests waits until the operator sends nothing about the namespace any more,
// and holds that it stays so and that these objects stay as they are. There is
// no rest while workloads change, as when a controller is late. A status may be
// due for ten seconds after they did: each resource may tell once.
func (s *site) rests(objects ...*unstructured.Unstructured) {
	s.Helper()
	var old map[string]string
	told := tellers{}
	kit.Eventually(s, "the operator sends nothing any more", func() error {
		before, mark := s.workloads(), cluster.Mark(s)
		time.Sleep(stretch / 2)
		if sent := s.sent(mark); len(sent) > 0 {
			return fmt.Errorf("it sent %v", sent)
		}
		if !maps.Equal(old, before) {
			old = before
			clear(told)
		}
		var held []*unstructured.Unstructured
		for _, o := range objects {
			held = append(held, s.get(o.GetKind(), o.GetName()))
		}
		mark = cluster.Mark(s)
		time.Sleep(stretch)
		sent, still := s.sent(mark), maps.Equal(before, s.workloads())
		writes := kit.Writes(sent)
		if slices.ContainsFunc(writes, unprovoked) || still && (len(writes) < len(sent) || slices.ContainsFunc(writes, told.again)) {
			s.Fatalf("at rest the operator sent %v", sent)
		}
		if !still || len(sent) > 0 {
			return fmt.Errorf("workloads stay: %v; the operator sent %v", still, sent)
		}
		for _, o := range held {
			if now := s.get(o.GetKind(), o.GetName()); now.GetResourceVersion() != o.GetResourceVersion() {
				s.Errorf("at rest %s %s changed", o.GetKind(), o.GetName())
			}
		}
		return nil
	})
}
