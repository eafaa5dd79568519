package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A roleKeeper knows which roles an account has.
type roleKeeper struct {
	applied map[string]*unstructured.Unstructured
	texts   map[string]string
	// files is the state of the folders, and read what was read of them, or nil.
	files string
	read  *foldersRead
}

// foldersRead are folders and the CRDs of crds/, by name.
type foldersRead struct {
	folders map[string]*folder.Folder
	crds    map[string]*schema.CRD
}

// printed are, by installation and kind, the folders that roles were printed of
// last. Of one that does not compile, or is gone, nobody can print any, so the
// roles stay.
type printed struct {
	mu    sync.Mutex
	kinds map[string]*kind.Kind
}

// listConfigMaps returns the ConfigMaps that hold folders.
func (a *Access) listConfigMaps(ctx context.Context) []corev1.ConfigMap {
	if a.options.Namespace == "" {
		return nil
	}
	var list corev1.ConfigMapList
	if err := a.cluster.Client.List(ctx, &list, client.InNamespace(a.options.Namespace), client.HasLabels{api.LabelKind}); err != nil {
		return nil
	}
	return list.Items
}

// renewRoles applies the roles that are needed now, and waits until they are valid.
func (a *Access) renewRoles(ctx context.Context) error {
	roles, err := a.computeRoles(ctx)
	if err != nil {
		return err
	}
	if a.applied == nil {
		a.applied, a.texts = map[string]*unstructured.Unstructured{}, map[string]string{}
	}
	wanted := map[string]bool{}
	var fresh, taken []rbac.Role
	for i, role := range roles {
		whole := role
		role.Rules = a.dropDenied(role.Rules)
		role.Name = fmt.Sprintf("%s:%s:%d:%s", a.Subject.Name, strings.ReplaceAll(a.options.Identity, "/", ":"), i, role.Name)
		roles[i] = role
		changed, err := a.applyRole(ctx, role, wanted)
		if err != nil {
			return err
		}
		if changed {
			fresh = append(fresh, role)
			taken = append(taken, a.listDenied(whole)...)
		}
	}
	if err := a.cluster.awaitGranted(ctx, a.Subject, fresh); err != nil {
		return err
	}
	if err := a.cluster.awaitWithdrawn(ctx, a.Subject, taken, roles); err != nil {
		return err
	}
	for key, o := range a.applied {
		if !wanted[key] {
			delete(a.applied, key)
			delete(a.texts, key)
			if err := client.IgnoreNotFound(a.cluster.Client.Delete(ctx, o)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropDenied returns the rules without what the account is to lack.
func (a *Access) dropDenied(rules []rbac.Rule) []rbac.Rule {
	if a.denied == nil {
		return rules
	}
	var all []rbac.Rule
	for _, r := range rules {
		r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool { return a.denied(r, verb) })
		if len(r.Verbs) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// listDenied returns what of a role the account is to lack, each as a role of one verb.
func (a *Access) listDenied(role rbac.Role) (all []rbac.Role) {
	for _, r := range role.Rules {
		for _, verb := range r.Verbs {
			if a.denied != nil && a.denied(r, verb) {
				one := r
				one.Verbs = []string{verb}
				all = append(all, rbac.Role{Namespace: role.Namespace, Rules: []rbac.Rule{one}})
			}
		}
	}
	return all
}

// applyRole applies a role and its bindings as `jacquard rbac` prints them, unless they are as they
// were.
func (a *Access) applyRole(ctx context.Context, role rbac.Role, wanted map[string]bool) (changed bool, err error) {
	var text bytes.Buffer
	if err := rbac.Write(&text, []rbac.Role{role}, rbac.Binding{Operator: a.Subject}); err != nil {
		return false, err
	}
	for _, o := range Parse(a.t, text.String()) {
		key := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		wanted[key] = true
		body, err := json.Marshal(o.Object)
		if err != nil {
			return changed, err
		}
		if a.texts[key] == string(body) {
			continue
		}
		if err := a.cluster.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
			client.ForceOwnership); err != nil {
			return changed, err
		}
		a.texts[key], a.applied[key], changed = string(body), o, true
	}
	return changed, nil
}

// withdrawRights takes all rights from the account.
func (a *Access) withdrawRights() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving = false
	for _, o := range a.applied {
		if err := client.IgnoreNotFound(a.cluster.Client.Delete(context.Background(), o)); err != nil {
			a.t.Error(err)
		}
	}
}

// computeRoles returns the roles that the operator needs now.
func (a *Access) computeRoles(ctx context.Context) ([]rbac.Role, error) {
	found := a.read
	if found == nil {
		var isWhole bool
		if found, isWhole = a.readFolders(ctx); isWhole {
			a.read = found
		}
	}
	folders, files := found.folders, found.crds
	roles := rbac.Base(rbac.Installation{Namespace: cmp.Or(a.options.Namespace, a.options.LeaderElectionNamespace),
		Namespaces:    a.options.Namespaces,
		SecureMetrics: a.options.MetricsSecure, Identity: a.options.Identity, Divides: a.options.Buckets > 0})
	names := a.cluster.listClaimed(a.options.Identity)
	for name := range folders {
		names[name] = true
	}
	if a.options.InstallCRDs {
		for name := range files {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		of, err := a.ofKind(ctx, name, folders[name], files[name])
		if err != nil {
			return nil, err
		}
		roles = append(roles, of...)
	}
	return slices.DeleteFunc(roles, func(r rbac.Role) bool { return r.Holder != rbac.Operator }), nil
}

// readFolders reads those of the roots and ConfigMaps, and the CRDs of crds/, and reports
// whether all could be read.
func (a *Access) readFolders(ctx context.Context) (found *foldersRead, isWhole bool) {
	isWhole = true
	folders, crds := folder.OfConfigMaps(a.listConfigMaps(ctx)), map[string]*schema.CRD{}
	for _, dir := range a.roots {
		contents, err := folder.FromDir(dir).Read()
		if err != nil {
			isWhole = false // it is being written
			continue
		}
		maps.Copy(folders, contents.Folders)
		for _, file := range contents.CRDs {
			if crd, err := crdfile.Parse(file.Shown, file.Data); err == nil {
				crds[crd.Name] = crd
			}
		}
	}
	return &foldersRead{folders, crds}, isWhole
}

// ofKind are the roles for one kind, as `jacquard rbac` prints them of its folder.
func (a *Access) ofKind(ctx context.Context, name string, f *folder.Folder, file *schema.CRD) ([]rbac.Role, error) {
	in := rbac.Input{CRD: file, Plural: a.cluster.pluralOf, Install: file != nil && a.options.InstallCRDs, Namespaces: a.options.Namespaces}
	if live := a.cluster.findCRD(ctx, name); live != nil {
		crd, err := schema.FromObject(live)
		if err != nil {
			return nil, err
		}
		if in.CRD = crd; GuardOwners {
			a.cluster.awaitAdmission(ctx, live)
		}
	}
	if in.CRD == nil {
		return nil, nil
	}
	if in.Kind = a.chooseKind(name, f, in.CRD); in.Kind == nil {
		return nil, nil
	}
	return rbac.Of(in)
}

// chooseKind returns the compiled folder of which the roles of a kind are printed. This is the
// present one, if it compiles, or else the last one that compiled. If none ever compiled, it is an
// empty folder, with which whoever makes a kind begins. The result is nil if the CRD does not allow
// even that.
func (a *Access) chooseKind(name string, f *folder.Folder, crd *schema.CRD) *kind.Kind {
	a.cluster.printed.mu.Lock()
	defer a.cluster.printed.mu.Unlock()
	key := a.options.Identity + " " + name
	if k := a.compileFolder(f, crd); k != nil {
		a.cluster.printed.kinds[key] = k
	}
	if k := a.cluster.printed.kinds[key]; k != nil {
		return k
	}
	empty, err := folder.FromMap(name, "templates/"+name, nil)
	if err != nil {
		return nil
	}
	return a.compileFolder(empty, crd)
}

// compileFolder compiles a folder for this operator. It returns nil if there is no folder or if it
// does not compile.
func (a *Access) compileFolder(f *folder.Folder, crd *schema.CRD) *kind.Kind {
	if f == nil {
		return nil
	}
	k, err := kind.Compile(f, crd)
	if err == nil && a.options.Settings != nil {
		k, err = a.options.Settings.Apply(k)
	}
	if err != nil {
		return nil
	}
	return k.At(kind.Site{Namespace: a.options.Namespace, Scopes: a.cluster.scopeOf})
}
