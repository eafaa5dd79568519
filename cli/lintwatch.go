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

// watching checks the kinds, and again those whose files changed, until it is
// interrupted.
func (o *lintOptions) watching(ctx context.Context, p *findingPrinter) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching files: %w", err)
	}
	defer watcher.Close()
	o.follow(watcher)
	l := linted{}
	if err := o.again(ctx, p, l, nil); err != nil {
		return err
	}
	changed := map[string]bool{} // by file: whether it was made just now
	quiet := time.NewTimer(time.Hour)
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Op != fsnotify.Chmod && !passing(event.Name) {
				changed[event.Name] = changed[event.Name] || event.Has(fsnotify.Create)
				quiet.Reset(quietFor)
			}
		case err := <-watcher.Errors:
			fmt.Fprintf(p.trouble, "watching files: %v\n", err)
		case <-quiet.C:
			o.follow(watcher)
			o.after(ctx, p, l, lasting(changed))
			clear(changed)
		}
	}
}

// lasting are the files that changed, sorted, without those that came and went
// meanwhile.
func lasting(changed map[string]bool) []string {
	var files []string
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		if _, err := os.Stat(file); err == nil || !changed[file] {
			files = append(files, file)
		}
	}
	return files
}

// after says what changed, and what there is to find now.
func (o *lintOptions) after(ctx context.Context, p *findingPrinter, l linted, files []string) {
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(p.trouble, "\nchanged: %s\n", strings.Join(files, ", "))
	if err := o.again(ctx, p, l, o.concerns(files)); err != nil {
		tell(p.trouble, err)
	}
}

// again checks what changed and prints all that there is to say now.
func (o *lintOptions) again(ctx context.Context, p *findingPrinter, l linted, changed func(string) bool) error {
	clear(p.files)
	delete(l, "")
	if err := o.lint(ctx, l, changed); err != nil {
		if changed == nil {
			return err
		}
		clear(l) // what was found before may be wrong by now
		return err
	}
	return p.print("text", l)
}

// passing are files that editors make for themselves.
func passing(file string) bool {
	name := filepath.Base(file)
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#")
}

// follow watches all directories below the roots that there are now.
func (o *lintOptions) follow(watcher *fsnotify.Watcher) {
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

// concerns says which kinds the change of these files can matter to: a file of
// a kind's folder, example or cases to that kind alone, any other to all.
func (o *lintOptions) concerns(files []string) func(name string) bool {
	names := map[string]bool{}
	for _, file := range files {
		name, ok := o.owner(file)
		if !ok {
			return func(string) bool { return true }
		}
		names[name] = true
	}
	return func(name string) bool { return names[name] }
}

// owner is the one kind that a file belongs to.
func (o *lintOptions) owner(file string) (string, bool) {
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
