package patches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// rests waits until the operator has nothing left to do and nothing about this namespace
// changes any more.
func (s *site) rests(kinds ...string) {
	s.Helper()
	kinds = append(kinds, "v1 ConfigMap", "v1 Secret", "v1 Pod", s.apiVersion()+" Web")
	s.operator.AwaitReconciled(s, "webs."+s.group)
	kit.Eventually(s, "nothing changes any more", func() error {
		before := s.versions(kinds)
		s.operator.AwaitQuiet(s)
		if after := s.versions(kinds); !maps.Equal(before, after) {
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
