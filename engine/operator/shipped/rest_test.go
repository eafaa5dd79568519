package shipped

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/operator/testcluster"
)

// stretch is for how long nothing is to happen.
const stretch = 3 * time.Second

// sent lists the operator's requests about the site's namespace.
func (s *site) sent(mark int64) []testcluster.Request {
	s.Helper()
	var ours []testcluster.Request
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

// unprovoked says whether no change of workloads may be the reason of a write: a
// status may be due to any, what a Pod is given to its coming late.
func unprovoked(r testcluster.Request) bool {
	return !strings.HasSuffix(r.Resource, "/status") && !strings.HasPrefix(r.Resource, "pods")
}

// rests waits until the operator sends nothing about the namespace any more,
// and holds that it stays so and that these objects stay as they are. There is
// no rest while workloads change, as when a controller is late.
func (s *site) rests(objects ...*unstructured.Unstructured) {
	s.Helper()
	testcluster.Eventually(s, "the operator sends nothing any more", func() error {
		before, mark := s.workloads(), cluster.Mark(s)
		time.Sleep(stretch / 2)
		if sent := s.sent(mark); len(sent) > 0 {
			return fmt.Errorf("it sent %v", sent)
		}
		var held []*unstructured.Unstructured
		for _, o := range objects {
			held = append(held, s.get(o.GetKind(), o.GetName()))
		}
		mark = cluster.Mark(s)
		time.Sleep(stretch)
		sent, still := s.sent(mark), maps.Equal(before, s.workloads())
		if still && len(sent) > 0 || slices.ContainsFunc(testcluster.Writes(sent), unprovoked) {
			s.Fatalf("at rest the operator sent %v", sent)
		}
		if !still {
			return fmt.Errorf("workloads change, and the operator sent %v", sent)
		}
		for _, o := range held {
			if now := s.get(o.GetKind(), o.GetName()); now.GetResourceVersion() != o.GetResourceVersion() {
				s.Errorf("at rest %s %s changed", o.GetKind(), o.GetName())
			}
		}
		return nil
	})
}
