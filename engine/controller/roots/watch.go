package roots

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

const (
	// debounce is how long no file may change before the roots are read: editors and
	// volume updates write several times.
	debounce = 200 * time.Millisecond
	// maxDelay bounds how long changes that never stop may put a reading off.
	maxDelay = 2 * time.Second
	// rereadInterval is how often the roots are read although no file event came.
	rereadInterval = 15 * time.Second
)

// Run reads the roots now, whenever a file of them changed, and every now and then in
// case an event was lost, and publishes each reading, until ctx ends.
func (r *Reader) Run(ctx context.Context, publish func(context.Context, Reading)) error {
	var watch *watcher
	defer func() { watch.close() }()
	for {
		// What changes after this is an event, what changed before is read.
		watch = r.watchAgain(ctx, watch)
		reading := r.Read()
		publish(ctx, reading)
		wait := rereadInterval
		if !reading.Next.IsZero() {
			wait = min(wait, reading.Next.Sub(r.clock.Now()))
		}
		if !r.awaitChange(ctx, watch, wait) {
			return nil
		}
	}
}

// awaitChange waits until files have changed and are quiet, or the time is over. It
// returns false when ctx ends.
func (r *Reader) awaitChange(ctx context.Context, watch *watcher, limit time.Duration) bool {
	due := r.clock.NewTimer(limit)
	defer due.Stop()
	var firstEvent time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-due.C():
			return true
		case err := <-watch.errorChannel():
			log.FromContext(ctx).Error(err, "changes of files were lost; the roots are read again")
			return true
		case event := <-watch.eventChannel():
			if !watch.isRelevant(event.Name) {
				continue
			}
			now := r.clock.Now()
			if firstEvent.IsZero() {
				firstEvent = now
			}
			due.Reset(min(debounce, firstEvent.Add(maxDelay).Sub(now)))
			r.eventSeen()
		}
	}
}

// A watcher watches the directories of roots as they were found at one time. The nil
// watcher watches nothing.
type watcher struct {
	*fsnotify.Watcher
	// whole are the directories of which every entry matters, by their paths without
	// links.
	whole map[string]bool
	// names are the entries that matter of directories on the way to these.
	names map[string][]string
	// lost has the first error that was not handled yet.
	lost chan error
}

// watchAgain watches what the roots consist of now in place of what old watches: a
// directory that took the place of another has watches of its own. Without a watcher,
// the roots are read every now and then.
func (r *Reader) watchAgain(ctx context.Context, old *watcher) *watcher {
	defer old.close()
	w := &watcher{whole: map[string]bool{}, names: map[string][]string{}, lost: make(chan error, 1)}
	for _, root := range r.roots {
		w.addRoot(root.root)
	}
	if len(w.names) == 0 {
		return nil
	}
	var err error
	if w.Watcher, err = fsnotify.NewWatcher(); err != nil {
		log.FromContext(ctx).Error(err, "files not watched; the roots are read every now and then", "interval", rereadInterval.String())
		return nil
	}
	go w.passErrors()
	for dir := range w.whole {
		_ = w.Add(dir) // one that cannot be watched is read every now and then
	}
	for dir := range w.names {
		_ = w.Add(dir)
	}
	return w
}

// passErrors takes errors until the watcher is closed. fsnotify holds its lock until
// somebody does, and Add and Close wait for the lock.
func (w *watcher) passErrors() {
	for err := range w.Errors {
		select {
		case w.lost <- err:
		default:
		}
	}
}

// addRoot adds the directories whose changes change what is read of a root.
func (w *watcher) addRoot(root *folder.Root) {
	if root.Dir() == "" {
		return
	}
	if parent := w.resolveLinks(filepath.Dir(root.Dir())); parent != "" {
		w.addName(parent, filepath.Base(root.Dir()))
	}
	w.addDir(root.Dir())
	templates := filepath.Join(root.Dir(), "templates")
	w.addDir(templates)
	entries, _ := os.ReadDir(templates) // none, if it is not there
	for _, e := range entries {
		w.addDir(filepath.Join(templates, e.Name()))
		w.addDir(filepath.Join(templates, e.Name(), "files"))
	}
}

// addDir adds a directory, if it is one.
func (w *watcher) addDir(path string) {
	dir := w.resolveLinks(path)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		w.whole[dir] = true
	}
}

// mostLinks is how many links a path may lead through, as in the kernel.
const mostLinks = 40

// resolveLinks returns where an absolute path leads to, without links, or "" if that is not there.
// It adds the entries on the way that another directory may take the place of: the links, and the
// first part that is not there.
func (w *watcher) resolveLinks(path string) string {
	at, left := string(filepath.Separator), strings.Split(path, string(filepath.Separator))
	for links := 0; len(left) > 0; {
		name := left[0]
		left = left[1:]
		next := filepath.Join(at, name) // also of .., since nothing before it is a link
		info, err := os.Lstat(next)
		if err != nil {
			w.addName(at, name)
			return ""
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		w.addName(at, name)
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return ""
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		left = append(strings.Split(target, string(filepath.Separator)), left...)
	}
	return at
}

// addName adds an entry of a directory.
func (w *watcher) addName(dir, name string) {
	if !slices.Contains(w.names[dir], name) {
		w.names[dir] = append(w.names[dir], name)
	}
}

// isRelevant reports whether a change of a file may change what is read.
func (w *watcher) isRelevant(file string) bool {
	dir, name := filepath.Split(file)
	dir = filepath.Clean(dir)
	// The event of a watched directory itself has its path alone.
	return w.whole[dir] || w.whole[file] || slices.Contains(w.names[dir], name)
}

// eventChannel returns the events of files, or nil if nothing is watched.
func (w *watcher) eventChannel() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.Events
}

// errorChannel returns the errors that lost events, or nil if nothing is watched.
func (w *watcher) errorChannel() <-chan error {
	if w == nil {
		return nil
	}
	return w.lost
}

func (w *watcher) close() {
	if w != nil {
		_ = w.Close() // nothing is read of it any more
	}
}
