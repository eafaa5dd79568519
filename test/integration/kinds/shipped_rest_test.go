package kinds

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// sent lists the operator's requests about the site's namespace.
func (s *site) sent(mark int64) []kit.Request {
	s.Helper()
	return slices.DeleteFunc(cluster.Requests(s, mark), func(r kit.Request) bool { return r.Namespace != s.ns })
}

// rests waits until nothing happens any more: the operator sends no request about the
// namespace, and these objects stay as they are, and so do the workloads, which the
// controllers of Kubernetes change. An operator that writes again and again never rests.
func (s *site) rests(objects ...*unstructured.Unstructured) {
	s.Helper()
	mark := cluster.Mark(s)
	cluster.AwaitQuiet(s, func() (string, error) {
		sent := s.sent(mark)
		activity := fmt.Sprint(len(sent), " requests: ", sent[max(0, len(sent)-3):])
		for _, kind := range []string{"Deployment", "ReplicaSet", "DaemonSet", "Pod"} {
			for _, o := range s.list(kind) {
				activity += " " + version(&o)
			}
		}
		for _, o := range objects {
			activity += " " + version(s.get(o.GetKind(), o.GetName()))
		}
		return activity, nil
	})
}

// version tells any two states of an object apart.
func version(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s@%s", o.GetKind(), o.GetName(), o.GetResourceVersion())
}
