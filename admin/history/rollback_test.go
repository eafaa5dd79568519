package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// TestRollbackByOperator: the history shows who rolled back, and why the rollout of a folder failed,
// also once that is tried again.
func TestRollbackByOperator(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "a"}, {Number: 2, Digest: "b"}}, State: rollout.Stopped, Message: "not ready"}
	back, failed := record.RollBack()
	byPerson := back
	byPerson.Request = "asked"
	for _, tt := range []struct {
		back     rollout.Rollback
		now      rollout.Record
		to, from string
	}{
		{byPerson, record, "rolled back to", "rolled back from"},
		{back, failed, "rolled back to, by the operator", "rolled back from, by the operator; its rollout failed: not ready"},
		{rollout.Rollback{}, failed, "", "its rollout failed: not ready"},
	} {
		h := &History{now: tt.now, back: tt.back}
		for digest, want := range map[string]string{"a": tt.to, "b": tt.from} {
			if got := h.describeServing(digest, true); !strings.HasSuffix(got, want) || want == "" && strings.Contains(got, "rolled back") {
				t.Errorf("of %s it is %q, want %q", digest, got, want)
			}
		}
	}
}

// TestDefaultRevision: without --to-revision, a rollback chooses the revision that was rolled out
// last, or else the newest of which no record shows that it was stopped, left or serves.
func TestDefaultRevision(t *testing.T) {
	complete := func(digest string) rollout.Record {
		return rollout.Record{Revisions: []rollout.Revision{{Digest: digest}}, State: rollout.Complete}
	}
	// stopped is the record of a stopped rollout; the last digest is the target's.
	stopped := func(digests ...string) (r rollout.Record) {
		r.State = rollout.Stopped
		for i, digest := range digests {
			r.Revisions = append(r.Revisions, rollout.Revision{Number: int64(i), Digest: digest})
		}
		return r
	}
	back := rollout.Rollback{To: "a", From: "b", Request: "r"}
	for name, tt := range map[string]struct {
		// kept are the digests of the revisions, the oldest first.
		kept, present string
		now           rollout.Record
		back          rollout.Rollback
		want          string
		isUnsure      bool
	}{
		"the folder is complete":                               {"a b", "b", complete("b"), rollout.Rollback{}, "a", true},
		"the folder is stopped":                                {"a b", "b", stopped("a", "b"), rollout.Rollback{}, "a", false},
		"the folder is not loaded":                             {"a b", "c", complete("b"), rollout.Rollback{}, "b", false},
		"the folder is not loaded, the last one stopped":       {"x a b", "c", stopped("a", "b"), rollout.Rollback{}, "a", false},
		"the folder is the base again, the last one stopped":   {"x a b", "a", stopped("a", "b"), rollout.Rollback{}, "x", true},
		"nothing but a stopped revision":                       {"a b", "a", stopped("a", "b"), rollout.Rollback{}, "", false},
		"an abandoned revision":                                {"a b c", "c", stopped("a", "b", "c"), rollout.Rollback{}, "a", false},
		"rolled back":                                          {"b a", "b", complete("a"), back, "", false},
		"rolled back, and an older one":                        {"x b a", "b", complete("a"), back, "x", true},
		"a rollback that is not complete":                      {"x b a", "b", stopped("b", "a"), back, "x", true},
		"rolled back, and the folder is the revision":          {"x b a", "a", complete("a"), back, "x", true},
		"rolled back, and a third folder is not loaded":        {"b a", "c", complete("a"), back, "a", false},
		"a rollback under way, a third folder is not loaded":   {"b a", "c", stopped("b", "a"), back, "a", false},
		"nothing is on record as complete, and it is the only": {"a", "a", rollout.Record{}, rollout.Rollback{}, "", false},
	} {
		h := &History{Kind: "webs.example.com", now: tt.now, back: tt.back}
		for i, digest := range strings.Fields(tt.kept) {
			h.kept = slices.Insert(h.kept, 0, &revision.Revision{Digest: digest, Number: int64(i + 1)})
		}
		r, unsure, err := h.chooseRevision(tt.present)
		got := ""
		if r != nil {
			got = r.Digest
		}
		if got != tt.want || (unsure != "") != tt.isUnsure {
			t.Errorf("%s: it is %q, not known: %q, want %q", name, got, unsure, tt.want)
		}
		if (err != nil) != (tt.want == "") || err != nil && !strings.Contains(fmt.Sprint(err), "jacquard history webs.example.com") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
