package kind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// secret is the kind that drawn texts are kept in.
var secret = apischema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// ChildNeed returns which fields templates use of the live children of a kind. Where they use some,
// they also know which child is the newest.
func (k *Kind) ChildNeed(gvk apischema.GroupVersionKind) live.Need {
	need := live.Metadata
	for _, a := range k.Asks {
		switch a.Function {
		case "child", "children", "await":
			if !slices.Contains(k.Makes(a.Args[0]), gvk) {
				continue
			}
			paths, isWhole := k.Templates.ChildFields(a.Args[0])
			if isWhole {
				return live.Body
			}
			need = need.Merge(live.NeedOf(append(paths, []string{"metadata", "creationTimestamp"})...))
		case "stable":
			if gvk == secret && slices.Contains(k.Makes(a.Args[0]), gvk) {
				return live.Body
			}
		}
	}
	return need
}

// Draws reports whether `stable` reads the Secret that a file makes.
func (k *Kind) Draws(file string) bool {
	for _, a := range k.Asks {
		if a.Function == "stable" && a.Args[0] == file {
			return true
		}
	}
	return false
}

// DrawsFrom are the files of whose Secrets a file has texts of `stable`, by
// itself or by what it renders.
func (k *Kind) DrawsFrom(file string) []string {
	var all []string
	for _, a := range k.Templates.AsksOf(file) {
		if a.Function == "stable" && !slices.Contains(all, a.Args[0]) {
			all = append(all, a.Args[0])
		}
	}
	return all
}

// GVK is the kind that the rule is about.
func (r ReadRule) GVK() apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// A ReadKind is a kind that templates read by lookup or select, and where.
type ReadKind struct {
	apischema.GroupVersionKind
	// Need is what they use of it.
	Need live.Need
	// Own says that they may read it in the resource's own namespace.
	Own bool
	// Rules are what kind.yaml declares besides.
	Rules []ReadRule
}

// ReadKinds returns the kinds that templates read by lookup or select, sorted.
func (k *Kind) ReadKinds() []ReadKind {
	var all []ReadKind
	for _, a := range k.Asks {
		gvk, reads := readKind(a)
		if !reads || slices.ContainsFunc(all, func(r ReadKind) bool { return r.GroupVersionKind == gvk }) {
			continue
		}
		all = append(all, ReadKind{gvk, k.ReadNeed(gvk), k.ReadsOwn(gvk), k.readRules(gvk)})
	}
	slices.SortFunc(all, func(a, b ReadKind) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// ReadNeed returns which fields templates use of the objects of a kind that they read by lookup or
// select.
func (k *Kind) ReadNeed(gvk apischema.GroupVersionKind) live.Need {
	need, isRead := k.readNeeds[gvk]
	if !isRead {
		return live.Body
	}
	return need
}

// readNeedsOf returns what templates use of the kinds that they read.
func readNeedsOf(set *template.Set) map[apischema.GroupVersionKind]live.Need {
	needs := map[apischema.GroupVersionKind]live.Need{}
	for _, a := range set.Asks() {
		gvk, reads := readKind(a)
		if !reads {
			continue
		}
		paths, isWhole := set.ReadFields(gvk)
		if needs[gvk] = live.Identity.Merge(live.NeedOf(paths...)); isWhole {
			needs[gvk] = live.Body
		}
	}
	return needs
}

// ReadsOwn reports whether a template may read a kind in the resource's own
// namespace by lookup or select. Where all of them name another, just that one
// need be watched.
func (k *Kind) ReadsOwn(gvk apischema.GroupVersionKind) bool {
	return k.CRD.Namespaced && !k.ClusterScoped(gvk) && slices.ContainsFunc(k.Asks, func(a template.Ask) bool {
		of, reads := readKind(a)
		return reads && of == gvk && (a.AnyNamespace || a.Object.Namespace == "")
	})
}

// readKind returns the kind that a question by lookup or select is about.
func readKind(a template.Ask) (gvk apischema.GroupVersionKind, reads bool) {
	if a.Function != "lookup" && a.Function != "select" {
		return gvk, false
	}
	return apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind), true
}

// AsksAbout reports whether a template asks about a kind that matches: whether the cluster has it,
// or what there is of it.
func (k *Kind) AsksAbout(matches func(apischema.GroupKind) bool) bool {
	return slices.ContainsFunc(k.Asks, func(a template.Ask) bool {
		return a.Object.Kind != "" && matches(apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind).GroupKind())
	})
}

func (k *Kind) readRules(gvk apischema.GroupVersionKind) []ReadRule {
	var rules []ReadRule
	for _, r := range k.Settings.Reads {
		if r.GVK() == gvk {
			rules = append(rules, r)
		}
	}
	return rules
}

// MayRead says why templates may not read an object; nil if they may. own is
// the resource's namespace; name is "" where all objects of the namespace are
// read, which a rule that lists names does not allow.
func (k *Kind) MayRead(gvk apischema.GroupVersionKind, own, namespace, name string, clusterScoped bool) error {
	if !clusterScoped && namespace == own && own != "" {
		return nil
	}
	rules := k.readRules(gvk)
	for _, r := range rules {
		there := clusterScoped && r.Namespaces == nil || !clusterScoped && slices.Contains(r.Namespaces, namespace)
		if there && (r.Names == nil || name != "" && slices.Contains(r.Names, name)) {
			return nil
		}
	}
	return mayNotRead(gvk, namespace, clusterScoped)
}

// mayNotRead says what to write so that a read is allowed. It says no name,
// which may come from the resource.
func mayNotRead(gvk apischema.GroupVersionKind, namespace string, clusterScoped bool) error {
	rule := fmt.Sprintf("- {apiVersion: %s, kind: %s", gvk.GroupVersion(), gvk.Kind)
	switch {
	case clusterScoped:
		return fmt.Errorf("%s is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: %s}", gvk.Kind, rule)
	case namespace == "":
		return fmt.Errorf("the resource has no namespace of its own to read %s in: name one", gvk.Kind)
	}
	return fmt.Errorf("reading %s outside of the resource's namespace must be declared: write in kind.yaml, under reads: %s, namespaces: [NAMESPACE]}",
		gvk.Kind, rule)
}

// checkAsks refuses reads that are not allowed whatever a resource says; with
// scopes only those of kinds that are not built in.
func (k *Kind) checkAsks(scopes Scopes) error {
	var errs []error
	for _, a := range k.Asks {
		gvk, reads := readKind(a)
		if _, builtIn := k.scopeOf(gvk, nil); !reads || builtIn && scopes != nil {
			continue
		}
		if err := k.checkAsk(a, gvk, scopes); err != nil {
			errs = append(errs, &template.Error{Place: a.Place, Err: err})
		}
	}
	return errors.Join(errs...)
}

// checkAsk refuses a read if no resource may read like that.
func (k *Kind) checkAsk(a template.Ask, gvk apischema.GroupVersionKind, scopes Scopes) error {
	clusterScoped, known := k.scopeOf(gvk, scopes)
	switch {
	case !known:
		return nil
	case clusterScoped && a.Object.Namespace != "":
		return fmt.Errorf("%s is cluster-scoped: leave the namespace empty", gvk.Kind)
	case clusterScoped && !a.AnyName:
		return k.MayRead(gvk, "", "", a.Object.Name, true)
	case len(k.readRules(gvk)) == 0 && (clusterScoped || !k.CRD.Namespaced):
		return mayNotRead(gvk, "NAMESPACE", clusterScoped)
	case clusterScoped || a.AnyNamespace:
		return nil
	case a.Object.Namespace == "" && !k.CRD.Namespaced:
		return mayNotRead(gvk, "", false)
	case a.Object.Namespace != "" && a.Function == "lookup" && a.AnyName:
		if !slices.ContainsFunc(k.readRules(gvk), func(r ReadRule) bool { return slices.Contains(r.Namespaces, a.Object.Namespace) }) {
			return mayNotRead(gvk, a.Object.Namespace, false)
		}
	case a.Object.Namespace != "":
		return k.MayRead(gvk, "", a.Object.Namespace, a.Object.Name, false)
	}
	return nil
}

// Beside is a kind that a file makes in a document beside one of another kind;
// "" if it makes one kind only.
func (k *Kind) Beside(file string) string { return k.beside[file] }

// checkSettings checks kind.yaml against the rest of the folder.
func (k *Kind) checkSettings() error {
	return (&settingsCheck{
		Settings: &k.Settings, written: k.written, own: k.GVK.GroupKind(), namespaced: k.CRD.Namespaced, files: k.Files, kind: k,
	}).checkAll()
}
