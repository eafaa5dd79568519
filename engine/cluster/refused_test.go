package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// TestRefusedDiscovery: who may not discover what the cluster serves is told whom the API server
// takes the caller for.
func TestRefusedDiscovery(t *testing.T) {
	const text = `forbidden: User "system:anonymous" cannot get path`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden: User \"system:anonymous\" cannot get path","reason":"Forbidden","code":403}`))
	}))
	defer server.Close()
	d, err := NewDiscovery(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s", err, text)
	}
	// So is the operator, whose mapper meets the same refusal.
	_, err = d.client.ServerGroups()
	if err = d.ExplainRefusal(t.Context(), fmt.Errorf("failed to get server groups: %w", err)); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s", err, text)
	}
}
