//go:build !operator

package cli

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quietFor is how long nothing may change before files are read again:
// editors write several times.
const quietFor = 150 * time.Millisecond

// lintAndWatch checks the kinds, and again those whose files changed, until it is interrupted.
func (o *lintOptions) lintAndWatch(ctx context.Context, p *findingPrinter) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching files: %w", err)
	}
	defer watcher.Close()
	o.watchRoots(watcher)
	l := linted{}
	if err := o.lintAgain(ctx, p, l, nil); err != nil {
		return err
	}
	changed := map[string]bool{} // by file: whether it was made just now
	quiet := time.NewTimer(time.Hour)
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Op != fsnotify.Chmod && !isEditorFile(event.Name) {
				changed[event.Name] = changed[event.Name] || event.Has(fsnotify.Create)
				quiet.Reset(quietFor)
			}
		case err := <-watcher.Errors:
			fmt.Fprintf(p.trouble, "watching files: %v\n", err)
		case <-quiet.C:
			o.watchRoots(watcher)
			o.lintChanges(ctx, p, l, selectLasting(changed))
			clear(changed)
		}
	}
}

// selectLasting returns the files that changed, sorted, without those that came and went meanwhile.
func selectLasting(changed map[string]bool) []string {
	var files []string
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		if _, err := os.Stat(file); err == nil || !changed[file] {
			files = append(files, file)
		}
	}
	return files
}

// lintChanges prints which files changed, and then what there is to find.
func (o *lintOptions) lintChanges(ctx context.Context, p *findingPrinter, l linted, files []string) {
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(p.trouble, "\nchanged: %s\n", strings.Join(files, ", "))
	if err := o.lintAgain(ctx, p, l, o.kindsConcerned(files)); err != nil {
		printError(p.trouble, err)
	}
}

// lintAgain checks what changed, or all if changed is nil, and prints the findings of all kinds.
func (o *lintOptions) lintAgain(ctx context.Context, p *findingPrinter, l linted, changed func(string) bool) error {
	clear(p.files)
	delete(l, "")
	if err := o.lintKinds(ctx, l, changed); err != nil {
		if changed == nil {
			return err
		}
		clear(l) // what was found before may be wrong by now
		return err
	}
	return p.printFindings("text", l)
}

// isEditorFile reports whether a file is one that editors make for themselves.
func isEditorFile(file string) bool {
	name := filepath.Base(file)
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#")
}

// watchRoots watches all directories that are below the roots now.
func (o *lintOptions) watchRoots(watcher *fsnotify.Watcher) {
	for _, root := range o.roots {
		_ = watcher.Add(root)
		for _, part := range []string{"crds", "schemas", "examples", "templates"} {
			_ = filepath.WalkDir(filepath.Join(root, part), func(file string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					// One that is gone by now is no trouble: its end is an event.
					_ = watcher.Add(file)
				}
				return nil
			})
		}
	}
	if o.settings != "" {
		_ = watcher.Add(filepath.Dir(o.settings))
	}
}

// kindsConcerned returns a function that reports whether the change of these files can matter to a
// kind. A file of a kind's folder, example or cases matters to that kind alone, any other to all.
func (o *lintOptions) kindsConcerned(files []string) func(name string) bool {
	names := map[string]bool{}
	for _, file := range files {
		name, ok := o.findOwner(file)
		if !ok {
			return func(string) bool { return true }
		}
		names[name] = true
	}
	return func(name string) bool { return names[name] }
}

// findOwner returns the one kind that a file belongs to, or false if that is none.
func (o *lintOptions) findOwner(file string) (string, bool) {
	for _, root := range o.roots {
		rel, err := filepath.Rel(root, file)
		parts := strings.Split(filepath.ToSlash(rel), "/")
		if err != nil || len(parts) < 2 {
			continue
		}
		switch {
		case parts[0] == "templates" && len(parts) > 2 && !strings.HasPrefix(parts[1], "_"):
			return parts[1], true
		case parts[0] == "examples" && len(parts) == 2:
			return strings.TrimSuffix(parts[1], ".yaml"), true
		}
	}
	return "", false
}
