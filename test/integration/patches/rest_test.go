package patches

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// stretch is for how long nothing is to happen.
const stretch = 3 * time.Second

// rests waits until the operator sends nothing about this namespace, and sees
// that nothing in it changes any more.
func (s *site) rests(kinds ...string) {
	s.Helper()
	kinds = append(kinds, "v1 ConfigMap", "v1 Secret", "v1 Pod", s.apiVersion()+" Web")
	before := s.versions(kinds)
	kit.Eventually(s, "the operator rests", func() error {
		mark := cluster.Mark(s)
		time.Sleep(stretch)
		if got := s.sent(mark); len(got) > 0 {
			before = s.versions(kinds)
			return fmt.Errorf("it sent %v", got)
		}
		after := s.versions(kinds)
		defer func() { before = after }()
		if fmt.Sprint(after) != fmt.Sprint(before) {
			return fmt.Errorf("something changes: %v, was %v", after, before)
		}
		return nil
	})
}

// versions are the resourceVersions of everything of these kinds.
func (s *site) versions(kinds []string) map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, kind := range kinds {
		apiVersion, name, _ := strings.Cut(kind, " ")
		for _, o := range cluster.List(s, apiVersion, name, client.InNamespace(s.namespace)) {
			all[kind+" "+o.GetName()] = o.GetResourceVersion()
		}
	}
	return all
}

// sent is what the operator sent about this namespace since mark.
func (s *site) sent(mark int64) []kit.Request {
	s.Helper()
	return slices.DeleteFunc(cluster.Requests(s, mark), func(r kit.Request) bool { return r.Namespace != s.namespace })
}
