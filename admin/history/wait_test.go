package history

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// TestProgress: what was recorded before the rollback, or its end, was taken in says
// nothing about it.
func TestProgress(t *testing.T) {
	const done, failed, waits = "done", "failed", "waits"
	back := &Plan{Revision: &revision.Revision{Digest: "to"}, back: rollout.Rollback{To: "to", From: "from", Request: "mine"}}
	end := &Plan{back: rollout.Rollback{To: "to", From: "from", Request: "mine"}}
	same := &Plan{back: end.back, Target: "to"}
	for _, tt := range []struct {
		name       string
		plan       *Plan
		annotation string
		record     rollout.Record
		want, says string
	}{
		{"a stop from before", back, "to from mine", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "from"}}, State: rollout.Stopped}, waits, "has not taken in"},
		{"an end from before", back, "to from mine", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete}, waits, "has not taken in"},
		{"the end of an earlier rollback", back, "to from mine", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "other"}, waits, "has not taken in"},
		{"under way", back, "to from mine", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "to"}}, State: rollout.Running, Rollback: "mine"}, waits, "RollingOut"},
		{"stopped", back, "to from mine", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "to"}}, State: rollout.Stopped, Rollback: "mine", Message: "too many"}, failed, "too many"},
		{"complete", back, "to from mine set", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "mine"}, done, "RolledBack"},
		{"ended", back, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "mine"}, failed, "has ended"},
		{"replaced", back, "to from other", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "mine"}, failed, "meanwhile"},
		{"released, and not taken in", end, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "mine"}, waits, "has not taken in"},
		{"released, and previewed", end, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete}, waits, "has not taken in"},
		{"released, and under way", end, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "from"}}, State: rollout.Running}, waits, "RollingOut"},
		{"released, and stopped", end, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "from"}}, State: rollout.Stopped}, failed, "Stopped"},
		{"released, and complete", end, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "from"}}, State: rollout.Complete}, done, "Serving"},
		{"released, and the folder is the revision", same, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete}, done, "Serving"},
		{"released, not taken in, and the folder is the revision", same, "", rollout.Record{Revisions: []rollout.Revision{{Digest: "to"}}, State: rollout.Complete, Rollback: "mine"},
			waits, "has not taken in"},
		{"released, and rolled back again", end, "to from other", rollout.Record{Revisions: []rollout.Revision{{Digest: "from"}}, State: rollout.Complete}, failed, "meanwhile"},
	} {
		h := &History{Kind: "webs.example.com", kind: &liveview.Kind{}}
		crd := &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationRollback: tt.annotation, api.AnnotationRollout: tt.record.String()}}
		p := h.Progress(tt.plan, crd)
		got := map[[2]bool]string{{true, false}: done, {false, true}: failed, {false, false}: waits}[[2]bool{p.Done, p.Failed}]
		if got != tt.want || !strings.Contains(p.Message, tt.says) {
			t.Errorf("%s: it is %q: %s, want %s with %q", tt.name, got, p.Message, tt.want, tt.says)
		}
	}
}
