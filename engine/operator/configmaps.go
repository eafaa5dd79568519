package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
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
func (o *Operator) watchMaps(ctx context.Context) error {
	if o.options.Namespace == "" {
		<-ctx.Done()
		return nil
	}
	informer, err := o.mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	poke := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
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
		if err := o.readMaps(ctx); err != nil {
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
			case <-time.After(settleAfter):
				quiet = true
			}
		}
	}
}

// readMaps makes folders of the ConfigMaps that there are.
func (o *Operator) readMaps(ctx context.Context) error {
	var list corev1.ConfigMapList
	if err := o.mgr.GetCache().List(ctx, &list, client.InNamespace(o.options.Namespace)); err != nil {
		return err
	}
	found := fromMaps(list.Items)
	o.mu.Lock()
	defer o.mu.Unlock()
	first := !o.mapsRead
	o.maps, o.mapsRead = found, true
	o.pick()
	if first { // what has no folder is known to have none only now
		for name := range o.crds {
			o.names.Add(name)
		}
	}
	return nil
}

// Folders are those that ConfigMaps hold, by name of their kind, as far as they
// can be read.
func Folders(items []corev1.ConfigMap) map[string]*folder.Folder {
	all := map[string]*folder.Folder{}
	for _, o := range fromMaps(items) {
		if o.err == nil && all[o.kind] == nil {
			all[o.kind] = o.folder
		}
	}
	return all
}

// A part is a ConfigMap that holds a folder, or one of several that do.
type part struct {
	*corev1.ConfigMap
	kind      string
	index, of int
	// state is what all parts of one state of the folder say alike, or "".
	state string
	err   error
}

// fromMaps makes sources of ConfigMaps, by name: each is a folder, and those
// that say which part they are make one together with the others of as many.
func fromMaps(items []corev1.ConfigMap) []origin {
	groups := map[string][]part{}
	for i := range items {
		p := partOf(&items[i])
		key := p.kind + " " + p.Name
		if p.of > 0 {
			key = fmt.Sprintf("%s %d parts", p.kind, p.of)
		}
		groups[key] = append(groups[key], p)
	}
	var sources []origin
	for _, parts := range groups {
		slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
		sources = append(sources, join(parts))
	}
	slices.SortFunc(sources, func(a, b origin) int { return strings.Compare(a.shown, b.shown) })
	return sources
}

func partOf(m *corev1.ConfigMap) part {
	p := part{ConfigMap: m, kind: m.Labels[api.LabelKind]}
	if long := m.Annotations[api.AnnotationKind]; long != "" {
		p.kind = long
	}
	text, found := m.Annotations[api.AnnotationPart]
	if !found {
		return p
	}
	text, p.state, _ = strings.Cut(text, " ")
	first, second, _ := strings.Cut(text, "/")
	index, err := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if err != nil || err2 != nil || index < 1 || index > of {
		p.err = fmt.Errorf("ConfigMap %s/%s: the annotation %s must say which part it is, such as 1/3, and may say after a blank what all parts have in common", m.Namespace, m.Name, api.AnnotationPart)
		return p
	}
	p.index, p.of = index, of
	return p
}

// join makes one source of all parts of a folder.
func join(parts []part) origin {
	first := parts[0]
	s := origin{kind: first.kind, shown: "configmap " + first.Namespace + "/" + first.Name}
	if first.err != nil {
		s.err = first.err
		return s
	}
	data, seen := map[string][]byte{}, map[int]string{}
	var errs []error
	for _, p := range parts {
		if other, twice := seen[p.index]; twice {
			errs = append(errs, fmt.Errorf("%s and ConfigMap %s say both that they are part %d of %d: remove one", s.shown, other, p.index, p.of))
		}
		seen[p.index] = p.Name
		if p.state != first.state {
			s.partial = true
			errs = append(errs, fmt.Errorf("%s and ConfigMap %s are parts of different states of the folder: %q and %q", s.shown, p.Name, first.state, p.state))
		}
		for key, value := range p.contents() {
			if _, twice := data[key]; twice {
				errs = append(errs, fmt.Errorf("%s/%s: the file is in two parts of the folder: remove one", s.shown, key))
			}
			data[key] = value
		}
	}
	for i := range first.of {
		if seen[i+1] == "" {
			s.partial = true
			errs = append(errs, fmt.Errorf("%s: part %d of %d is not there", s.shown, i+1, first.of))
		}
	}
	if s.err = errors.Join(errs...); s.err == nil {
		s.folder, s.err = folder.FromMap(s.kind, s.shown, data)
	}
	return s
}

// contents are the files of a ConfigMap.
func (p part) contents() map[string][]byte {
	files := maps.Clone(p.BinaryData)
	if files == nil {
		files = map[string][]byte{}
	}
	for key, text := range p.Data {
		files[key] = []byte(text)
	}
	return files
}
