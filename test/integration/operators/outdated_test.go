package operators

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// beyond is a folder with a child that the garbage collector does not reach: so
// the resource gets our finalizer.
var beyond = map[string]string{"kind.yaml": everyWay["kind.yaml"], "map.yaml": everyWay["map.yaml"], "role.yaml": everyWay["role.yaml"]}

// TestOutdated: somebody changes the CRD, or the resource, just before the
// operator writes a record there that says what it has seen. The record is
// written again, and the status never tells of it.
func TestOutdated(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct{ resource, record string }{
		"crd": {"customresourcedefinitions", "jacquard.dev/child-kinds"}, "resource": {"webs", "finalizers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, beyond)
			w, records := newWire(), 0
			w.set(func(r request) blow {
				if r.method == http.MethodPatch && r.resource == at.resource && strings.Contains(r.body, at.record) {
					if records++; records == 1 {
						s.touch(r)
					}
				}
				return pass
			})
			s.start(w)
			s.web("a", want{"one", "old", false}.spec())
			ready := func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a") }
			kit.Eventually(t, "it is ready", ready)
			s.rests("it was made", ready)
			var said []string
			for _, r := range s.wrote() {
				if r.resource == "webs/status" {
					said = append(said, r.body)
				}
			}
			if len(said) != 1 || strings.Contains(said[0], "RecordFailed") {
				t.Errorf("the statuses were %q", said)
			}
			if records < 2 { // more, if the watch shows the change after the next turn only
				t.Errorf("the record was sent %d times, not refused once", records)
			}
		})
	}
}

// touch changes the annotations of the object that a request is about.
func (s *site) touch(r request) {
	o := &unstructured.Unstructured{}
	o.SetName(r.name)
	o.SetNamespace(r.namespace)
	o.SetAPIVersion(s.apiVersion())
	o.SetKind("Web")
	if r.namespace == "" {
		o.SetAPIVersion("apiextensions.k8s.io/v1")
		o.SetKind("CustomResourceDefinition")
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/touched":%q}}}`, s.group)
	if err := cluster.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		s.Error(err)
	}
}
