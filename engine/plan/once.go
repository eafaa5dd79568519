package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A succeededJob is a Job made once that has succeeded, by [OnceName], and the hash of its
// content.
type succeededJob struct{ name, hash string }

// maxSucceeded is how many Jobs that are not rendered any more are recorded at most: all
// annotations of a resource together have 256 KiB.
const maxSucceeded = 100

// parseSucceeded reads the record of Jobs that have succeeded, the oldest first.
func parseSucceeded(record string) []succeededJob {
	var all []succeededJob
	for _, item := range strings.Split(record, ",") {
		if name, hash, found := strings.Cut(item, "="); found {
			all = append(all, succeededJob{name, hash})
		}
	}
	return all
}

// withSucceeded returns the record with the Jobs that have succeeded now. The oldest ones that
// are not needed make room. What is no hash is somebody else's text.
func withSucceeded(record string, now []succeededJob, needed func(name string) bool) string {
	all := parseSucceeded(record)
	for _, d := range now {
		if !ownership.IsHash(d.hash) || slices.Contains(all, d) {
			continue
		}
		all = append(slices.DeleteFunc(all, func(old succeededJob) bool { return old.name == d.name }), d)
	}
	spare := len(all) - maxSucceeded
	all = slices.DeleteFunc(all, func(d succeededJob) bool {
		if spare <= 0 || needed(d.name) {
			return false
		}
		spare--
		return true
	})
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = d.name + "=" + d.hash
	}
	return strings.Join(texts, ",")
}

// recordSucceeded returns the record with the Jobs made once that have succeeded now. They are
// recorded before anything is pruned, whatever the resource renders, also while it is paused:
// the next reconciliation may find them gone.
func (m *planner) recordSucceeded() string {
	var now []succeededJob
	for _, l := range m.Live {
		if m.isMadeOnce(l) && isComplete(l.Body) {
			name := OnceName(m.Owner, l.Meta.GetNamespace(), l.Meta.GetName())
			now = append(now, succeededJob{name, l.Meta.GetAnnotations()[api.AnnotationDesired]})
		}
	}
	slices.SortFunc(now, func(a, b succeededJob) int { return strings.Compare(a.name+"="+a.hash, b.name+"="+b.hash) })
	return withSucceeded(m.Succeeded, now, func(name string) bool {
		return !m.plan.IsRendered || slices.ContainsFunc(m.plan.Steps, func(s Step) bool {
			return s.Child.Policy.Once && OnceName(m.Owner, s.Document.GetNamespace(), s.Document.GetName()) == name
		})
	})
}

// isMadeOnce reports whether a live object is a Job of ours that is made once.
func (in *Input) isMadeOnce(l live.Object) bool {
	return l.GVK == JobKind && in.MakesOnce != nil && in.MakesOnce(l.Meta.GetAnnotations()[api.AnnotationFile]) && Ours(in.Owner, l.Meta)
}

// HasSucceeded reports whether a Job made once, with this hash, is recorded as succeeded. It may
// be recorded by its name alone, since the hash tells namespaces apart.
func HasSucceeded(record string, owner Owner, job *unstructured.Unstructured, hash string) bool {
	return slices.ContainsFunc(parseSucceeded(record), func(s succeededJob) bool {
		return s.hash == hash && (s.name == OnceName(owner, job.GetNamespace(), job.GetName()) || s.name == job.GetName())
	})
}

// HasSucceededOnce reports whether a Job made once, by [OnceName], is recorded as succeeded, with
// whatever content.
func HasSucceededOnce(record, name string) bool {
	return slices.ContainsFunc(parseSucceeded(record), func(s succeededJob) bool { return s.name == name })
}

// OnceName names a Job made once among those of its owner: by its name, and by its namespace
// if that is another one than the owner's.
func OnceName(owner Owner, namespace, name string) string {
	if namespace == owner.Namespace {
		return name
	}
	return namespace + "/" + name
}

// JobKind is the kind of Jobs.
var JobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}

// isComplete reports whether a Job has succeeded.
func isComplete(body map[string]any) bool {
	status, _ := body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "Complete" && m["status"] == "True"
	})
}
