package kinds

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A Record is everything that is recorded about a kind, in annotations of its CRD.
type Record struct {
	// Kinds are the kinds of children. There may be objects of them.
	Kinds []RecordedKind
	// Deletion contains the settings that deletions need when the folder is gone.
	Deletion kind.DeletionSettings
	Rollout  rollout.Record
	Rollback rollout.Rollback
	// IsStale is true if another replica may have written the record since it was last seen.
	IsStale bool
}

// A RecordedKind is a kind of object that resources own or, if Patched, patch. It is
// recorded, so that children are found again after a crash.
type RecordedKind struct {
	schema.GroupKind
	Patched bool
}

// annotations have the recorded kinds; the key is whether they are patched.
var annotations = map[bool]string{false: api.AnnotationChildKinds, true: api.AnnotationPatchedKinds}

// ReadRecord reads the record that an installation has of a kind.
func ReadRecord(crd metav1.Object, mine shard.Shard) Record {
	return Record{
		Kinds:    ReadKinds(crd),
		Deletion: kind.ParseDeletionSettings(crd.GetAnnotations()[mine.Key(api.AnnotationLeaving)]),
		Rollout:  rollout.ReadRecord(crd.GetAnnotations(), mine.Key),
		Rollback: rollout.ParseRollback(crd.GetAnnotations()[mine.Key(api.AnnotationRollback)]),
	}
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
	if len(w.Kinds) > 0 {
		maps.Copy(write, KindAnnotations(crd, append(ReadKinds(crd), w.Kinds...)))
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
		maps.Copy(write, RolloutAnnotations(mine, record))
	}
	return write
}

// KindAnnotations returns the annotations of a CRD that change if these are to be the recorded
// kinds.
func KindAnnotations(crd metav1.Object, kinds []RecordedKind) map[string]any {
	write := map[string]any{}
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

// RolloutAnnotations returns the annotations of a CRD that contain a record of a rollout.
func RolloutAnnotations(mine shard.Shard, record rollout.Record) map[string]any {
	write := map[string]any{mine.Key(api.AnnotationRollout): record.String()}
	if record.State == rollout.Complete {
		write[mine.Key(api.AnnotationRolledOut)] = record.Target().Digest
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
