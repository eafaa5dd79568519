package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// An Input is a kind, and what is known of the cluster that it is to run in.
type Input struct {
	CRD *schema.CRD
	// Kind is the compiled folder.
	Kind *kind.Kind
	// Plural is the name by which the API serves a kind that is not built in;
	// "" if it is not known.
	Plural func(apischema.GroupVersionKind) string
	// Install says that the operator applies the CRD itself (--install-crds).
	Install bool
	// Namespaces are those that the operator is limited to; none means all.
	Namespaces []string
	// Into is the ClusterRole that is to take up the operator's roles, so that
	// what is needed in the namespaces of resources is apart from what is needed in
	// the whole cluster; "" means that they are bound to it one by one.
	Into string
}

// Of makes the roles that serving a kind needs beside those of Base: of the
// operator, and of the service account that kind.yaml names. The error joins
// what cannot be told, with places.
func Of(in Input) ([]Role, error) {
	w := &work{Input: in, account: in.Kind.Settings.ServiceAccountName, writer: Operator}
	if w.account != "" {
		w.writer = Account
	}
	w.addResources()
	w.checkLimits()
	w.addChildren()
	w.addPatches()
	w.addRetired()
	w.addReads()
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}
	s := shape{
		name: cmp.Or(in.Into, "jacquard") + ":" + in.CRD.Name, account: w.account, namespaces: in.Namespaces, into: in.Into,
		about: fmt.Sprintf("What the operator needs to serve the kind %s (%s).", in.CRD.Kind, in.CRD.Name),
	}
	return s.makeRoles(w.needs), nil
}

// checkLimits refuses a kind that an operator which is limited to some namespaces cannot serve.
// Such an operator does not watch what the kind makes elsewhere.
func (w *work) checkLimits() {
	if len(w.Namespaces) == 0 {
		return
	}
	for i, c := range w.Kind.Settings.Children {
		w.checkNamespaces(fmt.Sprintf("children[%d]", i), c.Namespaces)
	}
	for i, r := range w.Kind.Settings.Retired {
		w.checkNamespaces(fmt.Sprintf("retired[%d]", i), r.Namespaces)
	}
}

// checkNamespaces records an error if a rule of kind.yaml reaches beyond the namespaces of the
// operator.
func (w *work) checkNamespaces(rule string, where kind.Namespaces) {
	if where.Rendered {
		w.errs = append(w.errs,
			fmt.Errorf("templates/%s/kind.yaml: %s: they are in namespaces that the resource makes, so no operator can serve the kind that is limited to some: leave out --namespaces", w.CRD.Name, rule))
	}
	for _, namespace := range where.Listed {
		if !slices.Contains(w.Namespaces, namespace) {
			w.errs = append(w.errs, fmt.Errorf("templates/%s/kind.yaml: %s: the operator must serve namespace %s too: add it to --namespaces",
				w.CRD.Name, rule, namespace))
		}
	}
}

// A work collects the needs of one kind.
type work struct {
	Input
	// account is the service account that writes; writer is Account if there is
	// one.
	account string
	writer  Holder
	needs   []need
	errs    []error
}

func (w *work) add(holder Holder, namespace string, r Rule) {
	r.Verbs = sortVerbs(slices.Clone(r.Verbs))
	w.needs = append(w.needs, need{r, holder, namespace})
}

// addResources adds the rules for the custom resources and their CRD.
func (w *work) addResources() {
	c := w.CRD
	where := ""
	if c.Namespaced {
		where = own
	}
	rule := func(sub, why string, verbs ...string) Rule {
		return Rule{Group: c.Group, Resource: c.Plural + sub, Verbs: verbs, Why: []string{why}}
	}
	w.add(Operator, where, rule("", "the custom resources are watched", "list", "watch"))
	if w.Kind.Version.Status {
		w.add(Operator, where, rule("/status", "their status is written", "patch"))
		if len(c.Versions) > 1 {
			w.add(Operator, where,
				rule("", "the CRD has several versions: what managedFields say of the status in an older one is put into the newer", "patch"))
		}
	}
	if len(w.Kind.Children) > 0 {
		w.add(Operator, where, rule("", "one is read again before a child of it that went is made anew", "get"))
	}
	if why := w.metadataReason(); why != "" {
		w.add(Operator, where, rule("", why, "patch"))
	}
	w.addCRDRule("which operator serves the kind, how far its rollout is and what was made for it is on record there", "patch")
	if slices.ContainsFunc(w.Kind.Settings.Rollout.Waves, func(wave kind.Wave) bool { return wave.NamespaceMatchLabels != nil }) {
		w.add(Operator, "", Rule{Resource: "namespaces", Verbs: []string{"list"},
			Why: []string{"kind.yaml has a wave by the labels of namespaces"}})
	}
	if w.Install {
		w.addCRDRule("--install-crds: the operator applies the CRD of crds/", "create", "patch")
	}
	if w.account != "" {
		w.add(Operator, own, Rule{Resource: "serviceaccounts", Names: []string{w.account}, Verbs: []string{"impersonate"},
			Why: []string{"kind.yaml: children are written, and reads made, as this account of the resource's namespace"}})
	}
}

// addCRDRule adds a rule about the kind's CRD.
func (w *work) addCRDRule(why string, verbs ...string) {
	w.add(Operator, "", Rule{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Names: []string{w.CRD.Name}, Verbs: verbs,
		Why: []string{why}})
}

// metadataReason returns why the metadata of resources is written, or "" if it never is.
func (w *work) metadataReason() string {
	k := w.Kind
	if order := k.Settings.DeletionOrder; len(order) > 0 {
		return "kind.yaml says deletionOrder: the finalizer " + api.Finalizer + " holds a resource until it is carried out"
	} else if order != nil {
		return "kind.yaml has an empty deletionOrder: the finalizer " + api.Finalizer + " of an earlier one is taken off"
	}
	for _, d := range k.Documents {
		switch {
		case d.Patch():
			return formatPlace(d.Start) + " patches: the finalizer " + api.Finalizer + " holds a resource until that is given back"
		case d.Marks[api.AnnotationRunOnce] != "":
			return formatPlace(d.Start) + " is made once: that it succeeded is on record on the resource"
		}
	}
	for _, c := range k.Children {
		where, _ := k.Placement(c.GroupVersionKind)
		if w.isOutOfReach(c.GroupVersionKind, where) && !w.keepsChildren(c.GroupVersionKind) {
			return formatPlace(c.Place) + " is out of the garbage collector's reach: the finalizer " + api.Finalizer +
				" holds a resource until it is deleted"
		}
	}
	for i, r := range k.Settings.Retired {
		if r.Patch() || w.isOutOfReach(r.GVK(), r.Namespaces) {
			return formatPlace(k.RetiredPlace(i)) + " retires what is out of the garbage collector's reach: the finalizer " + api.Finalizer +
				" holds a resource until it is gone"
		}
	}
	return ""
}

// isOutOfReach reports whether children of a kind may be where the garbage collector does not reach
// them from their resource.
func (w *work) isOutOfReach(gvk apischema.GroupVersionKind, where kind.Namespaces) bool {
	return w.CRD.Namespaced && (w.Kind.ClusterScoped(gvk) || where.Elsewhere())
}

// keepsChildren reports whether all children of a kind stay when they are no longer wanted, and are
// never recreated.
func (w *work) keepsChildren(gvk apischema.GroupVersionKind) bool {
	found := false
	for _, d := range w.Kind.Documents {
		if d.GroupVersionKind != gvk || d.Patch() {
			continue
		}
		found = true
		if !d.Certain[api.AnnotationOnDelete] || d.Marks[api.AnnotationOnDelete] != "keep" {
			return false
		}
		for _, again := range []string{api.AnnotationOnImmutable, api.AnnotationOnFailed, api.AnnotationRunOnce} {
			if d.Marks[again] != "" {
				return false
			}
		}
	}
	return found
}

// findPlural returns the name by which a kind is served. If nobody knows it, it records an error
// with what to do, and returns "".
func (w *work) findPlural(gvk apischema.GroupVersionKind, place template.Place) string {
	plural := BuiltInPlural(gvk)
	if plural == "" && w.Plural != nil {
		plural = w.Plural(gvk)
	}
	if plural == "" {
		w.errs = append(w.errs, &template.Error{Place: place, Err: fmt.Errorf(
			"it is not known by which name the API serves %s %s: put its CRD into schemas/", gvk.GroupVersion(), gvk.Kind)})
	}
	return plural
}

// formatPlace returns the file and line of a place.
func formatPlace(p template.Place) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
