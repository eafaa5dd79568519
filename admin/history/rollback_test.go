package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// TestDefaultRevision: without --to, a rollback chooses the revision that was rolled out
// last, or else the newest of which no record shows that it was stopped, left or serves.
func TestDefaultRevision(t *testing.T) {
	complete := func(digest string) rollout.Record { return rollout.Record{Digest: digest, State: rollout.Complete} }
	stopped := func(digest string) rollout.Record { return rollout.Record{Digest: digest, State: rollout.Stopped} }
	back := rollout.Rollback{To: "a", From: "b", Request: "r"}
	for name, tt := range map[string]struct {
		// kept are the digests of the revisions, the oldest first.
		kept, present, base string
		now                 rollout.Record
		back                rollout.Rollback
		want                string
		isUnsure            bool
	}{
		"the folder is complete":                               {"a b", "b", "b", complete("b"), rollout.Rollback{}, "a", true},
		"the folder is stopped":                                {"a b", "b", "a", stopped("b"), rollout.Rollback{}, "a", false},
		"the folder is not loaded":                             {"a b", "c", "b", complete("b"), rollout.Rollback{}, "b", false},
		"the folder is not loaded, the last one stopped":       {"x a b", "c", "a", stopped("b"), rollout.Rollback{}, "a", false},
		"the folder is the base again, the last one stopped":   {"x a b", "a", "a", stopped("b"), rollout.Rollback{}, "x", true},
		"nothing but a stopped revision":                       {"a b", "a", "a", stopped("b"), rollout.Rollback{}, "", false},
		"an abandoned revision":                                {"x a b c", "c", "c", rollout.Record{Digest: "c", State: rollout.Complete, Kept: map[string]string{"b": "k"}}, rollout.Rollback{}, "a", true},
		"rolled back":                                          {"b a", "b", "a", complete("a"), back, "", false},
		"rolled back, and an older one":                        {"x b a", "b", "a", complete("a"), back, "x", true},
		"a rollback that is not complete":                      {"x b a", "b", "b", stopped("a"), back, "x", true},
		"rolled back, and the folder is the revision":          {"x b a", "a", "a", complete("a"), back, "x", true},
		"rolled back, and a third folder is not loaded":        {"b a", "c", "a", complete("a"), back, "a", false},
		"a rollback under way, a third folder is not loaded":   {"b a", "c", "b", stopped("a"), back, "a", false},
		"nothing is on record as complete, and it is the only": {"a", "a", "", rollout.Record{}, rollout.Rollback{}, "", false},
	} {
		h := &History{Kind: "webs.example.com", base: tt.base, now: tt.now, back: tt.back}
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
