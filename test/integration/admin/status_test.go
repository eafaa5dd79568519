package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var plain = map[string]string{"map.yaml": modest["map.yaml"]}

// status is what `jacquard status -o json` says of the site's installation.
func (s *site) status(user string, args ...string) (*health.Health, answer) {
	s.Helper()
	a := s.as(user, append([]string{"status", "--installation", s.home + "/jacquard", "-o", "json"}, args...)...)
	h := &health.Health{}
	if err := json.Unmarshal([]byte(a.stdout), h); err != nil {
		s.Fatalf("%v: %s", err, a.all())
	}
	return h, a
}

// becomes waits until the status is as check says.
func (s *site) becomes(what string, check func(*health.Health, *health.Kind) bool, args ...string) (*health.Health, answer) {
	s.Helper()
	var h *health.Health
	var a answer
	kit.Eventually(s, "the status says "+what, func() error {
		h, a = s.status("admin", args...)
		if len(h.Installations) != 1 || len(h.Installations[0].Kinds) != 1 || !check(h, h.Installations[0].Kinds[0]) {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		return nil
	})
	return h, a
}

func state(want verdict.State) func(*health.Health, *health.Kind) bool {
	return func(_ *health.Health, k *health.Kind) bool { return k.State == want }
}

// TestStatus: an installation that is healthy, and all that can be wrong with it.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	h, a := s.becomes("that everything is healthy", func(h *health.Health, k *health.Kind) bool {
		return k.State == verdict.Serving && k.Resources != nil && k.Resources.Ready == 1 && len(h.Problems) == 0
	}, "--root", s.root)
	i := h.Installations[0]
	if a.code != 0 || len(h.Unknown) > 0 || i.Leader.State != verdict.Leading || i.Program != "v0-test" ||
		i.Account != s.operator.Access.User() || i.Kinds[0].Served != s.group+"/v1" {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	mark := cluster.Mark(t)
	text := s.as("admin", "status", "--installation", s.home+"/jacquard", "--root", s.root)
	for _, part := range []string{s.home + "/jacquard  v0-test\n", "leader: ", "✓ webs." + s.group + "  Serving  v1       1: 1 ready  root ",
		"\nin all namespaces, of " + s.home + "/jacquard: everything is healthy; 1 kind with 1 resource\n"} {
		if text.code != 0 || !strings.Contains(text.stdout, part) {
			t.Errorf("exit %d, it does not say %q:\n%s", text.code, part, text.all())
		}
	}
	s.write(map[string]string{"map.yaml": strings.Replace(plain["map.yaml"], ".spec.text", "nonsense .spec.text", 1)})
	_, a = s.becomes("that the folder is broken", state(verdict.FolderInvalid))
	if a.code != 1 || !strings.Contains(a.stdout, "map.yaml:5:") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	s.write(plain)
	s.becomes("that it serves", state(verdict.Serving))
	s.write(map[string]string{"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nretired: [{apiVersion: v1, kind: Service}]\n"})
	s.becomes("that nothing is left of what is retired", func(_ *health.Health, k *health.Kind) bool {
		return len(k.Dropped) == 0 && len(k.Retired) == 1 && k.Retired[0].MayGo
	}, "--root", s.root)
	s.annotateCRD("jacquard.dev/paused", "true")
	s.is("a", "Paused", "True", "")
	if _, a = s.becomes("that it is paused", func(_ *health.Health, k *health.Kind) bool {
		return k.State == verdict.Paused && k.Resources.Paused == 1
	}); a.code != 0 {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	s.annotateCRD("jacquard.dev/paused", nil)
	s.web("b", "")
	s.is("b", "Ready", "False", "")
	if _, a = s.becomes("that b is not ready", func(_ *health.Health, k *health.Kind) bool { return len(k.NotReady) == 1 }); a.code != 1 {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	s.operator.Stop(t)
	_, a = s.becomes("that nobody runs", func(h *health.Health,
		_ *health.Kind) bool {
		return h.Installations[0].Leader.State == verdict.NoLeader
	})
	if a.code != 1 || !strings.Contains(a.stdout, "no operator runs") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	for _, q := range cluster.AllRequests(t, mark) {
		if q.User == s.operator.Access.User() && q.Code == 403 {
			t.Errorf("refused: %s", q)
		}
	}
}

// absent is a child of a kind that the cluster does not serve.
const absent = `{{ if hasAPI "absent.example.com/v1" "Absent" }}
apiVersion: absent.example.com/v1
kind: Absent
metadata: {name: {{ .metadata.name }}}
{{ end }}
`

// TestStatusLacks: the rights that the operator lacks, as the API server says;
// those on an API that is not served are not needed.
func TestStatusLacks(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"map.yaml": plain["map.yaml"], "absent.yaml": absent})
	s.start(nil)
	s.operator.Access.Deny(func(r rbac.Rule, verb string) bool { return r.Resource == "configmaps" && verb == "patch" })
	s.web("a", "text: one")
	s.is("a", "Ready", "False", "the missing rule")
	h, a := s.becomes("the missing right", func(h *health.Health, k *health.Kind) bool {
		return k.State == verdict.Serving && len(h.Installations[0].Lacks) == 1 && strings.Contains(h.Installations[0].Lacks[0], "resources: [configmaps], verbs: [patch]")
	}, "--root", s.root)
	if a.code != 1 || len(h.Unknown) > 0 {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
}

// TestStatusOfViewer: whoever may not read everything is told what.
func TestStatusOfViewer(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	h, a := s.status("viewer")
	if a.code != 3 || h.State != verdict.Unknown || len(h.Problems) > 0 || !strings.Contains(a.stdout, `cannot get resource \"leases\"`) {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	s.apply(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reads, namespace: ` +
		s.home + `}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: reads, namespace: ` + s.home + `}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: viewers}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: webs}, rules: [{apiGroups: [GROUP], resources: [webs], verbs: [list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: webs}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: webs}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: viewers}]}
`)
	kit.Eventually(t, "a viewer sees what they may", func() error {
		h, a = s.status("viewer", "-n", s.namespace)
		if a.code != 0 || len(h.Installations) != 1 || len(h.Installations[0].Kinds) != 1 || h.Installations[0].Kinds[0].Resources == nil ||
			h.Installations[0].Kinds[0].Resources.Ready != 1 {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		return nil
	})
	if len(h.Unknown) == 0 || !strings.Contains(a.stdout, "subjectaccessreviews") {
		t.Errorf("it does not say what is not known: %s", a.all())
	}
}

// TestReportAtRest: while nothing changes, no report is written, and a kind that
// two installations have a folder for is told of by both.
func TestReportAtRest(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	s.becomes("that it serves", state(verdict.Serving))
	other := *s
	other.home = cluster.Namespace(t)
	other.start(nil)
	h, _ := other.becomes("that another serves it", state(verdict.ServedElsewhere))
	if k := h.Installations[0].Kinds[0]; !strings.Contains(k.Message, s.home+"/jacquard") || h.Installations[0].Leader.State != verdict.Leading {
		t.Errorf("%+v", h.Installations[0])
	}
	mark := cluster.Mark(t)
	s.web("b", "text: two")
	s.is("b", "Ready", "True", "")
	for _, q := range s.operator.AllRequests(t, mark) {
		if q.Resource == "leases" && q.Name == "jacquard-report" && q.Verb != "get" {
			t.Errorf("at rest: %s", q)
		}
	}
}

// annotateCRD sets an annotation of the site's CRD; nil takes it off.
func (s *site) annotateCRD(key string, value any) {
	s.Helper()
	o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
	if err != nil {
		s.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err == nil {
		err = cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, text))
	}
	if err != nil {
		s.Fatal(err)
	}
}
