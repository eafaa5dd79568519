package lint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkSamples renders the example and the golden cases, and checks the outcomes.
func (l *linter) checkSamples(ctx context.Context) {
	seen := newSightings(l.findings)
	example, err := l.catalog.Example(l.name)
	l.findings = append(l.findings, findingsOf(Example, err)...)
	if err == nil && example != nil {
		l.checkExample(ctx, example, seen)
	}
	cases, err := l.catalog.Cases(l.name)
	l.findings = append(l.findings, findingsOf(Golden, err)...)
	for _, one := range cases {
		l.checkGolden(ctx, one, seen)
	}
	l.findings = append(l.findings, seen.toFindings()...)
}

// checkExample renders the resources of a file.
func (l *linter) checkExample(ctx context.Context, file *catalog.File, seen *sightings) {
	resources, others, err := l.catalog.Resources(file.Objects)
	if err != nil {
		l.findings = append(l.findings, findingsOf(Example, err)...)
		return
	}
	cluster, err := l.catalog.Cluster(nil, others)
	if err != nil {
		l.findings = append(l.findings, findingsOf(Example, err)...)
		return
	}
	found := 0
	for _, r := range resources {
		if r.Kind.Name != l.name {
			continue
		}
		found++
		out, err := catalog.Render(ctx, r, cluster)
		l.findings = append(l.findings, findingsOf(Example, err)...)
		l.checkOutcome(out, Example, false, seen)
	}
	if found == 0 {
		l.add(Example, template.Place{File: file.Name, Line: 1, Column: 1},
			fmt.Sprintf("there is no %s in this file: write one", l.kind.GVK.Kind))
	}
}

// checkGolden runs a golden case as jacquard test does. It does not compare the output with the
// expected one.
func (l *linter) checkGolden(ctx context.Context, one *catalog.Case, seen *sightings) {
	if _, wanted := one.Wants[catalog.FileWantStatus]; wanted && !l.kind.HasStatus {
		l.add(Golden, template.Place{File: one.Path(catalog.FileWantStatus), Line: 1, Column: 1},
			"the folder has no status.yaml: remove this file")
	}
	out, err := l.catalog.Run(ctx, one)
	if err != nil {
		l.findings = append(l.findings, findingsOf(Golden, err)...)
		return
	}
	_, fails := one.Wants[catalog.FileWantError]
	if len(one.Wants) > 0 {
		l.checkOutcome(out, Golden, fails, seen)
		return
	}
	if out.Err == nil || out.Resource != nil {
		cr := template.Place{File: one.Path("resource.yaml"), Line: 1, Column: 1}
		l.add(Golden, cr, "this case wants nothing: run jacquard test --update, and read what it writes")
		l.checkOutcome(out, Golden, false, seen)
		return
	}
	refused := findingsOf(Golden, out.Err)
	refused[0].Text += " (if the case is there to show this, run jacquard test --update)"
	l.findings = append(l.findings, refused...)
}

// checkOutcome checks the outcome of a sample. fails means that the sample is meant to be refused.
func (l *linter) checkOutcome(out *catalog.Outcome, class typecheck.Class, fails bool, seen *sightings) {
	if out == nil {
		return
	}
	if out.Resource == nil {
		if !fails {
			l.findings = append(l.findings, findingsOf(class, out.Err)...)
		}
		return
	}
	from := out.Resource.Source.Place("")
	if !fails {
		for _, f := range findingsOf(class, renderError(out)) {
			seen.recordFailure(f, from)
		}
	}
	result := out.Traced.Result
	if result == nil {
		return
	}
	for _, child := range result.Children {
		if child.Policy.Subresource == "scale" {
			continue // the subresource is of another type than the object
		}
		for _, w := range l.violationsOf(child) {
			seen.recordChild(InvalidChild, w.placeIn(child.Doc), strings.TrimSpace(w.text), from)
		}
	}
	together := &family{children: result.Children, resource: out.Resource.Object, whole: len(result.Waiting) == 0}
	for _, w := range together.findDisputes() {
		seen.recordChild(w.class, w.placeIn(w.child.Doc), w.text, from)
	}
}

// renderError returns why a sample does not render. A status that waits is no reason: the last one
// stays.
func renderError(out *catalog.Outcome) error {
	var wait *template.Wait
	if errors.As(out.Traced.StatusErr, &wait) {
		return out.Traced.Err
	}
	return out.Err
}
