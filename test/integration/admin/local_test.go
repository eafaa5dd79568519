package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestLocalStatus: an operator on an admin's machine is told of like any other,
// and lacks no right; once it was killed, its kinds are not served, and the
// command that hands them over is printed.
func TestLocalStatus(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	op := cluster.Run(t, func(o *controller.Options) {
		o.Config = cluster.Config
		o.Local, o.LeaderElectionNamespace, o.Identity, o.Version = true, s.home, s.home+"/jacquard", "v0-test"
	}, s.root)
	s.web("a", "text: one")
	s.is("a", "Ready", "True", "")
	status := func(what string, code int, parts ...string) {
		t.Helper()
		kit.Eventually(t, what, func() error {
			a := s.as("admin", "status", "--installation", s.home+"/jacquard", "--root", s.root)
			for _, part := range append(parts, "KIND") {
				if !strings.Contains(a.stdout, part) {
					return fmt.Errorf("%q is missing in:\n%s", part, a.all())
				}
			}
			if a.code != code {
				return fmt.Errorf("exit code %d:\n%s", a.code, a.all())
			}
			return nil
		})
	}
	status("it runs", 0, "runs outside of the cluster", "✓ "+s.name(), "Serving", "everything is healthy")
	op.Stop(t)
	// As if it had been killed: Lease and claim stay.
	key := types.NamespacedName{Namespace: s.home, Name: "jacquard.jacquard.dev"}
	lease, err := cluster.Get("coordination.k8s.io/v1", "Lease", key.Namespace, key.Name)
	if err != nil {
		t.Fatal(err)
	}
	patch := `{"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}}`
	if err := cluster.Client.Patch(context.Background(), lease, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
	if err != nil {
		t.Fatal(err)
	}
	patch = fmt.Sprintf(`{"metadata": {"annotations": {"jacquard.dev/operator": %q}}}`, s.home+"/jacquard")
	if err := cluster.Client.Patch(context.Background(), crd, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	status("it was killed", 1, "✗ "+s.name(), "NotServed", "no operator runs", "kubectl annotate crd "+s.name()+" jacquard.dev/operator-")
}
