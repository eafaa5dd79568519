package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestFlowControl: the API server takes requests of the operator's account for
// its own priority level, its Leases for that of leader elections, and requests
// of others for neither.
func TestFlowControl(t *testing.T) {
	t.Parallel()
	objects, err := render(release{name: "flows", namespace: "flows", values: values(t, "flowControl: {enabled: true}")})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"PriorityLevelConfiguration", "FlowSchema"} {
		for _, o := range ofKind(objects, kind) {
			apply(t, o)
			t.Cleanup(func() { cluster.Client.Delete(context.Background(), o) }) //nolint:errcheck // the cluster goes too
		}
	}
	const configMaps, lease = "/api/v1/namespaces/default/configmaps", "/apis/coordination.k8s.io/v1/namespaces/flows/leases/x"
	takes := func(account, path, want string) {
		t.Helper()
		kit.Eventually(t, account+" asks for "+path, func() error {
			level, err := cluster.Get("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "", want)
			if err != nil {
				return err
			}
			if got := levelOf(t, account, path); got != string(level.GetUID()) {
				return fmt.Errorf("it is at the level %s, not at %s, %s", got, want, level.GetUID())
			}
			return nil
		})
	}
	takes("flows-jacquard", configMaps, "flows-jacquard")
	takes("flows-jacquard", "/api/v1/nodes", "flows-jacquard")
	takes("flows-jacquard", lease, "leader-election")
	takes("other", configMaps, "workload-low")
	if some := ofKind(rendered(t, nil), "FlowSchema"); len(some) > 0 {
		t.Errorf("by default there is %s", some[0].GetName())
	}
}

// levelOf is the uid of the priority level at which the API server takes a request
// of a service account of the namespace flows. It says so also of one that it then
// refuses.
func levelOf(t *testing.T, account, path string) string {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:flows:" + account, Groups: []string{"system:serviceaccounts", "system:authenticated"},
	}
	as, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := as.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("X-Kubernetes-PF-PriorityLevel-UID")
}
