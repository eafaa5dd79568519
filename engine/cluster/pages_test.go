package cluster

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// TestPagesKeepLittle: of a list in pages, too, only what somebody asks for is
// held whole.
func TestPagesKeepLittle(t *testing.T) {
	_, s, _ := still(t)
	s.watch.kind.policy.(*readPolicy).reads.Record(reader("one"), []Query{selecting(t, everyConfigMap, "n", "app=app-7")})
	s.watch.resource.GVR = configMaps.GroupVersion().WithResource("configmaps")
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "ConfigMapList", "apiVersion": "v1",
			"metadata": map[string]any{"resourceVersion": "20000", "continue": "more"}, "items": podList(100)})
	}))
	defer at.Close()
	c, err := newClients(&rest.Config{Host: at.URL}, at.Client())
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.sourceFor(s).ListWithContextFunc(t.Context(), metav1.ListOptions{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	whole, all := 0, 0
	if err := meta.EachListItem(list, func(o runtime.Object) error {
		all++
		if _, is := o.(*unstructured.Unstructured); is {
			whole++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	said, err := meta.ListAccessor(list)
	if err != nil || whole != 5 || all != 100 || said.GetContinue() != "more" || said.GetResourceVersion() != "20000" {
		t.Errorf("%d of %d objects are whole, want 5 of 100, at %s and %q (%v)", whole, all, said.GetResourceVersion(), said.GetContinue(), err)
	}
}
