package status

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Child is what the status tells of one owned object.
type Child struct {
	APIVersion, Kind, Namespace, Name string
	Ready                             bool
	// Failed means that the child will not become ready by waiting.
	Failed bool
	// Message says why the child is not ready. Of a ready one it says why its health is
	// not known, or what it waits for.
	Message string
}

// Input is all that a status is made from.
type Input struct {
	// Generation is the resource's metadata.generation.
	Generation int64
	// Live is the resource's present .status, or nil. While Own is nil, its
	// fields that are not the engine's are kept, so it should then hold only
	// what our own entry in managedFields covers.
	Live map[string]any
	// Children are all owned objects, in any order.
	Children []Child
	// Own is what status.yaml rendered to; nil if it could not be rendered.
	Own map[string]any
	// Problems are why the resource is not as it should be, in any order.
	Problems []Problem
	// Kept says of children that nobody wants why they stay, in any order; with
	// any there is the condition ChildrenKept. KeptFailed: a file for which they do
	// could not be rendered.
	Kept       []string
	KeptFailed bool
	// Refused says why a newer version of the folder cannot serve the resource,
	// which it then has the condition RolloutPending for; "" if none is refused.
	Refused string
	// Ignored says of the resource's annotations which do nothing, in any order;
	// with any there is the condition AnnotationsIgnored.
	Ignored []string
	// Paused adds the condition Paused. Ready is not True then unless Live says
	// that this generation was applied before the pause.
	Paused bool
	// OtherVersions are the API versions, other than the one that serves it, by which
	// children refer to the resource.
	OtherVersions []string
	// Now is the transition time of conditions that change.
	Now metav1.Time
}

// Output is a status and what it comes to.
type Output struct {
	// Status is what to apply; it holds nothing of other managers.
	Status map[string]any
	// Changed says which conditions change their status or reason, for events;
	// it is sorted by type with Ready first, and empty if none does.
	Changed []string
	// Ordinary: what changes is no news, since it is the way of every resource to
	// Ready, without trouble before or now.
	Ordinary bool
	// Problems are all that there are, failed children among them: worst first,
	// and of these the newest.
	Problems []Problem
	// Ready, Reason and Message are those of the condition Ready.
	Ready           bool
	Reason, Message string
}

// maxChildren is how many children a status lists.
const maxChildren = 100

// engineFields are the fields of a status that status.yaml cannot set.
var engineFields = []string{"children", "childrenReady", "childrenTotal", "observedGeneration"}

// Make makes a status. The error says what a status.yaml must not hold: then
// call it again with Own nil and a Problem that says so.
func Make(in Input) (Output, error) {
	fields, own, reason, err := ownPart(in)
	if err != nil {
		return Output{}, err
	}
	problems := sorted(withFailedChildren(in.Problems, in.Children))
	ready := readyState(problems, in, reason)
	cs := append([]map[string]any{ready.condition("Ready")}, passing(problems, in, ready)...)
	cs = append(cs, own...)
	finish(cs, in)

	out := Output{
		Status: maps.Clone(fields), Changed: changes(cs, in.Live), Ordinary: ordinary(cs, in.Live), Problems: problems,
		Ready: ready.status == "True", Reason: ready.reason, Message: ready.message,
	}
	out.Status["observedGeneration"] = in.Generation
	out.Status["conditions"] = asList(cs)
	count(out.Status, in.Children)
	return out, nil
}

// count puts the children and their numbers into a status.
func count(status map[string]any, children []Child) {
	ready := int64(0)
	for _, c := range children {
		if c.Ready {
			ready++
		}
	}
	status["childrenReady"] = ready
	status["childrenTotal"] = int64(len(children))
	if len(children) > 0 {
		status["children"] = childList(children)
	}
}

func asList(all []map[string]any) []any {
	l := make([]any, len(all))
	for i, m := range all {
		l[i] = m
	}
	return l
}
