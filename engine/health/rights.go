package health

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/operator"
	"github.com/jacquard-operator/jacquard/engine/report"
	"github.com/jacquard-operator/jacquard/engine/rights"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/survey"
)

// Allowed says whether a user may do something.
type Allowed func(ctx context.Context, user string, q rights.Request) (bool, error)

// lacks finds the rights that the operator needs and does not have: by asking the
// API server about what the folders need, or else as resources tell.
func (l *look) lacks(ctx context.Context, i *Installation) {
	if i.report == nil || l.Allowed == nil || i.Leader.State == Gone { // who is gone needs none
		return
	}
	roles, err := l.needed(ctx, i)
	if err != nil {
		l.unknown("some rights of "+i.Identity, err)
	}
	if i.Account == "" {
		err = errors.New("its account is not known")
	} else {
		var missing []rights.Role
		missing, err = rights.Missing(roles, func(q rights.Request) (bool, error) { return l.Allowed(ctx, i.Account, q) })
		for _, role := range missing {
			for _, rule := range role.Rules {
				i.Lacks = append(i.Lacks, fmt.Sprintf("%s: %s  # %s", role.Where(), rule, rule.Because()))
			}
		}
	}
	if err == nil {
		return
	}
	l.unknown("the rights of "+i.Identity+", but for what its resources tell", err)
	i.Lacks = told(i)
}

var rule = regexp.MustCompile(`the missing rule, in (.*?\})`)

// told are the missing rules that kinds and resources tell of.
func told(i *Installation) []string {
	seen := map[string]bool{}
	take := func(text string) {
		for _, m := range rule.FindAllStringSubmatch(text, -1) {
			seen[m[1]] = true
		}
	}
	for _, k := range i.Kinds {
		take(k.Message)
		for _, r := range k.NotReady {
			take(r.Message)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// needed are the roles that the operator needs, as far as folders are known. The
// error joins what is not.
func (l *look) needed(ctx context.Context, i *Installation) ([]rights.Role, error) {
	roles := rights.Base(rights.Installation{Namespace: i.Namespace, Namespaces: i.Namespaces, Identity: i.Identity})
	folders, err := l.folders(ctx, i)
	errs := []error{err}
	for _, k := range i.Kinds {
		if k.State == report.NoCRD || k.State == report.Elsewhere {
			continue
		}
		of, err := l.rightsOf(ctx, k.Name, folders[k.Name], i)
		roles = append(roles, of...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, err))
		}
	}
	return slices.DeleteFunc(roles, func(r rights.Role) bool { return r.Holder != rights.Operator }), errors.Join(errs...)
}

// folders are those of the operator's ConfigMaps, if they may be read, and those
// on file.
func (l *look) folders(ctx context.Context, i *Installation) (map[string]*folder.Folder, error) {
	all := maps.Clone(l.Folders)
	if all == nil {
		all = map[string]*folder.Folder{}
	}
	found, err := l.Objects(ctx, configMaps, survey.Range{Namespace: i.Namespace, Selector: api.LabelKind})
	if err != nil {
		return all, err
	}
	items := make([]corev1.ConfigMap, len(found))
	for n, o := range found {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &items[n]); err != nil {
			return all, err
		}
	}
	maps.Copy(all, operator.Folders(items))
	return all, nil
}

// rightsOf are the roles that serving a kind needs.
func (l *look) rightsOf(ctx context.Context, name string, f *folder.Folder, i *Installation) ([]rights.Role, error) {
	if f == nil {
		return nil, errors.New("its folder is not known: it is in no ConfigMap that may be read; give it by --root")
	}
	live, err := l.CRD(ctx, name)
	if err != nil || live == nil {
		return nil, err
	}
	crd, err := schema.FromObject(live)
	if err != nil {
		return nil, err
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		return nil, err
	}
	k = k.At(kind.Site{Namespace: i.Namespace, Namespaces: i.Namespaces, Scopes: l.Scopes})
	absent := map[apischema.GroupResource]bool{}
	roles, err := rights.Of(rights.Input{CRD: crd, Kind: k, Namespaces: i.Namespaces, Plural: func(gvk apischema.GroupVersionKind) string {
		r, served := l.Served().Resource(gvk)
		if served || l.Served().Unknown(gvk.Group) != nil {
			return r.GVR.Resource
		}
		name := strings.ToLower(gvk.Kind) + ".not-served"
		absent[apischema.GroupResource{Group: gvk.Group, Resource: name}] = true
		return name
	}})
	return without(roles, absent), err
}

// without leaves out rules about APIs that the cluster does not serve: they are
// not needed before it does, and nobody knows by which names it would.
func without(roles []rights.Role, absent map[apischema.GroupResource]bool) []rights.Role {
	var left []rights.Role
	for _, role := range roles {
		role.Rules = slices.DeleteFunc(slices.Clone(role.Rules), func(r rights.Rule) bool {
			name, _, _ := strings.Cut(r.Resource, "/")
			return absent[apischema.GroupResource{Group: r.Group, Resource: name}]
		})
		if len(role.Rules) > 0 {
			left = append(left, role)
		}
	}
	return left
}
