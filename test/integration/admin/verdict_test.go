package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestStatusVerdicts: everything is healthy only where it is known: not in a namespace or of a kind that
// does not exist, and not to a user who may list no resources.
func TestStatusVerdicts(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	s.becomes("that it serves", state(verdict.Serving))

	for _, args := range [][]string{
		{"status", "--namespace", "typo"},
		{"status", "typos", "--wait=1m"},
		{"status", "--installation", "typo/jacquard"},
	} {
		if a := s.as("admin", args...); a.code != 2 || !strings.Contains(a.stderr, "typo") {
			t.Errorf("%v: exit %d: %s", args, a.code, a.all())
		}
	}

	s.apply(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reads, namespace: ` + s.home + `}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: reads, namespace: ` + s.home + `}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: viewers}]}
`)
	kit.Eventually(t, "a user who may list no resources is not told that everything is healthy", func() error {
		h, a := s.status("viewer")
		if a.code != 3 || h.State != verdict.Unknown || !strings.HasSuffix(h.Headline, "it is not known whether everything is healthy; 1 kind could not be read") {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		return nil
	})
}

// TestStatusOfUnservedKind: a kind whose operator has a claim to it and no folder for it, as
// after its folder and roles were removed, is served by nobody.
func TestStatusOfUnservedKind(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.reports("default")
	s.leads("pod-1", 3600, time.Now())
	s.annotateCRD("jacquard.dev/operator", s.own())
	a := s.as("admin", "status", "--installation", s.own())
	for _, part := range []string{"✗ " + s.name() + "  NotServed", "the operator has a claim to it, and no folder for it", ": 3 problems\n"} {
		if a.code != 1 || !strings.Contains(a.stdout, part) {
			t.Errorf("exit %d, it does not say %q: %s", a.code, part, a.all())
		}
	}
}
