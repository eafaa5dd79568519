package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// TestReportIsKept: a report that somebody deletes, or takes off its Lease, is written
// again within a minute, although nothing changed. At rest none is written.
func TestReportIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*memory.Server, *unstructured.Unstructured)
		writes int
	}{
		"at rest": {func(*memory.Server, *unstructured.Unstructured) {}, 0},
		"deleted": {func(s *memory.Server, lease *unstructured.Unstructured) { s.Delete(lease) }, 1},
		"taken off": {func(s *memory.Server, lease *unstructured.Unstructured) {
			s.Change(lease, "somebody", func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := memory.New(live.Leases)
				config, client := server.Client()
				writer, err := apply.NewWriter(config, client)
				if err != nil {
					t.Fatal(err)
				}
				o := defining(t)
				t.Cleanup(o.names.ShutDown)
				o.options = Options{Config: &rest.Config{Host: config.Host, Transport: server}, Namespace: "home", Identity: "home/jacquard"}
				o.reportWriter = writer
				o.inFlight.setShare(replicas.Share{Leads: true})
				go o.report.keepReport(t.Context()) //nolint:errcheck // it ends with the test
				read := func() (*unstructured.Unstructured, bool) {
					lease := server.Get(live.Leases.GVK, "home", api.ReportLease(o.options.Identity))
					if lease == nil {
						return nil, false
					}
					r, err := heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport])
					return lease, err == nil && r != nil && r.Identity == o.options.Identity
				}
				time.Sleep(reportResync)
				lease, isWritten := read()
				if !isWritten {
					t.Fatalf("no report is written: %v", lease)
				}
				server.Requests()
				c.change(server, lease)
				time.Sleep(reportResync + reportGap)
				if lease, isWritten := read(); !isWritten {
					t.Errorf("the report is not written again: %v", lease)
				}
				time.Sleep(time.Hour)
				writes := 0
				for _, r := range server.Requests() {
					if r.Writes() {
						writes++
					}
				}
				if writes != c.writes {
					t.Errorf("%d writes, want %d", writes, c.writes)
				}
			})
		})
	}
}
