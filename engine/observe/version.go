package observe

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// A Version is what a kind runs with: its compiled folder, or why there is
// none, and which kinds of children to look at.
type Version struct {
	// Name is that of the kind.
	Name string
	Kind *kind.Kind
	// Digest tells two versions of a folder apart, the installation's settings
	// included.
	Digest string
	// Revision is what children are marked with that the version writes, such as
	// "17-0123456789abcdef"; "" marks none.
	Revision string
	// Removed: there is no folder any more; Kind is then nil.
	Removed bool
	// Broken says why the folder does not load; Kind is then nil.
	Broken error
	// Schema is the CRD's version that resources are shown in, also when the
	// folder does not load; nil if the CRD cannot be read. It is read when it is
	// first asked for: of a kind that another installation serves, it never is.
	Schema func() *crdschema.Version
	// Children are all kinds of children there may be, those of the folder and
	// those on record, and how much of them is needed.
	Children map[schema.GroupVersionKind]live.Need
	// Patched are all kinds of objects that there may be patches of, those of
	// the folder and those on record.
	Patched []schema.GroupVersionKind
}

// MakesOnce reports whether a file makes Jobs once.
func (v *Version) MakesOnce(file string) bool {
	if v.Kind == nil {
		return false
	}
	for _, d := range v.Kind.Documents {
		if d.File == file && d.Marks[api.AnnotationRunOnce] != "" {
			return true
		}
	}
	return false
}

// DrawsTexts reports whether the texts of a file's Secret are drawn once.
func (v *Version) DrawsTexts(file string) bool {
	return v.Kind != nil && v.Kind.Draws(file)
}

// Health returns the health expressions of the folder, or nil without a folder.
func (v *Version) Health() *health.Set { return healthOf(v.Kind) }

// WritesKind reports whether the folder makes, or patches, objects of a kind.
func (v *Version) WritesKind(gk schema.GroupKind, patched bool) bool {
	if patched {
		return slices.ContainsFunc(v.Kind.Patches(), func(p kind.Patch) bool { return p.GroupKind() == gk })
	}
	return slices.ContainsFunc(v.Kind.Children, func(c kind.Child) bool { return c.GroupKind() == gk })
}

// DependsOn reports whether the version makes, patches or asks about a kind that matches.
func (v *Version) DependsOn(matches func(schema.GroupKind) bool) bool {
	for gvk := range v.Children {
		if matches(gvk.GroupKind()) {
			return true
		}
	}
	return slices.ContainsFunc(v.Patched, func(gvk schema.GroupVersionKind) bool { return matches(gvk.GroupKind()) }) ||
		v.Kind != nil && v.Kind.AsksAbout(matches)
}

// declaresChildren reports whether the CRD has room for the children in the status.
func (v *Version) declaresChildren() bool {
	shown := v.ShownVersion()
	if shown == nil || !shown.Status {
		return false
	}
	child := map[string]any{"apiVersion": "", "kind": "", "namespace": "", "name": ""}
	_, dropped := shown.PruneStatus(map[string]any{"children": []any{child}})
	return len(dropped) == 0
}

// HasStatus reports whether resources have a status.
func (v *Version) HasStatus() bool {
	shown := v.ShownVersion()
	return shown == nil || shown.Status
}

// ShownVersion returns Schema; nil if that is not known.
func (v *Version) ShownVersion() *crdschema.Version {
	if v.Schema == nil {
		return nil
	}
	return v.Schema()
}

// IsPending reports whether some kind of child, or of what is patched or read, has
// not been listed yet, or not with as much as is needed, and nothing is known to
// be in the way: an event then enqueues the resource when it has been.
func (v *Version) IsPending(c Caches) bool {
	for gvk, need := range v.Children {
		s := c.Children.State(gvk)
		if s.Coming() || s.Phase == live.Synced && !s.Holds.Covers(need) {
			return true
		}
	}
	for scope, need := range v.Scopes() {
		s := c.Reads.State(scope)
		if s.Coming() || s.Phase == live.Synced && s.Err == nil && !s.Holds.Covers(need) {
			return true
		}
	}
	return false
}

// scopeOf returns which watch delivers what a template reads. What the operator reads
// itself in the namespaces of resources, one watch delivers for all of them.
func (v *Version) scopeOf(gvk schema.GroupVersionKind, own, namespace, name string) cluster.Scope {
	scope := cluster.Scope{GroupVersionKind: gvk}
	if account := v.Kind.Settings.ServiceAccountName; account != "" {
		scope.Namespace, scope.As = namespace, own+"/"+account
	}
	if namespace == own && v.Kind.ReadsOwn(gvk) {
		return scope
	}
	for _, rule := range v.Kind.Settings.Reads {
		if rule.GVK() == gvk && (rule.Namespaces == nil || slices.Contains(rule.Namespaces, namespace)) {
			scope.Namespace = namespace
			if slices.Contains(rule.Names, name) {
				scope.Name = name
			}
		}
	}
	return scope
}

// Scopes are the watches that the kind needs whatever its resources say: those of what is patched,
// and of what the operator itself reads. Each is given with how much of its objects is needed.
func (v *Version) Scopes() map[cluster.Scope]live.Need {
	all := map[cluster.Scope]live.Need{}
	if v.Kind != nil && v.Kind.Settings.ServiceAccountName == "" {
		for _, read := range v.Kind.ReadKinds() {
			if read.Own {
				all[cluster.Scope{GroupVersionKind: read.GroupVersionKind}] = read.Need
			}
		}
	}
	for _, gvk := range v.Patched {
		all[cluster.Scope{GroupVersionKind: gvk}] = live.Body
	}
	return all
}

// Lists returns the lists in which objects of a resource may be.
func (v *Version) Lists() (all []plan.List) {
	for gvk := range v.Children {
		all = append(all, plan.List{GroupVersionKind: gvk})
	}
	for _, gvk := range v.Patched {
		all = append(all, plan.List{GroupVersionKind: gvk, IsPatched: true})
	}
	return slices.DeleteFunc(all, func(l plan.List) bool { return l.Version == "" })
}

// ResyncInterval is how often the children of a kind are listed without an event.
func (v *Version) ResyncInterval() time.Duration {
	if v.Kind == nil {
		return kind.DefaultResyncInterval
	}
	return v.Kind.Settings.ResyncInterval.Duration
}
