package roots

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// A Reader reads the same roots again and again. One goroutine at a time may use it.
type Reader struct {
	clock clock.Clock
	roots []*rootReader
	// eventSeen is called by tests' readers after an event that will lead to a reading.
	eventSeen func()
}

// NewReader returns a Reader of roots.
func NewReader(c clock.Clock, all []*folder.Root) *Reader {
	r := &Reader{clock: c, eventSeen: func() {}}
	for i, root := range all {
		shown := fmt.Sprintf("root %d", i+1)
		if root.Dir() != "" {
			shown = "root " + cmp.Or(root.Shown(), ".")
		}
		r.roots = append(r.roots, &rootReader{root: root, shown: shown, counted: map[string]folder.Source{}, complete: map[string]Files{}})
	}
	return r
}

// A Reading is what counts of all roots at one time.
type Reading struct {
	// Sources are the folders, in the order of the roots.
	Sources []folder.Source
	// Missing are the roots that cannot be read. Sources has what counted before.
	Missing []Missing
	// Waiting are the folders that lost something and do not count yet. Sources has
	// what counted before.
	Waiting []Waiting
	// Changed is when something in any of the roots changed last.
	Changed time.Time
	// Next is when to read again although no file changes, or zero.
	Next time.Time
}

// A Missing is a root that cannot be read.
type Missing struct {
	// Root names the root, as the sources of it do.
	Root string
	// NeverRead: it has not been read since the start.
	NeverRead bool
	Err       error
}

// A Waiting is a folder that does not count yet as it is now.
type Waiting struct{ Root, Kind string }

// Read reads all roots now.
func (r *Reader) Read() Reading {
	var all Reading
	now := r.clock.Now()
	for _, root := range r.roots {
		waiting := root.read(now)
		all.Sources = append(all.Sources, root.countedSources()...)
		if root.missing != nil {
			all.Missing = append(all.Missing, Missing{root.shown, !root.wasRead, root.missing})
		}
		for _, kind := range waiting {
			all.Waiting = append(all.Waiting, Waiting{root.shown, kind})
		}
		if root.changed.After(all.Changed) {
			all.Changed = root.changed
		}
		if next := root.changed.Add(QuietPeriod); len(waiting) > 0 && (all.Next.IsZero() || next.Before(all.Next)) {
			all.Next = next
		}
	}
	return all
}

// A rootReader reads one root.
type rootReader struct {
	root  *folder.Root
	shown string
	// counted are the folders as they counted last, by kind.
	counted map[string]folder.Source
	// complete are the files of each folder when it last counted and could be read.
	complete map[string]Files
	// seen are the states of the folders as they were read last, by kind.
	seen map[string]string
	// changed is when seen changed last.
	changed time.Time
	// missing is why the root cannot be read now, or nil.
	missing error
	// wasRead: the root has been read. hadTemplates: it had templates/ then.
	wasRead, hadTemplates bool
}

// countedSources returns the folders that count, by kind.
func (r *rootReader) countedSources() []folder.Source {
	return slices.SortedFunc(maps.Values(r.counted), func(a, b folder.Source) int { return strings.Compare(a.Kind, b.Kind) })
}

// read reads the root, and returns the kinds whose folders do not count yet.
func (r *rootReader) read(now time.Time) (waiting []string) {
	contents, err := r.root.Read()
	if err == nil {
		err = r.checkContents(contents)
	}
	if r.missing = err; err != nil {
		r.recordStates(nil, now)
		return nil
	}
	r.wasRead, r.hadTemplates = true, r.hadTemplates || contents.HasTemplates
	found := r.findFolders(contents)
	r.recordStates(found, now)
	kinds := maps.Clone(r.counted)
	maps.Copy(kinds, found)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if !r.countFolder(kind, found, now) {
			waiting = append(waiting, kind)
		}
	}
	return waiting
}

// checkContents returns an error if a root does not have what it must have.
func (r *rootReader) checkContents(contents *folder.Contents) error {
	switch {
	case r.hadTemplates && !contents.HasTemplates:
		return errors.New("it has no templates/ any more")
	case contents.IsEmpty && !r.root.IsOptional():
		return errors.New("it has neither templates/ nor crds/, schemas/ or examples/")
	}
	return nil
}

// findFolders returns the folders of the root by kind, including those that cannot be read.
func (r *rootReader) findFolders(contents *folder.Contents) map[string]folder.Source {
	found := map[string]folder.Source{}
	for name, f := range contents.Folders {
		found[name] = folder.Source{Kind: name, Shown: r.shown, Rooted: true, Folder: f}
	}
	for name, err := range contents.Broken {
		found[name] = folder.Source{Kind: name, Shown: r.shown, Rooted: true, Err: err}
	}
	return found
}

// recordStates records the states of the folders that were found, and when these changed. found is
// nil for a missing root.
func (r *rootReader) recordStates(found map[string]folder.Source, now time.Time) {
	var states map[string]string
	if found != nil {
		states = map[string]string{}
	}
	for kind, source := range found {
		if source.Err != nil {
			states[kind] = source.Err.Error()
		} else {
			states[kind] = source.Folder.Digest
		}
	}
	if r.changed.IsZero() || (states == nil) != (r.seen == nil) || !maps.Equal(states, r.seen) {
		r.seen, r.changed = states, now
	}
}

// countFolder takes the folder of a kind as it was found, and reports whether it counts already.
func (r *rootReader) countFolder(kind string, found map[string]folder.Source, now time.Time) bool {
	source, exists := found[kind]
	wasBroken := r.counted[kind].Err != nil && source.Err != nil
	files := FilesOf(source.Folder)
	if !wasBroken && !Counts(r.complete[kind], files, r.changed, now) {
		return false
	}
	if !exists {
		delete(r.counted, kind)
		return true
	}
	r.counted[kind] = source
	if files != nil {
		r.complete[kind] = files
	}
	return true
}
