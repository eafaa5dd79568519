package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/eject"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// forge writes a report as an editor of the site's namespace.
func (s *site) forge(name string, r heartbeat.Report) {
	s.Helper()
	o := kit.Parse(s, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: "+name+"}}")[0]
	o.SetNamespace(s.namespace)
	o.SetLabels(map[string]string{api.LabelPartOf: api.PartOf})
	o.SetAnnotations(map[string]string{api.AnnotationReport: r.String()})
	s.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: editor}, " +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, " +
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: editor}]}")
	cfg := rest.CopyConfig(cluster.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: editor}
	leases, err := client.New(cfg, client.Options{})
	if err != nil {
		s.Fatal(err)
	}
	kit.Eventually(s, "the editor may write a Lease", func() error { return leases.Create(context.Background(), o.DeepCopy()) })
	s.Cleanup(func() { cluster.Delete(s, "coordination.k8s.io/v1", "Lease", s.namespace, name) })
}

// TestForgedReport: a report that others wrote passes for nobody else's, decides nothing
// as its installation holds no claim, and cannot control the terminal of whoever names
// it. It runs before the tests that run side by side.
func TestForgedReport(t *testing.T) {
	s := lay(t, plain)
	home := s.home + "/jacquard"
	s.forge("another-report", heartbeat.Report{Identity: home, Kinds: []heartbeat.Kind{{Name: s.name(), State: verdict.Serving}}})
	s.forge("own-report", heartbeat.Report{Identity: s.namespace + "/own",
		Kinds: []heartbeat.Kind{{Name: s.name(), State: verdict.FolderInvalid, Message: "a\x1b]0;b\x07\u009bc"}}})
	h := s.statusOfAll()
	for _, i := range h.Installations {
		t.Errorf("a forged report counts: %+v", i)
	}
	if own := s.namespace + "/own"; !slices.Contains(h.Claimless, own) || slices.Contains(h.Claimless, home) {
		t.Errorf("claiming nothing: %v, want %s and not %s", h.Claimless, own, home)
	}
	a := s.as("admin", "status", "--installation", s.namespace+"/own")
	if !strings.Contains(a.stdout, "a\ufffd]0;b\ufffd\ufffdc") || strings.ContainsAny(a.stdout, "\x1b\x07\u009b") {
		t.Errorf("%q", a.stdout)
	}
}

// TestEjectForgedLease: a Lease that is renewed once in a hundred years, as it
// says, does not hold up an ejection. It runs before the tests that run side by side, whose
// installations it would find.
func TestEjectForgedLease(t *testing.T) {
	s := lay(t, plain)
	s.forge("own-report", heartbeat.Report{Identity: s.namespace + "/own", Lease: "leader", LeaseNamespace: s.namespace})
	o := kit.Parse(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader}, spec: {holderIdentity: me, leaseDurationSeconds: 2000000000}}")[0]
	o.SetNamespace(s.namespace)
	if err := unstructured.SetNestedField(o.Object, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"), "spec",
		"renewTime"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Create(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := s.ejection(ctx, eject.All)
	e.Patience = 2 * time.Second
	if err := errors.Join(e.Idle(ctx), e.Strip(ctx, nil, func(eject.Object) {})); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Get("coordination.k8s.io/v1", "Lease", s.namespace, "own-report"); err != nil {
		t.Errorf("a report was deleted of which it is not known whether its operator runs: %v", err)
	}
}
