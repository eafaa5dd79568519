package controller

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// pickFolders chooses one source for every kind, and syncs the kind whose folder
// changed. The source that was chosen stays while it is there; else the first
// one that can be read is taken: roots in their order, then ConfigMaps by name.
// It needs the mutex.
func (s *folderSources) pickFolders() {
	by := map[string][]folder.Source{}
	for _, source := range slices.Concat(s.files, s.maps) {
		by[source.Kind] = append(by[source.Kind], source)
	}
	for name := range by {
		s.stateOf(name)
	}
	for name, k := range s.kinds {
		before := k.source
		if k.source = (chosenSource{}); len(by[name]) > 0 {
			k.source = s.chooseSource(by[name], before.shown, k.loaded)
		}
		if k.source.differsFrom(before) {
			s.names.Add(name)
		}
	}
}

// chooseSource is what a kind is served from.
func (s *folderSources) chooseSource(sources []folder.Source, before string, loaded bool) chosenSource {
	picked := pickSource(sources, before, loaded)
	brought := picked.Rooted || picked.Release != "" && picked.Release == s.options.Release
	chosen := chosenSource{shown: picked.Shown, isRooted: picked.Rooted, brought: brought, unread: picked.Err}
	if picked.Err == nil {
		chosen.folder = picked.Folder
	}
	for _, other := range sources {
		if other.Shown != picked.Shown {
			chosen.idle = append(chosen.idle, other.Shown)
		}
	}
	return chosen
}

// differsFrom reports whether there may be something to load or to report: a source that cannot be
// read, or is not used, may have changed.
func (c chosenSource) differsFrom(before chosenSource) bool {
	switch {
	case c.unread != nil || before.unread != nil || len(before.idle) > 0 || len(c.idle) > 0:
		return true
	case c.folder == nil || before.folder == nil:
		return c.folder != before.folder
	}
	return c.folder.Digest != before.folder.Digest
}

// pickSource returns the source that a kind is served from. One that cannot be read stays chosen
// only if the kind has loaded: its last good version continues.
func pickSource(sources []folder.Source, chosen string, loaded bool) folder.Source {
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
