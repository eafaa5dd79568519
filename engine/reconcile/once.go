package reconcile

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// A done is a Job made once that has succeeded, by plan.OnceName, and the hash of its
// content.
type done struct{ job, hash string }

// mostDone is how many Jobs that are not rendered any more stay on record: all
// annotations of a resource have 256 KiB.
const mostDone = 100

// doneIn reads the record of Jobs that have succeeded, the oldest first.
func doneIn(record string) []done {
	var all []done
	for _, item := range strings.Split(record, ",") {
		if job, hash, found := strings.Cut(item, "="); found {
			all = append(all, done{job, hash})
		}
	}
	return all
}

// recordDone writes the record with those that have succeeded now: the oldest
// that are not needed make room. What is no hash is somebody else's text.
func recordDone(record string, now []done, needed func(job string) bool) string {
	all := doneIn(record)
	for _, d := range now {
		if !ownership.IsHash(d.hash) || slices.Contains(all, d) {
			continue
		}
		all = append(slices.DeleteFunc(all, func(old done) bool { return old.job == d.job }), d)
	}
	spare := len(all) - mostDone
	all = slices.DeleteFunc(all, func(d done) bool {
		if spare <= 0 || needed(d.job) {
			return false
		}
		spare--
		return true
	})
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = d.job + "=" + d.hash
	}
	return strings.Join(texts, ",")
}

// recordSucceeded puts Jobs made once on record that have succeeded, before they
// go: whatever the resource renders now, also while it is paused. Nothing is
// pruned before that, and no turn that sees one goes by: the next may find it gone.
// Without a plan nobody knows which are not needed any more.
func (t *reconciliation) recordSucceeded(ctx context.Context, w *snapshot, p *plan.Plan) {
	var now []done
	owner := t.subject.owner()
	for _, l := range w.live {
		if t.subject.once(l) && complete(l.Body) {
			now = append(now, done{plan.OnceName(owner, l.Meta.GetNamespace(), l.Meta.GetName()), l.Meta.GetAnnotations()[api.AnnotationDesired]})
		}
	}
	needed := func(job string) bool {
		return p == nil || w.pending || slices.ContainsFunc(p.Steps,
			func(s plan.Step) bool {
				return s.Child.Policy.Once && plan.OnceName(owner, s.Document.GetNamespace(), s.Document.GetName()) == job
			})
	}
	have := t.subject.resource.GetAnnotations()[api.AnnotationSucceeded]
	slices.SortFunc(now, func(a, b done) int { return strings.Compare(a.job+"="+a.hash, b.job+"="+b.hash) })
	want := recordDone(have, now, needed)
	if t.subject.deleting() || t.r.cluster.ReadOnly || want == have {
		return
	}
	if err := t.metadata(ctx, map[string]any{"annotations": map[string]any{api.AnnotationSucceeded: want}}); err != nil {
		t.found.incomplete = true
		t.notRecorded(err)
	}
}

var job = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}

// complete reports whether a Job has succeeded.
func complete(body map[string]any) bool {
	status, _ := body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "Complete" && m["status"] == "True"
	})
}
