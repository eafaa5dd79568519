//go:build !operator

package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// TestStatusKnowsWhatTheCRDRecords: right after an approval or a rollback, status does not
// repeat the state before it, which the operator still reports. It reads no CRD twice.
func TestStatusKnowsWhatTheCRDRecords(t *testing.T) {
	stopped := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "new"}}, State: rollout.Stopped, Reason: rollout.Deletes, DeletionCount: 2, Stop: "new/Deletes/w"}
	const back = "the operator has not taken in the rollback yet"
	for name, c := range map[string]struct {
		reported, approved, rollback string
		record                       rollout.Record
		want                         string
	}{
		"a stop":                           {"RolloutStopped", "", "", stopped, "RolloutStopped  as reported"},
		"an approval that is not taken in": {"RolloutStopped", stopped.Stop, "", stopped, "RollingOut  the operator has not taken in the approval yet"},
		"what was approved goes on": {"RolloutStopped", "", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "new"}}, State: rollout.Running, Total: 3},
			"RollingOut  of 3 resources that change 0 are reached"},
		"what was approved is complete": {"RolloutStopped", "", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "new"}}, State: rollout.Complete},
			"RollingOut  the operator has not reported yet that its rollout is complete"},
		"a rollback that is not taken in":                   {"Serving", "", "old new r", rollout.Record{}, "RollingOut  " + back},
		"a rollback of a folder that does not load":         {"FolderInvalid", "", "old new r", rollout.Record{}, "FolderInvalid  as reported"},
		"a rollout of a folder that does not load any more": {"FolderInvalid", "", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "new"}}, State: rollout.Running}, "FolderInvalid  as reported"},
	} {
		t.Run(name, func(t *testing.T) {
			s, kubeconfig, _ := sickCluster(t, http.NotFound)
			report := object(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: jacquard-report, namespace: default}}")
			crd := object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: webs.example.com}}")
			annotate := func(o *unstructured.Unstructured, values map[string]string) {
				s.Change(o, "somebody", func(o *unstructured.Unstructured) {
					all := o.GetAnnotations()
					for key, value := range values {
						if value != "" {
							all[key] = value
						}
					}
					o.SetAnnotations(all)
				})
			}
			annotate(report, map[string]string{"jacquard.dev/report": `{"version":"v1","identity":"default/jacquard","kinds":[{"name":"webs.example.com",` +
				`"served":"example.com/v1","state":"` + c.reported + `","message":"as reported"}]}`})
			annotate(crd, map[string]string{"jacquard.dev/rollout": c.record.String(), "jacquard.dev/approved": c.approved, "jacquard.dev/rollback": c.rollback})
			var out, errs bytes.Buffer
			Main([]string{"status", "-o", "json", "--kubeconfig", kubeconfig}, nil, &out, &errs)
			var h struct {
				Installations []struct {
					Kinds []struct{ Name, State, Message, Stop string }
				}
			}
			if err := json.Unmarshal(out.Bytes(), &h); err != nil || len(h.Installations) != 1 {
				t.Fatalf("%v: %s%s", err, &out, &errs)
			}
			k := h.Installations[0].Kinds[0]
			if got := k.State + "  " + k.Message; !strings.HasPrefix(got, c.want) {
				t.Errorf("%s is %q, want %q", k.Name, got, c.want)
			}
			if k.State == "RollingOut" && k.Stop != "" {
				t.Errorf("a kind that is %s has the stop %s", k.State, k.Stop)
			}
			reads := 0
			for _, r := range s.Requests() {
				if r.String() == "get customresourcedefinitions webs.example.com" {
					reads++
				}
			}
			if reads != 1 {
				t.Errorf("the CRD was read %d times", reads)
			}
		})
	}
}
