package kinds

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Record is everything that is recorded about a kind, in annotations of its CRD.
type Record struct {
	// Kinds are the kinds of children. There may be objects of them.
	Kinds []RecordedKind
	// Deletion contains the settings that deletions need when the folder is gone.
	Deletion kind.DeletionSettings
	Rollout  rollout.Record
	Rollback rollout.Rollback
	// Approved is an approval that has not been taken in yet: see rollout.ParseApproval.
	Approved string
	// IsStale is true if another replica may have written the record since it was last seen.
	IsStale bool
}

// A RecordedKind is a kind of object that resources own or, if Patched, patch. It is
// recorded, so that children are found again after a crash.
type RecordedKind struct {
	schema.GroupKind
	Patched bool
}

// A ServedState is how a kind is served, for other programs. Lease is NAMESPACE/NAME of the Lease that
// shows whether its operator still runs, or empty.
type ServedState struct {
	State verdict.State
	Lease string
}

// Writes are changes of the Record of a kind.
type Writes struct {
	// Claim claims the kind for this installation. Unclaim gives up its claim, with everything that
	// is recorded for it.
	Claim, Unclaim bool
	// Kinds are added to the record. The kinds of a version are known as soon as it is
	// loaded, so they are recorded once, before it serves anything.
	Kinds []RecordedKind
	// Forgotten are removed from the record.
	Forgotten []RecordedKind
	// Deletion replaces the settings for deletions; nil keeps them.
	Deletion *kind.DeletionSettings
	// Rollback replaces the rollback, or removes it if it is zero; nil keeps it.
	Rollback *rollout.Rollback
	// Rollout replaces the record of the rollout; nil keeps it.
	Rollout *rollout.Record
	// IsApprovalUsed removes the approval.
	IsApprovalUsed bool
	// State replaces the state; nil keeps it.
	State *ServedState
}

// IsEmpty reports whether there is nothing to write.
func (w Writes) IsEmpty() bool { return reflect.ValueOf(w).IsZero() }

// annotations have the recorded kinds; the key is whether they are patched.
var annotations = map[bool]string{false: api.AnnotationChildKinds, true: api.AnnotationPatchedKinds}

// ReadRecord reads the record that an installation has of a kind.
func ReadRecord(crd metav1.Object, mine shard.Shard) Record {
	return Record{
		Kinds:    ReadKinds(crd),
		Deletion: kind.ParseDeletionSettings(crd.GetAnnotations()[mine.Key(api.AnnotationLeaving)]),
		Rollout:  rollout.ReadRecord(crd.GetAnnotations(), mine.Key),
		Rollback: rollout.ParseRollback(crd.GetAnnotations()[mine.Key(api.AnnotationRollback)]),
		Approved: crd.GetAnnotations()[mine.Key(api.AnnotationApproved)],
	}
}

// ReadState reads how an installation serves a kind.
func ReadState(crd metav1.Object, mine shard.Shard) ServedState {
	return ServedState{State: verdict.State(crd.GetAnnotations()[mine.Key(api.AnnotationState)]),
		Lease: crd.GetAnnotations()[mine.Key(api.AnnotationStateLease)]}
}

// ReadKinds reads the recorded kinds, which all installations share.
func ReadKinds(crd metav1.Object) (all []RecordedKind) {
	for _, patched := range []bool{false, true} {
		for _, gk := range api.ParseKinds(crd.GetAnnotations()[annotations[patched]]) {
			all = append(all, RecordedKind{gk, patched})
		}
	}
	return all
}

// Annotations returns the annotations of a CRD that the writes change; nil removes one.
func (w Writes) Annotations(crd metav1.Object, mine shard.Shard, now time.Time) map[string]any {
	write := map[string]any{}
	if w.Claim {
		maps.Copy(write, mine.ClaimAnnotation(crd))
	}
	if w.Unclaim {
		maps.Copy(write, mine.Yield(crd))
	}
	if len(w.Kinds)+len(w.Forgotten) > 0 {
		maps.Copy(write, w.kindAnnotations(crd))
	}
	if w.Deletion != nil {
		write[mine.Key(api.AnnotationLeaving)] = orNil(w.Deletion.String())
	}
	if w.Rollback != nil {
		write[mine.Key(api.AnnotationRollback)] = orNil(w.Rollback.String())
	}
	if w.Rollout != nil {
		record := *w.Rollout
		if record.Began.IsZero() {
			record.Began = now.UTC()
		}
		write[mine.Key(api.AnnotationRollout)] = record.String()
		if record.State == rollout.Complete {
			write[mine.Key(api.AnnotationRolledOut)] = record.Target().Digest
		}
	}
	if w.IsApprovalUsed {
		write[mine.Key(api.AnnotationApproved)] = nil
	}
	if w.State != nil {
		write[mine.Key(api.AnnotationState)], write[mine.Key(api.AnnotationStateLease)] = string(w.State.State), orNil(w.State.Lease)
	}
	return write
}

// kindAnnotations returns the annotations of a CRD with recorded kinds that the writes change.
func (w Writes) kindAnnotations(crd metav1.Object) map[string]any {
	write := map[string]any{}
	kinds := slices.DeleteFunc(append(ReadKinds(crd), w.Kinds...), func(k RecordedKind) bool { return slices.Contains(w.Forgotten, k) })
	for patched, key := range annotations {
		var texts []string
		for _, k := range kinds {
			if k.Patched == patched {
				texts = append(texts, k.GroupKind.String())
			}
		}
		slices.Sort(texts)
		if text := strings.Join(slices.Compact(texts), ","); text != crd.GetAnnotations()[key] {
			write[key] = orNil(text)
		}
	}
	return write
}

// orNil returns nil for an empty text, which removes an annotation.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// kindsOf returns the kinds of objects that a folder makes or patches. A nil folder has none.
func kindsOf(k *kind.Kind) (all []RecordedKind) {
	if k == nil {
		return nil
	}
	for _, c := range k.Children {
		all = append(all, RecordedKind{c.GroupKind(), false})
	}
	for _, p := range k.Patches() {
		all = append(all, RecordedKind{p.GroupKind(), true})
	}
	return all
}

// Unused returns the recorded kinds that no version makes or patches. While a version is not
// known, each may be in use.
func Unused(recorded []RecordedKind, versions []*kind.Kind) (all []RecordedKind) {
	if len(versions) == 0 || slices.Contains(versions, nil) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(recorded), func(r RecordedKind) bool {
		return slices.ContainsFunc(versions, func(k *kind.Kind) bool { return slices.Contains(kindsOf(k), r) })
	})
}
