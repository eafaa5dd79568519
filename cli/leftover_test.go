//go:build !operator

package cli

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// TestLeftOverDivision: an operator that serves all resources alone runs, whatever the
// replicas before it left in its Lease.
func TestLeftOverDivision(t *testing.T) {
	const lease = "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: jacquard.dev, namespace: default}, spec: {holderIdentity: HOLDER, leaseDurationSeconds: 60}}"
	const left = `{"owners":["pod-gone"],"leader":"pod-gone"}`
	for holder, c := range map[string]struct{ status, eject string }{
		"pod-1_uid": {"leader: pod-1_uid", "operator default/jacquard serves it"},
		"replicas":  {"no operator runs", "deleted"},
	} {
		for args, want := range map[string]string{"status": c.status, "eject webs.example.com --yes": c.eject} {
			t.Run(holder+"/"+args, func(t *testing.T) {
				s, kubeconfig, _ := sickCluster(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}`)
				})
				report := object(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: jacquard-report, namespace: default}}")
				s.Change(report, "jacquard", func(o *unstructured.Unstructured) {
					o.SetAnnotations(map[string]string{"jacquard.dev/report": `{"version":"v1","identity":"default/jacquard","lease":"jacquard.dev","leaseNamespace":"default",
						"kinds":[{"name":"webs.example.com","served":"example.com/v1","state":"Serving"}]}`})
				})
				held := object(t, strings.ReplaceAll(lease, "HOLDER", holder))
				held.SetAnnotations(map[string]string{"jacquard.dev/division": left})
				renew := func() {
					s.Change(held, "jacquard", func(o *unstructured.Unstructured) {
						_ = unstructured.SetNestedField(o.Object, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), "spec", "renewTime")
					})
				}
				renew()
				s.delay = func(r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/leases/jacquard.dev") {
						renew()
					}
				}
				var out, errs bytes.Buffer
				Main(append(strings.Fields(args), "--kubeconfig", kubeconfig), strings.NewReader(""), &out, &errs)
				if text := out.String() + errs.String(); !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			})
		}
	}
}

// TestLeaderOfReplicas: the Lease of the replica that leads tells since when it runs, which
// is not since when it leads.
func TestLeaderOfReplicas(t *testing.T) {
	s, kubeconfig, _ := sickCluster(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}`)
	})
	now := time.Now().UTC()
	for name, annotation := range map[string]string{
		"jacquard-report": `{"version":"v1","identity":"default/jacquard","lease":"jacquard.dev","leaseNamespace":"default","kinds":[]}`,
		"jacquard.dev":    `{"owners":["pod-1"],"leader":"pod-1"}`,
		"pod-1":           `{}`,
	} {
		lease := object(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {namespace: default}}")
		lease.SetName(name)
		s.Change(lease, "jacquard", func(o *unstructured.Unstructured) {
			key := map[string]string{"jacquard-report": api.AnnotationReport, "jacquard.dev": api.AnnotationDivision, "pod-1": api.AnnotationReplica}[name]
			o.SetAnnotations(map[string]string{key: annotation})
			if name != "jacquard-report" {
				o.SetLabels(map[string]string{api.LabelReplicas: shard.ID("default/jacquard")})
			}
			o.Object["spec"] = map[string]any{
				"holderIdentity": "replicas", "leaseDurationSeconds": int64(60),
				"acquireTime": now.Add(-7 * time.Minute).Format("2006-01-02T15:04:05.000000Z"), "renewTime": now.Format("2006-01-02T15:04:05.000000Z"),
			}
		})
	}
	var out, trouble bytes.Buffer
	Main([]string{"status", "--kubeconfig", kubeconfig}, strings.NewReader(""), &out, &trouble)
	if !strings.Contains(out.String(), "leader: pod-1\n") {
		t.Errorf("it prints %s%s", out.String(), trouble.String())
	}
}
