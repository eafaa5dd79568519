package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestDeletedCRD: once the CRD of a kind that was served is deleted, status says
// that something is wrong, after a restart too, until the CRD is there again or
// the folder goes.
func TestDeletedCRD(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.start(nil)
	s.web("a", "text: one")
	s.is("a", "Ready", "True", "")
	says := func(what string, code int, parts ...string) {
		t.Helper()
		kit.Eventually(t, what, func() error {
			a := s.as("admin", "status", "--installation", s.home+"/jacquard", "--root", s.root)
			for _, part := range parts {
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
	says("everything is healthy", 0, "✓ "+s.name(), "Serving")
	cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
	says("the CRD is gone", 1, "✗ "+s.name(), "CRDDeleted", "the CRD was deleted")
	s.operator.Stop(t)
	s.start(nil)
	says("it runs again and says so still", 1, "leader: ", "✗ "+s.name(), "CRDDeleted")
	s.apply(kit.WebCRD)
	says("the CRD is back", 0, "✓ "+s.name(), "Serving")
}
