package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Resource is what would become of one custom resource.
type Resource struct {
	// Kind is the name of its CRD, and Called how people call it: Page
	// default/hello.
	Kind      string `json:"kind"`
	Called    string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Self is what a file makes of the resource itself; nil if it is looked at as
	// it lives.
	Self *Change `json:"resourceChange,omitempty"`
	// Changes are in the order of the plan.
	Changes []Change `json:"changes,omitempty"`
	Counts  Counts   `json:"counts,omitempty"`
	// Error says why there is no plan.
	Error string `json:"error,omitempty"`
	// Waiting are the files that wait, and what for: their children stay.
	Waiting []string `json:"waiting,omitempty"`
	// Unready are the children by which a resource that is ready becomes not ready, as they
	// are now, and why: the folder, or this program, has other health entries.
	Unready []string `json:"unready,omitempty"`
	// Troubles say what could not be found out; Notes what to know besides.
	Troubles []string `json:"errors,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// New is a resource of which nothing is known yet; kind is the name of its CRD.
func New(kind string, o *unstructured.Unstructured) *Resource {
	c := newChange(o.GroupVersionKind(), o, Kept)
	return &Resource{Kind: kind, Called: c.Named(), Namespace: c.Namespace, Name: c.Name}
}

// Outcome is what the diff of the resource comes to.
func (r *Resource) Outcome() Outcome {
	if r.Error != "" || len(r.Troubles) > 0 {
		return Wrong
	}
	out := outcomeOf(r.Changes)
	if len(r.Unready) > 0 {
		out = max(out, Changes)
	}
	if r.Self != nil {
		out = max(out, outcomeOf([]Change{*r.Self}))
	}
	return out
}

// Of tells what the operator would do for a resource.
func (s Sight) Of(ctx context.Context, resource *unstructured.Unstructured) *Resource {
	view := s.View(ctx, s.Kind, s.Folder, resource)
	out := diffResource(ctx, view, view.Reconciler(), resource)
	out.Troubles = view.Troubles()
	out.Notes = append(out.Notes, view.Notes()...)
	return out
}

// diffResource makes a dry run for a resource and describes it.
func diffResource(ctx context.Context, view *liveview.View, r *reconcile.Reconciler, resource *unstructured.Unstructured) *Resource {
	d := differ{view, r.DryRun(ctx, view.Version(), resource), resource.GetDeletionTimestamp() != nil}
	return d.describeResource(resource)
}

// describeResource returns what the dry run of a resource came to.
func (d differ) describeResource(resource *unstructured.Unstructured) *Resource {
	out := New(d.view.Version().Name, resource)
	out.Changes, out.Notes = d.listChanges(), d.listNotes()
	out.Counts = countVerbs(out.Changes)
	if out.Error = d.explainNoPlan(); out.Error == "" {
		out.Waiting, out.Unready = d.listWaiting(), d.listUnready()
	}
	return out
}

// firstProblem returns the message of the first problem.
func firstProblem(problems []status.Problem) string {
	if len(problems) == 0 {
		return "it cannot be rendered"
	}
	return problems[0].Message
}

// A differ turns a dry run into changes.
type differ struct {
	view *liveview.View
	*reconcile.DryRun
	leaving bool
}

// explainNoPlan returns why there is no plan, or "" if there is one.
func (d differ) explainNoPlan() string {
	switch {
	case d.Plan == nil:
		return firstProblem(d.Problems)
	case d.Plan.Empty:
		return firstProblem(slices.DeleteFunc(slices.Clone(d.Problems), func(p status.Problem) bool {
			return p.Reason != api.ReasonEmptyRender
		}))
	}
	return ""
}

// listWaiting returns the files that wait, and what for.
func (d differ) listWaiting() (all []string) {
	for _, w := range d.Rendered.Waiting {
		all = append(all, w.File+".yaml: "+w.Message)
	}
	return all
}

// listUnready returns the children by which the resource becomes not ready, and why.
func (d differ) listUnready() (all []string) {
	for i := range d.Unready {
		c := &d.Unready[i]
		all = append(all, fmt.Sprintf("%s %s: %s", c.Kind, strings.TrimPrefix(c.Namespace+"/"+c.Name, "/"), c.Message))
	}
	return all
}

// listNotes returns what to know besides the changes.
func (d differ) listNotes() []string {
	var all []string
	if d.leaving {
		all = append(all, "it is being deleted: what the garbage collector deletes with it is not listed")
	}
	if d.Paused {
		all = append(all, "it is paused: all this is done only once it goes on")
	}
	if d.Finalizer {
		all = append(all, "it gets the finalizer "+api.Finalizer+", since something of it is out of the garbage collector's reach")
	}
	for _, text := range slices.Sorted(slices.Values(d.Drawn)) {
		all = append(all, text+" is going to be drawn: what depends on it, such as a checksum, is shown for a stand-in")
	}
	return all
}

// listChanges returns the changes of the steps, then those of what is pruned, released and held.
func (d differ) listChanges() []Change {
	var all []Change
	if d.Plan != nil {
		for i := range d.Plan.Steps {
			all = append(all, d.describeChild(&d.Plan.Steps[i]))
		}
	}
	return append(all, d.listEnds()...)
}

// describeChild returns what becomes of a rendered child.
func (d differ) describeChild(s *plan.Step) Change {
	c := newChange(s.Document.GroupVersionKind(), s.Document, Kept)
	c.Subresource, c.Place, c.Why = s.Child.Policy.Subresource, placeOf(s.Child), s.Why
	d.completeChange(s, &c)
	return c
}

// listEnds returns what becomes of objects that are not rendered any more.
func (d differ) listEnds() []Change {
	p := d.Plan
	if p == nil { // what cannot be rendered may have something to prune all the same
		p = &plan.Plan{}
	}
	var ends []Change
	for i := range d.Tried {
		if r := &d.Tried[i]; r.Step == nil {
			ends = append(ends, d.describeEnd(r))
		}
	}
	for _, r := range p.Retained {
		if r.Why == plan.HoldsData {
			c := newChange(r.Live.GVK, r.Live.Meta, Blocked)
			c.Why = r.Describe()
			ends = append(ends, c)
		}
	}
	slices.SortFunc(ends, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Named(), b.Named()))
	})
	return ends
}

// placeOf returns where the template of a child stands, or "" if it has no document.
func placeOf(c render.Child) string {
	if c.Doc == nil {
		return ""
	}
	return c.Doc.Place().String()
}

// completeChange adds the verb, the reason and the differences to the change of a rendered child.
func (d differ) completeChange(s *plan.Step, c *Change) {
	switch s.Action {
	case plan.Keep, plan.Done:
		return
	case plan.Block:
		c.Verb = Blocked
		return
	case plan.Refuse:
		c.Verb, c.Why = Refused, "it is there already and is left alone: "+s.Why
		return
	}
	i := slices.IndexFunc(d.Tried, func(a reconcile.Tried) bool { return a.Step == s && !a.Skipped })
	if i < 0 { // it is not tried now; the status says why
		c.Verb = Blocked
		return
	}
	d.describeStep(&d.Tried[i], c)
}

// describeStep describes what the server makes of a step.
func (d differ) describeStep(a *reconcile.Tried, c *Change) {
	p := a.Problem
	var before, after map[string]any
	switch {
	case p != nil && p.Reason != api.ReasonRecreating:
		if c.Verb, c.Why = Refused, p.Message; p.Severity == status.Waiting {
			c.Verb = Blocked
		} else if p.Reason != api.ReasonOwnedByOthers {
			c.Verb = verbOf(a.Err)
		}
		if a.Preview == nil {
			return
		}
		before = d.liveBody(a) // an immutable field: what would be, were it recreated
		after = likeOf(bodyOf(a.Preview), before)
	case p != nil:
		c.Verb, c.Why = Recreated, p.Message
		before = d.liveBody(a)
		after = likeOf(bodyOf(a.Preview), before)
	case a.Step.Action == plan.Patch:
		c.Verb, before, after = Patched, d.liveBody(a), bodyOf(a.Answer)
	case a.Over != nil:
		c.Verb, before, after = Changed, d.liveBody(a), bodyOf(cmp.Or(a.Answer, a.Preview))
		c.Why = cmp.Or(c.Why, "it is there already and is taken over")
	default:
		c.Verb, after = Created, a.Step.Document.Object
	}
	d.addDiff(c, before, after)
	switch {
	case c.Verb != Changed || c.Diff != "":
	case a.Step.Live != nil && isSameContent(a):
		c.Verb, c.Why = Kept, ""
	default:
		c.Why += "; " + describeUnchanged(a)
	}
}

// isSameContent reports whether applying a child again would leave it as it is: the hash
// too.
func isSameContent(a *reconcile.Tried) bool {
	return a.Step.Live.Meta.GetAnnotations()[api.AnnotationDesired] == a.Step.Hash
}

// addDiff adds the differences of two states to a change.
func (d differ) addDiff(c *Change, before, after map[string]any) {
	text, err := diffStates(before, after, c.Subresource != "")
	if err != nil {
		c.Why = cmp.Or(c.Why, err.Error())
	}
	c.Diff = text
}

// liveBody returns the object that a step is about, as it is.
func (d differ) liveBody(a *reconcile.Tried) map[string]any {
	if l := a.Step.Live; l != nil && l.Body != nil {
		return l.Body
	}
	o := a.Step.Document
	l, err := d.view.Whole(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
	if err != nil || l == nil {
		return nil
	}
	return l.Body
}

// describeEnd describes what becomes of what is not rendered any more.
func (d differ) describeEnd(r *reconcile.Tried) Change {
	l, verb := r.Object, Pruned
	if r.Release != nil {
		l, verb = &r.Release.Live, Released
	}
	c := newChange(l.GVK, l.Meta, verb)
	if c.Why = "it is not rendered any more"; d.leaving {
		c.Why = "its resource is being deleted"
	}
	isChild := func(o live.Object) bool { return o.Meta.GetUID() == l.Meta.GetUID() }
	if d.Plan != nil && slices.ContainsFunc(d.Plan.RetainedFor(plan.StillUsed), isChild) {
		c.Why = "its file renders another " + l.GVK.Kind + " in its place; it is deleted once the resource is ready"
	}
	if r.Release != nil {
		c.Subresource = r.Release.Subresource
	}
	switch {
	case r.Err != nil:
		c.Verb, c.Why = verbOf(r.Err), r.Err.Error()
	case r.Answer != nil:
		d.addDiff(&c, l.Body, r.Answer.Object)
	}
	return c
}

// untried is how the server says that a webhook keeps it from trying a write.
const untried = "does not support dry run"

// verbOf tells what the caller may not find out from what is refused.
func verbOf(err error) Verb {
	refusal := refusals.Classify(err)
	if strings.Contains(refusal.Text, untried) {
		return Unknown
	}
	if refusal.Rule != "" || refusal.Cause == refusals.TryAgain {
		return Unknown
	}
	return Refused
}
