package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// isPaused reports whether a whole kind is observed and not changed.
func (t *kindTable) isPaused(name string) bool { return t.options.ReadOnly || t.isPausedByCRD(name) }

// isPausedByCRD reports whether a person paused the kind.
func (t *kindTable) isPausedByCRD(name string) bool {
	crd := t.latestCRD(name)
	return crd != nil && crd.GetAnnotations()[api.AnnotationPaused] == "true"
}

// exportPaused sets the metric of whether a kind that runs is paused.
func (t *kindTable) exportPaused(name string) { metrics.Kind(name).Paused(t.isPausedByCRD(name)) }

// knownKinds lists the kinds that have a folder or run, or had children, or that the division
// of resources names.
func (t *kindTable) knownKinds() []string {
	divided := t.inFlight.currentShare().ExclusiveKinds()
	t.mu.Lock()
	defer t.mu.Unlock()
	names := t.kindsWhere(func(k *kindState) bool {
		return k.hasFolder() || k.controller != nil || k.crd != nil && len(kinds.ReadKinds(k.crd)) > 0
	})
	names = append(names, divided...)
	slices.Sort(names)
	return slices.Compact(names)
}

// kindController is the kind of that name at work, or nil.
func (t *kindTable) kindController(name string) *kindController {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readState(name).controller
}

// runningKinds are all kinds at work.
func (t *kindTable) runningKinds() []*kindController {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*kindController
	for _, k := range t.kinds {
		if k.controller != nil {
			all = append(all, k.controller)
		}
	}
	return all
}

// latestCRD is the metadata of a CRD as last seen or as our last write answered it,
// or nil.
func (t *kindTable) latestCRD(name string) metav1.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, answer := t.readState(name).crd, t.readState(name).answer
	switch {
	case seen == nil:
		return nil
	case answer == nil || answer.GetUID() != seen.UID:
		return seen
	}
	if c, err := resourceversion.CompareResourceVersion(answer.GetResourceVersion(), seen.ResourceVersion); err != nil || c <= 0 {
		t.stateOf(name).answer = nil
		return seen
	}
	return answer
}

// readRecord returns what is recorded about the kind of a CRD. With writeRecord, it is the one place
// where records are read and written.
func (t *kindTable) readRecord(crd metav1.Object, mine shard.Shard) kinds.Record {
	return kinds.ReadRecord(crd, mine)
}

// writeRecord changes what is recorded about the kind of a CRD, which must be as it was seen.
func (t *kindTable) writeRecord(ctx context.Context, crd metav1.Object, mine shard.Shard, w kinds.Writes) error {
	annotations := w.Annotations(crd, mine, time.Now())
	if len(annotations) == 0 {
		return nil
	}
	answer, err := apply.CRDsOf(t.writer).Annotate(ctx, crd, annotations)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.stateOf(crd.GetName())
	k.answer = answer
	if k.controller != nil { // else it is just being claimed
		metrics.Kind(crd.GetName()).Wrote(metrics.Record)
	}
	return nil
}

// shardOf is the part of a kind's resources that this installation serves.
func (t *kindTable) shardOf(crd *apiextensionsv1.CustomResourceDefinition) shard.Shard {
	all := shard.Shard{Identity: t.options.Identity, Namespaces: t.options.Namespaces, Selector: t.options.Selector}
	return all.OfKind(crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
}

// stateOf is what is known of a kind, to be changed; it needs the mutex.
func (t *kindTable) stateOf(name string) *kindState {
	k := t.kinds[name]
	if k == nil {
		k = &kindState{}
		t.kinds[name] = k
	}
	return k
}

// readState is what is known of a kind, to be read; it needs the mutex. Asking for a name
// that somebody made up keeps nothing.
func (t *kindTable) readState(name string) kindState {
	if k := t.kinds[name]; k != nil {
		return *k
	}
	return kindState{}
}

// kindsWhere lists the kinds of which something is so, by name; it needs the mutex.
func (t *kindTable) kindsWhere(so func(*kindState) bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		if so(t.kinds[name]) {
			names = append(names, name)
		}
	}
	return names
}

// dividesResources reports whether the replicas of this installation divide its resources. Otherwise one
// of them serves all.
func (t *kindTable) dividesResources() bool { return t.options.dividesResources() }

// isLeading reports whether this process does what is done once for the installation.
func (t *kindTable) isLeading() bool { return t.inFlight.currentShare().Leads }

// kindsWithFolder lists the kinds that have a folder, whether it could be read or not;
// it needs the mutex.
func (t *kindTable) kindsWithFolder() []string {
	return t.kindsWhere((*kindState).hasFolder)
}

// seenCRD is a CRD as last seen, or nil.
func (t *kindTable) seenCRD(name string) *apiextensionsv1.CustomResourceDefinition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readState(name).crd
}

// addKnown enqueues all kinds.
func (t *kindTable) addKnown() {
	for _, name := range t.knownKinds() {
		t.names.Add(name)
	}
}
