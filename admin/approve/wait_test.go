package approve

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// TestProgress: the stop that was approved is no result of the approval. What is recorded
// once it was taken in is.
func TestProgress(t *testing.T) {
	const done, failed, waits = "done", "failed", "waits"
	stop := &Stop{Kind: "webs.example.com", Record: rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "two"}}, State: rollout.Stopped, Reason: rollout.NotReady}}
	for _, tt := range []struct {
		name, approved string
		record         rollout.Record
		want, says     string
	}{
		{"the stop that was approved", "two/NotReady", stop.Record, waits, "has not taken in"},
		{"under way", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "two"}}, State: rollout.Running}, waits, "RollingOut"},
		{"stopped again", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "two"}}, State: rollout.Stopped, Message: "again"}, failed, "again"},
		{"complete", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "two"}}, State: rollout.Complete}, done, "Serving"},
		{"another folder", "", rollout.Record{Revisions: []rollout.Revision{{Digest: "three"}}, State: rollout.Complete}, failed, "from two to three"},
	} {
		crd := &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationRollout: tt.record.String()}}
		if tt.approved != "" {
			crd.Annotations[api.AnnotationApproved] = tt.approved
		}
		p := stop.Progress(crd)
		got := map[[2]bool]string{{true, false}: done, {false, true}: failed, {false, false}: waits}[[2]bool{p.Done, p.Failed}]
		if got != tt.want || !strings.Contains(p.Message, tt.says) {
			t.Errorf("%s: it is %q: %s, want %s with %q", tt.name, got, p.Message, tt.want, tt.says)
		}
	}
}
