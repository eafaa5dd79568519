package explain

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/trace"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// An Input is what a Report is made of.
type Input struct {
	Kind     *kind.Kind
	Resource *unstructured.Unstructured
	Traced   *Traced
	// Live are the children of the resource and the objects that it patches, as
	// the cluster has them; nil without a cluster.
	Live []Observed
	// Unlisted says why objects of a kind could not be listed, or returns nil; it is nil
	// without a cluster.
	Unlisted func(schema.GroupVersionKind) error
}

// Of explains a traced render.
func Of(in Input) *Report {
	r := &Report{Kind: in.Kind.Name, Resource: in.Kind.GVK.Kind + " " + displayName(in.Resource)}
	r.Conditions = readConditions(in.Resource)
	live := newObjects(in)
	said := map[error]bool{}
	for _, name := range trace.FilesOf(in.Kind) {
		run := in.Traced.FindRun(name)
		if run == nil {
			continue
		}
		e := explainer{Input: in, name: name, run: run, live: live}
		r.Files = append(r.Files, e.explainFile())
		for _, err := range splitErrors(run.Err) {
			said[err] = true
		}
	}
	for _, err := range []error{in.Traced.Err, in.Traced.StatusErr} {
		for _, part := range splitErrors(err) {
			if !said[part] { // not of a file: two files make the same object
				r.Errors = append(r.Errors, part.Error())
			}
		}
	}
	r.Rest = live.listRest()
	return r
}

// splitErrors returns the errors that one joins.
func splitErrors(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := any(err).(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, splitErrors(e)...)
		}
		return all
	}
	return []error{err}
}

// An explainer explains one file.
type explainer struct {
	Input
	name string
	run  *trace.Run
	live *objects
}

// explainFile explains what became of the file.
func (e *explainer) explainFile() File {
	f := File{File: e.Kind.Templates.Tree(e.name).ParseName, Verdict: Rendered, Branches: nestSteps(e.run.Steps)}
	var wait *template.Wait
	switch err := e.run.Err; {
	case errors.As(err, &wait):
		f.Verdict = Waits
	case err != nil:
		f.Verdict = Failed
	case len(e.run.Documents) == 0:
		f.Verdict = Empty
	}
	if e.run.Err != nil {
		f.Message, f.Place = splitPlace(e.run.Err)
		f.Within = listTurns(e.run.Stopped)
	}
	if e.name == "status" {
		return f
	}
	made := map[int]bool{} // by line
	for i, d := range e.run.Documents {
		f.Documents = append(f.Documents, e.explainDocument(i, d))
		for _, key := range []string{"apiVersion", "kind"} {
			made[d.Place(key).Line] = true
		}
	}
	for _, d := range e.Kind.Documents {
		if d.File == e.name && !made[d.Place.Line] {
			f.LeftOut = append(f.LeftOut, LeftOut{Kind: d.Kind, Place: placeOf(d.Start), By: e.findExclusion(d.Place.Line)})
		}
	}
	return f
}

// explainDocument explains the i-th document. The child that was rendered of it adds what the
// document itself does not hold. There is none if something is wrong with the resource as a whole.
func (e *explainer) explainDocument(i int, d *template.Document) Document {
	u := &unstructured.Unstructured{Object: d.Object}
	out := Document{Object: u.GetKind() + " " + displayName(u), Place: placeOf(d.Place()), Because: listTurns(trace.ArmsOf(d))}
	if e.Traced.Result == nil {
		return out
	}
	for _, c := range e.Traced.Result.Children {
		if c.Doc != d {
			continue
		}
		out.Object = c.Object.GetKind() + " " + displayName(c.Object)
		if c.Policy.Patch {
			out.Patch = "the object"
			if c.Policy.Subresource != "" {
				out.Patch = c.Policy.Subresource
			}
		}
		if out.Live = e.live.matchChild(c); out.Live == nil && !c.Policy.Patch && e.Unlisted != nil {
			if err := e.Unlisted(c.Object.GroupVersionKind()); err != nil {
				out.Unknown = err.Error()
			}
		}
	}
	return out
}

// findExclusion returns the branch by which a line of the file was left out, or nil if the
// execution did not come to one.
func (e *explainer) findExclusion(line int) *Turn {
	for _, turn := range trace.TurnsOf(e.Kind.Templates, e.name, line) {
		for _, s := range e.run.Steps {
			if s.Branch.Place != turn.Branch.Place || turn.Taken && s.Took > 0 || !turn.Taken && s.Left > 0 {
				continue
			}
			t := turnOf(s.Branch, !turn.Taken)
			if len(s.Came) == 1 {
				t.Came = s.Came[0]
			}
			return &t
		}
	}
	return nil
}

func turnOf(b *trace.Branch, taken bool) Turn {
	return Turn{Place: placeOf(b.Place), Text: b.Text, Outcome: b.Outcome(taken)}
}

// listTurns returns the ways that were taken at the branches around something.
func listTurns(arms []trace.Arm) []Turn {
	var all []Turn
	for _, a := range arms {
		t := turnOf(a.Step.Branch, a.Taken)
		t.Came = a.Came
		if a.Item > 0 {
			t.Outcome = fmt.Sprintf("item %d of %d", a.Item, a.Items)
		}
		all = append(all, t)
	}
	return all
}

// nestSteps returns the steps of a run as branches, each within the one that it lies in.
func nestSteps(steps []*trace.Step) []*Branch {
	var top []*Branch
	at := map[*trace.Step]*Branch{}
	for _, s := range steps {
		b := &Branch{Place: placeOf(s.Branch.Place), Text: s.Branch.Text, Outcome: describeOutcome(s), Took: s.Took, Left: s.Left, Came: s.Came}
		for _, c := range s.Calls {
			b.Calls = append(b.Calls, placeOf(c))
		}
		at[s] = b
		switch above := at[s.In]; {
		case above == nil:
			top = append(top, b)
		case s.InTaken:
			above.Taken = append(above.Taken, b)
		default:
			above.NotTaken = append(above.NotTaken, b)
		}
	}
	return top
}

// describeOutcome returns in words which way a step went, and how often.
func describeOutcome(s *trace.Step) string {
	switch {
	case s.Took > 0 && s.Left > 0:
		return fmt.Sprintf("%s %d of %d times", s.Branch.Outcome(true), s.Took, s.Took+s.Left)
	default:
		return s.Branch.Outcome(s.Took > 0)
	}
}

// displayName returns how people call an object: default/web.
func displayName(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetName()
	}
	return u.GetNamespace() + "/" + u.GetName()
}
