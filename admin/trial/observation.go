package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// An observation is a resource as it was at one time, and as its folder renders it then.
type observation struct {
	// isCurrent: the status is about the present generation.
	isCurrent      bool
	ready, stalled condition
	// failure is why the folder does not render the resource; "" if it does.
	failure string
	// differences are how the children differ from what the folder renders.
	differences []string
	waits       []render.Waiting
	// notReady are the rendered children that are not ready, and why.
	notReady []string
	notes    []string
	// version changes with the resource.
	version string
}

// A condition is one of a resource.
type condition struct {
	isTrue  bool
	message string
}

// A progress is how far a resource is from what a case wants.
type progress int

const (
	// changes: the operator or a controller is still to do something.
	changes progress = iota
	// failsAtRest: it is not as it is wanted, and nothing shows that this will change.
	failsAtRest
	// passesAtRest: it is as it is wanted unless something changes.
	passesAtRest
	// passed: it is as it is wanted.
	passed
)

// A wanted is what a step wants of the resource on a cluster.
type wanted struct {
	// fails: nothing is rendered, and each of the lines of errors is part of a message.
	fails  bool
	errors string
	// waits are the files that may wait.
	waits map[string]bool
}

// wantedOf returns what a step wants.
func wantedOf(one *catalog.Case) wanted {
	w := wanted{waits: map[string]bool{}}
	w.errors, w.fails = one.Wants[catalog.FileWantError]
	for line := range strings.Lines(one.Wants[catalog.FileWantWaiting]) {
		file, _, _ := strings.Cut(line, ".yaml waits: ")
		w.waits[file] = true
	}
	return w
}

// observeOnce observes the resource, and applies the status of children that are there.
func (t *Trial) observeOnce(ctx context.Context) (*observation, error) {
	if err := t.applyPending(ctx); err != nil {
		return nil, err
	}
	now, err := t.Writer.Read(ctx, t.resource.served, t.resource.GetNamespace(), t.resource.GetName())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.resource, err)
	}
	t.resource.Unstructured = now
	seen, _, _ := unstructured.NestedInt64(now.Object, "status", "observedGeneration")
	o := &observation{isCurrent: seen == now.GetGeneration(), version: now.GetResourceVersion(),
		ready: conditionOf(now, "Ready"), stalled: conditionOf(now, "Stalled")}
	if !o.isCurrent {
		return o, nil
	}
	r := t.Sight.Render(ctx, now)
	t.children = r.Children
	o.failure, o.waits, o.notReady = r.Error, r.Waits, r.NotReady
	o.notes = append(r.Troubles, r.Notes...)
	for i := range r.Changes {
		if text := describeDifference(&r.Changes[i]); text != "" {
			o.differences = append(o.differences, text)
		}
	}
	return o, nil
}

func conditionOf(u *unstructured.Unstructured, name string) condition {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if fields, _ := c.(map[string]any); fields["type"] == name {
			message, _ := fields["message"].(string)
			return condition{fields["status"] == "True", message}
		}
	}
	return condition{message: "the condition is absent"}
}

// describeDifference returns how an object differs from what is rendered, with its place; "" if it
// does not.
func describeDifference(c *diff.Change) string {
	var text string
	switch c.Verb {
	case diff.Created:
		text = "wanted, and not there"
	case diff.Changed:
		if c.Diff == "" {
			return ""
		}
		text = "not as it is rendered"
	case diff.Recreated, diff.Patched:
		text = "not as it is rendered"
	case diff.Pruned, diff.Released:
		text = "there, and not rendered"
	case diff.Refused, diff.Unknown:
		text = "the API server does not take it: " + c.Why
	default:
		return ""
	}
	text = c.Named() + ": " + text
	if c.Place != "" {
		text += " (" + c.Place + ")"
	}
	if c.Diff != "" {
		text += "\n" + c.Diff
	}
	return text
}

// judgeProgress compares what was observed with what is wanted.
func (o *observation) judgeProgress(want wanted) (progress, error) {
	if !o.isCurrent {
		return changes, errors.New("no operator has reconciled the resource yet")
	}
	if want.fails {
		return o.judgeFailure(want.errors)
	}
	unexpected, expected := o.sortWaits(want)
	switch {
	case o.stalled.isTrue:
		return failsAtRest, o.problemWith("Stalled is True: " + o.stalled.message)
	case o.failure != "" && o.ready.isTrue:
		return failsAtRest, o.problemWith(o.failure)
	case o.failure != "":
		return changes, o.problemWith(o.failure)
	case unexpected != "" && len(o.notReady) > 0: // it may wait for these
		return changes, o.problemWith(unexpected)
	case unexpected != "":
		return failsAtRest, o.problemWith(unexpected)
	case len(o.differences) > 0 && (o.ready.isTrue || expected):
		return failsAtRest, o.problemWith("")
	case o.ready.isTrue && expected:
		return failsAtRest, o.problemWith("Ready is True although files wait")
	case o.ready.isTrue:
		return passed, nil
	case expected && len(o.differences) == 0 && len(o.notReady) > 0:
		return passesAtRest, o.problemWith(strings.Join(o.notReady, "\n"))
	case expected && len(o.differences) == 0:
		return passed, nil
	}
	return changes, o.problemWith("Ready is False: " + o.ready.message)
}

// judgeFailure judges a resource that is to be Stalled. An error with a text that is only
// known in the cluster, such as the namespace, is as good as the wanted one.
func (o *observation) judgeFailure(wanted string) (progress, error) {
	switch {
	case o.stalled.isTrue && (holdsLines(o.stalled.message, wanted) || o.failure != "" && strings.Contains(o.stalled.message, o.failure)):
		return passed, nil
	case o.stalled.isTrue:
		return failsAtRest, o.problemWith(fmt.Sprintf("Stalled is True: %s\nwanted is: %s", o.stalled.message, strings.TrimSpace(wanted)))
	case o.ready.isTrue:
		return failsAtRest, o.problemWith("Ready is True, and wanted is an error: " + strings.TrimSpace(wanted))
	}
	return changes, o.problemWith("Ready is False: " + o.ready.message)
}

// sortWaits returns the waits of files that are not to wait, and whether others wait.
func (o *observation) sortWaits(want wanted) (unexpected string, expected bool) {
	var all []string
	for _, w := range o.waits {
		if want.waits[w.File] {
			expected = true
			continue
		}
		all = append(all, w.File+".yaml waits: "+w.Message)
	}
	return strings.Join(all, "\n"), expected
}

// problemWith returns what is wrong, with the differences and what to know besides.
func (o *observation) problemWith(text string) error {
	var all []string
	if text != "" {
		all = append(all, text)
	}
	all = append(all, o.differences...)
	return errors.New(strings.Join(append(all, o.notes...), "\n"))
}

// holdsLines reports whether each line of a text is part of a message.
func holdsLines(message, lines string) bool {
	for line := range strings.Lines(lines) {
		if !strings.Contains(message, strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}
