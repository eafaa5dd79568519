package rights

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestPlurals: the API server serves the kinds of Kubernetes itself by the names
// that rules have.
func TestPlurals(t *testing.T) {
	t.Parallel()
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	var lists []*metav1.APIResourceList
	kit.Eventually(t, "all is discovered, CRDs of other tests included", func() error {
		_, lists, err = client.ServerGroupsAndResources()
		return err
	})
	n := 0
	for _, list := range lists {
		gv, err := apischema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			gvk := gv.WithKind(r.Kind)
			if plural := rbac.BuiltInPlural(gvk); plural != "" && !strings.Contains(r.Name, "/") {
				n++
				if plural != r.Name {
					t.Errorf("%s is served as %s, not %s", gvk, r.Name, plural)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d kinds were compared", n)
	}
}
