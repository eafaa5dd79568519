package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// pick chooses one source for every kind, and syncs the kind whose folder
// changed. The source that was chosen stays while it is there; else the first
// one that can be read is taken: roots in their order, then ConfigMaps by name.
// It needs the mutex.
func (o *Operator) pick() {
	folders, unread, chosen, idle, brought := map[string]*folder.Folder{}, map[string]error{}, map[string]string{}, map[string][]string{}, map[string]bool{}
	by := map[string][]folder.Source{}
	for _, s := range slices.Concat(o.files, o.maps) {
		by[s.Kind] = append(by[s.Kind], s)
	}
	for name, sources := range by {
		s := best(sources, o.chosen[name], o.loaded[name])
		chosen[name] = s.Shown
		brought[name] = s.Rooted || s.Release != "" && s.Release == o.options.Release
		if s.Err != nil {
			unread[name] = s.Err
		} else {
			folders[name] = s.Folder
		}
		for _, other := range sources {
			if other.Shown != s.Shown {
				idle[name] = append(idle[name], other.Shown)
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
	o.folders, o.unread, o.chosen, o.idle, o.brought = folders, unread, chosen, idle, brought
	for _, name := range changed {
		o.names.Add(name)
	}
}

// best is the source that a kind is served from. One that cannot be read stays
// chosen only if the kind has loaded: its last good version runs on.
func best(sources []folder.Source, chosen string, loaded bool) folder.Source {
	if i := slices.IndexFunc(sources, func(s folder.Source) bool { return s.Shown == chosen && (loaded || s.Err == nil) }); i >= 0 {
		return sources[i]
	}
	for _, better := range []func(folder.Source) bool{
		func(s folder.Source) bool { return s.Err == nil },
		func(s folder.Source) bool { return !s.Partial },
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
	delete(o.announcedIdle, name)
	o.mu.Unlock()
	metrics.Kind(name).SecondFolder(false)
}

// announceIdle tells once of sources of a kind that are not used.
func (o *Operator) announceIdle(ctx context.Context, name string) {
	o.mu.Lock()
	chosen, idle, before := o.chosen[name], strings.Join(o.idle[name], ", "), o.announcedIdle[name]
	now := idle
	if o.leads() { // who begins to lead tells again, by an event
		now = "leads: " + idle
	}
	o.announcedIdle[name] = now
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
