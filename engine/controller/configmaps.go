package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// onlyFolders restricts the cache of ConfigMaps to those that hold folders.
func onlyFolders(namespace string) map[client.Object]ctrlcache.ByObject {
	if namespace == "" {
		return nil
	}
	selector, err := labels.Parse(api.LabelKind)
	if err != nil { // the label is a constant
		panic(err)
	}
	return map[client.Object]ctrlcache.ByObject{&corev1.ConfigMap{}: {
		Namespaces: map[string]ctrlcache.Config{namespace: {LabelSelector: selector}},
	}}
}

// watchMaps reads folders from the ConfigMaps of the operator's namespace, now
// and whenever one changes.
func (s *folderSources) watchMaps(ctx context.Context) error {
	if s.options.Namespace == "" {
		<-ctx.Done()
		return nil
	}
	informer, err := s.mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	changed := locks.NewSignal()
	poke := func(any) { changed.Notify() }
	told, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: poke, DeleteFunc: poke, UpdateFunc: func(_, n any) { poke(n) },
	})
	if err != nil {
		return err
	}
	if !cache.WaitForCacheSync(ctx.Done(), told.HasSynced) {
		return nil
	}
	for {
		if err := s.readMaps(ctx); err != nil {
			log.FromContext(ctx).Error(err, "ConfigMaps not read")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		// The parts of a folder are written one after the other.
		for quiet := false; !quiet; {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			case <-time.After(debounce):
				quiet = true
			}
		}
	}
}

// debounce is how long no ConfigMap may change before they are read.
const debounce = 200 * time.Millisecond

// readMaps makes folders of the ConfigMaps that there are.
func (s *folderSources) readMaps(ctx context.Context) error {
	var list corev1.ConfigMapList
	if err := s.mgr.GetCache().List(ctx, &list, client.InNamespace(s.options.Namespace)); err != nil {
		return err
	}
	found := folder.FromConfigMaps(list.Items)
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.mapsRead
	s.maps, s.mapsRead = found, true
	s.pickFolders()
	if first { // what has no folder is known to have none only now
		for _, name := range s.kindsWhere(func(k *kindState) bool { return k.crd != nil }) {
			s.names.Add(name)
		}
	}
	return nil
}
