package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/share"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A record is what is on record on the kind's CRD: every kind of child that
// was ever created. It only grows.
type record struct {
	mu sync.Mutex
	// written is the CRD as our last write answered it: it stands in for the
	// cache until that has caught up.
	written metav1.Object
}

// recordKinds makes sure that every kind which the plan has children or
// patches of is on record, so that they are found again after any crash.
// Workers take turns.
func (t *turn) recordKinds(ctx context.Context, p *plan.Plan) error {
	crd := t.cluster.CRD(t.name)
	if crd == nil {
		return fmt.Errorf("the CRD %s is gone", t.name)
	}
	t.recorded.mu.Lock()
	defer t.recorded.mu.Unlock()
	if newer(t.recorded.written, crd) {
		crd = t.recorded.written
	}
	changed := map[string]any{}
	for key, patches := range map[string]bool{api.AnnotationChildKinds: false, api.AnnotationPatchedKinds: true} {
		have := Recorded(crd.GetAnnotations()[key])
		if want := withKinds(have, p, patches); len(want) > len(have) {
			changed[key] = recordText(want)
		}
	}
	key := t.cluster.Share.Key(api.AnnotationLeaving)
	if now := t.leavingRecord(); now != "" && now != crd.GetAnnotations()[key] {
		changed[key] = now
	}
	if len(changed) == 0 {
		return nil
	}
	answer, err := t.cluster.Writer.Annotate(ctx, crd, changed)
	if err != nil {
		return fmt.Errorf("recording child kinds on CRD %s: %w", t.name, apply.Understand(err, nil))
	}
	t.did(metrics.Record)
	t.recorded.written = answer
	return nil
}

// notRecorded takes up that a record on the CRD or on the resource could not be
// written. A conflict is no trouble to tell of: the record was seen too late, and
// the next turn sees what it is now.
func (t *turn) notRecorded(err error) {
	if apierrors.IsConflict(err) {
		t.outdated = true
		return
	}
	t.found.add(status.Problem{Severity: status.Retry, Reason: "NotRecorded", Message: err.Error()})
	t.found.again(backOff(t.memory.tries, 0, longWait))
	t.memory.tries++
}

// withKinds adds the kinds of the steps that may write.
func withKinds(have []schema.GroupKind, p *plan.Plan, patches bool) []schema.GroupKind {
	want := slices.Clone(have)
	for i := range p.Steps {
		s := &p.Steps[i]
		gk := s.Document.GroupVersionKind().GroupKind()
		if s.Child.Policy.Patch == patches && s.Action != plan.Hold && s.Action != plan.Refuse && !slices.Contains(want, gk) {
			want = append(want, gk)
		}
	}
	return want
}

// A leaving is what deleting needs of a folder's settings.
type leaving struct {
	DeleteOrder        []string `json:"deleteOrder,omitempty"`
	ServiceAccountName string   `json:"serviceAccountName,omitempty"`
}

// leavingRecord is what is put on record of the settings; "" if they say
// nothing about deleting.
func (t *turn) leavingRecord() string {
	s := t.settings()
	if len(s.DeleteOrder) == 0 && s.ServiceAccountName == "" {
		return ""
	}
	text, _ := json.Marshal(leaving{s.DeleteOrder, s.ServiceAccountName}) // texts
	return string(text)
}

// leavingOf reads what is on record of this share's folder or, if there is
// nothing, of one that served all resources; anything else is nothing.
func leavingOf(crd metav1.Object, of share.Share) leaving {
	text := cmp.Or(crd.GetAnnotations()[of.Key(api.AnnotationLeaving)], crd.GetAnnotations()[api.AnnotationLeaving])
	var l leaving
	if json.Unmarshal([]byte(text), &l) != nil {
		return leaving{}
	}
	return l
}

// newer says whether a is the same object as b, seen later.
func newer(a, b metav1.Object) bool {
	if a == nil || a.GetUID() != b.GetUID() {
		return false
	}
	c, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && c > 0
}

// Recorded reads the record of child kinds: "kind.group", comma-separated.
func Recorded(text string) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, item := range strings.Split(text, ",") {
		if item != "" {
			kinds = append(kinds, schema.ParseGroupKind(item))
		}
	}
	return kinds
}

func recordText(kinds []schema.GroupKind) string {
	texts := make([]string, len(kinds))
	for i, gk := range kinds {
		texts[i] = gk.String()
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}
