package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// installCRDs applies the CRDs of all roots.
func (o *Operator) installCRDs(ctx context.Context) error {
	for _, root := range o.options.Roots {
		contents, err := root.Read()
		if err != nil {
			return err
		}
		for _, file := range contents.CRDs {
			crd := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(file.Data, &crd.Object); err != nil {
				return fmt.Errorf("%s: %w", file.Shown, err)
			}
			if err := o.writer.InstallCRD(ctx, crd); err != nil {
				return fmt.Errorf("installing %s: %w", file.Shown, err)
			}
		}
	}
	return nil
}

// readRoots reads all folders and settles the kinds whose folder changed.
func (o *Operator) readRoots(context.Context) error {
	folders, unread := map[string]*folder.Folder{}, map[string]error{}
	for _, root := range o.options.Roots {
		contents, err := root.Read()
		if err != nil {
			return err
		}
		for name, f := range contents.Folders {
			if folders[name] != nil {
				unread[name] = fmt.Errorf("templates/%s: the folder is in two roots: remove one", name)
			}
			folders[name] = f
		}
		maps.Copy(unread, contents.Broken)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := o.changed(folders, unread)
	o.folders, o.unread, o.read = folders, unread, true
	for _, name := range changed {
		o.names.Add(name)
	}
	return nil
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

// settleAfter is how long a folder must be quiet before it is read: editors
// and volume updates write several times.
const settleAfter = 200 * time.Millisecond

// watchFolders reads the roots again when a file event comes, and every now
// and then in case one was lost.
func (o *Operator) watchFolders(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching folders: %w", err)
	}
	defer watcher.Close()
	every := time.NewTicker(o.options.ReadEvery)
	defer every.Stop()
	quiet := time.NewTimer(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			quiet.Reset(settleAfter)
			continue
		case err := <-watcher.Errors:
			log.FromContext(ctx).Info("watching folders", "error", err.Error())
		case <-every.C:
		case <-quiet.C:
		}
		o.watchDirs(watcher)
		if err := o.readRoots(ctx); err != nil {
			log.FromContext(ctx).Info("folders not read", "error", err.Error())
		}
	}
}

// watchDirs watches the directories that there are now. One that cannot be
// watched is read on the ticker.
func (o *Operator) watchDirs(watcher *fsnotify.Watcher) {
	for _, root := range o.options.Roots {
		for _, dir := range root.Dirs() {
			if err := watcher.Add(dir); err != nil && !errors.Is(err, fsnotify.ErrClosed) {
				continue
			}
		}
	}
}
