package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema/compat"
)

// installCRDs applies the CRDs of all roots. That needs no Lease: whoever does it
// says the same, on the CRD as it was seen.
func (o *Operator) installCRDs(ctx context.Context) error {
	writer := o.reportWriter
	if o.options.ReadOnly {
		writer = writer.ReadOnly()
	}
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
			err := writer.InstallCRD(ctx, crd, func(there *unstructured.Unstructured) error { return o.breaks(there, crd) })
			var broken breaking
			switch {
			case errors.As(err, &broken):
				// The kind is served with the CRD that is there; the others are not concerned.
				log.FromContext(ctx).Error(broken, "CRD not applied: it would break existing resources or clients; "+
					"change it, or run once with --allow-breaking", "kind", crd.GetName(), "file", file.Shown)
			case err != nil:
				return fmt.Errorf("installing %s: %w", file.Shown, err)
			}
		}
	}
	return nil
}

// A breaking is what a changed CRD would break.
type breaking []compat.Break

func (b breaking) Error() string {
	lines := make([]string, len(b))
	for i, one := range b {
		lines[i] = one.String()
	}
	return strings.Join(lines, "; ")
}

// breaks refuses to change the CRD that is there if that breaks something, unless it
// may.
func (o *Operator) breaks(there, changed *unstructured.Unstructured) error {
	var crds [2]apiextensionsv1.CustomResourceDefinition
	for i, u := range []*unstructured.Unstructured{there, changed} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &crds[i]); err != nil {
			return fmt.Errorf("reading CRD %s: %w", u.GetName(), err)
		}
	}
	if broken := compat.Breaks(&crds[0], &crds[1]); len(broken) > 0 && !o.options.AllowBreaking {
		return breaking(broken)
	}
	return nil
}

// readRoots reads the folders of all roots.
func (o *Operator) readRoots() error {
	var found []folder.Source
	for i, root := range o.options.Roots {
		contents, err := root.Read()
		if err != nil {
			return err
		}
		shown := fmt.Sprintf("root %d", i+1)
		if dirs := root.Dirs(); len(dirs) > 0 {
			shown = "root " + dirs[0]
		}
		for name, f := range contents.Folders {
			found = append(found, folder.Source{Kind: name, Shown: shown, Rooted: true, Folder: f})
		}
		for name, err := range contents.Broken {
			found = append(found, folder.Source{Kind: name, Shown: shown, Rooted: true, Err: err})
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files, o.read = found, true
	o.pick()
	return nil
}

// debounce is how long a folder must be quiet before it is read: editors
// and volume updates write several times.
const debounce = 200 * time.Millisecond

// readEvery is how often the roots are read again even though no file event
// came.
const readEvery = 15 * time.Second

// watchFolders reads the roots again when a file event comes, and every now
// and then in case one was lost.
func (o *Operator) watchFolders(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching folders: %w", err)
	}
	defer watcher.Close()
	every := time.NewTicker(readEvery)
	defer every.Stop()
	quiet := time.NewTimer(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			quiet.Reset(debounce)
			continue
		case err := <-watcher.Errors:
			log.FromContext(ctx).Error(err, "folders not watched; they are read every now and then")
		case <-every.C:
		case <-quiet.C:
		}
		o.watchDirs(watcher)
		if err := o.readRoots(); err != nil {
			log.FromContext(ctx).Error(err, "folders not read")
		}
	}
}

// watchDirs watches the directories that there are now. One that cannot be
// watched is read on the ticker.
func (o *Operator) watchDirs(watcher *fsnotify.Watcher) {
	for _, root := range o.options.Roots {
		for _, dir := range root.Dirs() {
			_ = watcher.Add(dir)
		}
	}
}
