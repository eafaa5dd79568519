package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/metrics"
)

// An origin is a place that a kind's folder comes from.
type origin struct {
	kind string
	// shown names the place; it stays the same while the place does.
	shown  string
	folder *folder.Folder
	// err says why the folder cannot be read.
	err error
	// partial: its parts are not all there, or not of one state; err says so.
	partial bool
}

// pick chooses one source for every kind, and settles the kinds whose folder
// changed. The source that was chosen stays while it is there; else the first
// one that can be read is taken: roots in their order, then ConfigMaps by name.
// It needs the mutex.
func (o *Operator) pick() {
	folders, unread, chosen, idle := map[string]*folder.Folder{}, map[string]error{}, map[string]string{}, map[string][]string{}
	by := map[string][]origin{}
	for _, s := range slices.Concat(o.files, o.maps) {
		by[s.kind] = append(by[s.kind], s)
	}
	for name, sources := range by {
		s := best(sources, o.chosen[name], o.loaded[name])
		chosen[name] = s.shown
		if s.err != nil {
			unread[name] = s.err
		} else {
			folders[name] = s.folder
		}
		for _, other := range sources {
			if other.shown != s.shown {
				idle[name] = append(idle[name], other.shown)
			}
		}
	}
	changed := o.changed(folders, unread)
	for name := range by {
		if !slices.Equal(idle[name], o.idle[name]) {
			changed = append(changed, name)
		}
	}
	for name := range o.idle {
		changed = append(changed, name)
	}
	o.folders, o.unread, o.chosen, o.idle = folders, unread, chosen, idle
	for _, name := range changed {
		o.names.Add(name)
	}
}

// best is the source that a kind is served from. One that cannot be read stays
// chosen only if the kind has loaded: its last good version runs on.
func best(sources []origin, chosen string, loaded bool) origin {
	if i := slices.IndexFunc(sources, func(s origin) bool { return s.shown == chosen && (loaded || s.err == nil) }); i >= 0 {
		return sources[i]
	}
	for _, better := range []func(origin) bool{
		func(s origin) bool { return s.err == nil },
		func(s origin) bool { return !s.partial },
	} {
		if i := slices.IndexFunc(sources, better); i >= 0 {
			return sources[i]
		}
	}
	return sources[0]
}

// changed lists the folders that are not what they were.
func (o *Operator) changed(folders map[string]*folder.Folder, unread map[string]error) []string {
	names := map[string]bool{}
	for _, m := range []map[string]*folder.Folder{folders, o.folders} {
		for name := range m {
			before, after := o.folders[name], folders[name]
			if before == nil || after == nil || before.Digest != after.Digest {
				names[name] = true
			}
		}
	}
	for name := range unread {
		names[name] = true
	}
	for name := range o.unread {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// forgetIdle forgets the sources of a kind that is not served for another reason.
func (o *Operator) forgetIdle(name string) {
	o.mu.Lock()
	delete(o.toldIdle, name)
	o.mu.Unlock()
	metrics.Kind(name).SecondFolder(false)
}

// noteIdle tells once of sources of a kind that are not used.
func (o *Operator) noteIdle(ctx context.Context, name string) {
	o.mu.Lock()
	chosen, idle, before := o.chosen[name], strings.Join(o.idle[name], ", "), o.toldIdle[name]
	now := idle
	if o.leads() { // who begins to lead tells again, by an event
		now = "leads: " + idle
	}
	o.toldIdle[name] = now
	o.mu.Unlock()
	if now == before {
		return
	}
	if idle == "" {
		metrics.Kind(name).SecondFolder(false)
		return
	}
	metrics.Kind(name).SecondFolder(true)
	text := fmt.Sprintf("the folder of this kind comes from %s; this one is not used: %s", chosen, idle)
	log.FromContext(ctx).Info("two folders of one kind", "kind", name, "message", text)
	if crd := o.seenCRD(name); crd != nil && o.leads() {
		o.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, "FolderNotUsed", "Load", "%s", cut(text))
	}
}
