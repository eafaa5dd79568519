package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Retired is an entry of retired in the kind.yaml of a folder.
type Retired struct {
	// Entry is as kind.yaml may have it.
	Entry string `json:"entry"`
	// MayGo: the record on the CRD does not name the kind any more, so nothing is
	// left of it.
	MayGo bool `json:"removable,omitempty"`
}

// compileFolders compiles the folders of an installation, as far as they are known.
func (l *look) compileFolders(ctx context.Context, i *Installation) {
	items, err := l.listConfigMaps(ctx, i)
	i.unread = err
	folders := l.joinFolders(items)
	for _, k := range i.Kinds {
		k.FolderManagers = listFolderManagers(items, k.Name)
		if k.State.HasNoResources() {
			continue
		}
		current, err := l.CRD(ctx, k.Name)
		if err != nil || current == nil {
			k.unread = err
			continue
		}
		if folders[k.Name] == nil {
			k.unread = errors.New("its folder is not known: it is in no ConfigMap that may be read; give it by --root")
			continue
		}
		crd, err := schema.FromObject(current)
		if err == nil {
			k.compiled, err = kind.Compile(folders[k.Name], crd)
		}
		if k.unread = err; err != nil {
			continue
		}
		k.compiled = k.compiled.At(kind.Site{Namespace: i.Namespace, Namespaces: i.Namespaces, Scopes: l.Scopes})
		k.onRecord(current, l.Served().Preferred)
	}
}

// readFolders returns the folders of the operator's ConfigMaps, if they may be read, and those on
// file.
func (l *look) readFolders(ctx context.Context, i *Installation) (map[string]*folder.Folder, error) {
	items, err := l.listConfigMaps(ctx, i)
	return l.joinFolders(items), err
}

// joinFolders returns the folders of ConfigMaps, and those on file that these do not have.
func (l *look) joinFolders(items []corev1.ConfigMap) map[string]*folder.Folder {
	all := maps.Clone(l.Folders)
	if all == nil {
		all = map[string]*folder.Folder{}
	}
	maps.Copy(all, folder.OfConfigMaps(items))
	return all
}

// listConfigMaps lists the ConfigMaps of an installation that hold folders.
func (l *look) listConfigMaps(ctx context.Context, i *Installation) ([]corev1.ConfigMap, error) {
	found, err := l.Objects(ctx, configMaps, liveview.Range{Namespace: i.Namespace, Selector: api.LabelKind})
	if err != nil {
		return nil, err
	}
	items := make([]corev1.ConfigMap, len(found))
	for n, o := range found {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &items[n]); err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s: %w", o.GetName(), err)
		}
	}
	return items, nil
}

// listFolderManagers returns the field managers of the data of a kind's ConfigMaps, sorted,
// if one of these has several; else nil.
func listFolderManagers(items []corev1.ConfigMap, name string) []string {
	var all []string
	for i := range items {
		if folder.KindOf(&items[i]) != name {
			continue
		}
		var managers []string
		for _, entry := range items[i].ManagedFields {
			var fields map[string]json.RawMessage
			if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
				continue
			}
			if fields["f:data"] != nil || fields["f:binaryData"] != nil {
				managers = append(managers, entry.Manager)
			}
		}
		slices.Sort(managers)
		if managers = slices.Compact(managers); len(managers) > 1 {
			all = append(all, managers...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// onRecord says which entries of retired may go, and what the record on the CRD
// names that the folder neither makes nor retires. While a rollout is under way
// an earlier folder is still in use.
func (k *Kind) onRecord(crd metav1.Object, preferred func(apischema.GroupKind) (live.Resource, bool)) {
	left := kinds.Unused(kinds.ReadKinds(crd), []*kind.Kind{k.compiled})
	for _, r := range k.compiled.Settings.Retired {
		isLeft := slices.Contains(left, kinds.RecordedKind{GroupKind: r.GVK().GroupKind(), Patched: r.Patch()})
		k.Retired = append(k.Retired, Retired{Entry: r.String(), MayGo: k.State == verdict.Serving && !isLeft})
	}
	if k.State != verdict.Serving {
		return
	}
	for _, l := range left {
		if k.compiled.Retires(l.GroupKind, l.Patched) {
			continue
		}
		entry := kind.RetiredRule{APIVersion: l.Group, Kind: l.Kind}
		if r, found := preferred(l.GroupKind); found {
			entry.APIVersion = r.GVK.GroupVersion().String()
		}
		if l.Patched {
			entry.Ownership = "patch"
		}
		k.Dropped = append(k.Dropped, entry.String())
	}
}
