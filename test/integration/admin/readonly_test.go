package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// modest is a kind with a child that the garbage collector reaches and one that
// it does not.
var modest = map[string]string{
	"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: v1, kind: Namespace}\n",
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}}
data:
  text: "{{ .spec.text }}"
`,
	"space.yaml": `apiVersion: v1
kind: Namespace
metadata:
  name: NS-{{ .metadata.name }}
  annotations: {jacquard.dev/on-delete: delete}
`,
}

// TestReadOnly: an operator that is read-only writes nothing but Leases and
// Events, while there is drift, a new resource, a changed folder and one that
// goes, and counts what it would change, by the changed folder too; and one that is not goes on where it left off.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := lay(t, modest)
	s.start(nil)
	for _, name := range []string{"drifts", "goes", "calm"} {
		s.web(name, "text: one")
		s.is(name, "Ready", "True", "")
	}
	s.operator.Stop(t)
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: drifts}, data: {text: theirs}}")
	s.web("new", "text: one")
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "goes")
	mark := cluster.Mark(t)
	s.start(func(o *controller.Options) { o.ReadOnly = true })
	s.told("drifts", "update 1")
	s.told("new", "create 2")
	s.told("goes", "delete 1, let the resource go")
	kit.Eventually(t, "the report tells of three", func() error {
		if r := s.report(); r == nil || !r.ReadOnly || len(r.Kinds) != 1 || r.Kinds[0].Pending != 3 {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})
	s.pending()
	s.write(map[string]string{"map.yaml": modest["map.yaml"] + "  more: x\n", "space.yaml": modest["space.yaml"]})
	s.told("calm", "roll out the changed folder")
	kit.Eventually(t, "the changed folder is tried, and what it would change is counted", func() error {
		if r := s.report(); r == nil || len(r.Kinds) != 1 || r.Kinds[0].State != verdict.RollingOut || r.Kinds[0].Pending != 4 {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})
	s.operator.Stop(t)
	sent := s.operator.AllRequests(t, mark)
	for _, q := range kit.Writes(sent) {
		if q.Verb != "watch" && q.Resource != "leases" && q.Resource != "events" && !strings.HasSuffix(q.Resource, "reviews") {
			t.Errorf("a read-only operator sent %s", q)
		}
	}
	if !slices.ContainsFunc(sent, func(q kit.Request) bool { return q.Resource == "leases" && q.Verb == "patch" }) {
		t.Error("no report was written: this test looks at the wrong requests")
	}
	s.start(nil)
	s.is("drifts", "Ready", "True", "")
	s.is("new", "Ready", "True", "")
	kit.Eventually(t, "goes is gone", func() error { return cluster.Gone(s.group+"/v1", "Web", s.namespace, "goes") })
	kit.Eventually(t, "the drift is corrected", func() error {
		o, err := cluster.Get("v1", "ConfigMap", s.namespace, "drifts")
		if err == nil && fmt.Sprint(o.Object["data"]) != "map[more:x text:one]" {
			err = fmt.Errorf("%v", o.Object["data"])
		}
		return err
	})
}

// pending looks at the status while a resource is new: under read-only it waits,
// and nothing is wrong with it.
func (s *site) pending() {
	s.Helper()
	s.becomes("that new is not served yet", func(h *health.Health, k *health.Kind) bool {
		return h.Installations[0].ReadOnly && k.Resources != nil && k.Resources.Unserved == 1 && len(k.NotReady) == 0
	})
}

// told waits for the event that says what would be done for a resource.
func (s *site) told(name, part string) {
	s.Helper()
	kit.Eventually(s, "an event tells that "+name+" would "+part, func() error {
		var all eventsv1.EventList
		if err := cluster.Client.List(context.Background(), &all, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		var notes []string
		for _, e := range all.Items {
			if e.Reason == "ReadOnly" && e.Regarding.Name == name {
				notes = append(notes, e.Note)
			}
		}
		if !strings.Contains(strings.Join(notes, "\n"), part) {
			return fmt.Errorf("%q", notes)
		}
		return nil
	})
}

// report is the report in the site's home, or nil.
func (s *site) report() *heartbeat.Report {
	lease, err := cluster.Get("coordination.k8s.io/v1", "Lease", s.home, "jacquard-report")
	if err != nil {
		return nil
	}
	r, err := heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport])
	if err != nil {
		s.Fatal(err)
	}
	return r
}
