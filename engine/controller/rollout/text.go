package rollout

import (
	"fmt"
	"strings"
)

// NamesAll reports whether the record names all that the rollout would delete.
func (r Record) NamesAll() bool { return r.DeletionCount <= len(r.DeletionNames) }

// Text describes the state of a kind's rollout in a sentence. The kind is the name of its CRD.
func (r Record) Text(kind string) string {
	switch {
	case r.State == Previewing:
		return "the changed folder is being tried"
	case r.State == Removed:
		return "the folder was removed: resources are only deleted"
	case r.State != Stopped && r.Message != "":
		return fmt.Sprintf("%s; %s", r.Counts(), r.Message)
	case r.State != Stopped:
		return r.Counts()
	case !r.Reason.MayApprove(): // the message says how to go on
		return fmt.Sprintf("%s (%s)", r.Message, r.Counts())
	}
	list := ""
	if !r.NamesAll() {
		list = "; to list all deletions: jacquard status --deletions " + kind
	}
	return fmt.Sprintf("%s (%s%s; to go on all the same: jacquard approve %s)", r.Why(), r.Counts(), list, kind)
}

// RollbackText describes a rollback that is in force, in a sentence. The kind is the name of its CRD.
func (r Record) RollbackText(kind string, back Rollback) string {
	text := fmt.Sprintf("revision %s serves in place of the folder; to serve the folder again: jacquard rollback %s --end", back.To, kind)
	if back.IsByOperator() {
		return fmt.Sprintf("the operator rolled back: %s; %s", r.Failed.Message, text)
	}
	return text
}

// Counts describes how far the rollout is.
func (r Record) Counts() string {
	return fmt.Sprintf("of %d resources that change %d are reached, %d of them ready, %d to go%s", r.Total, r.Moved, r.Ready,
		r.Total-r.Moved, r.PassedText())
}

// PassedText describes, after a semicolon, what the rollout has passed although it is not
// ready; "" for nothing.
func (r Record) PassedText() string {
	switch {
	case r.NotReady == 0:
		return ""
	case len(r.Passed) == 0:
		return fmt.Sprintf("; forced, %d not ready", r.NotReady)
	}
	return fmt.Sprintf("; forced, %d not ready, as %s", r.NotReady, r.Passed[0])
}

// Why describes why the rollout stopped, and what it would delete.
func (r Record) Why() string {
	text := r.Message
	if len(r.DeletionNames) > 0 {
		text += ": " + strings.Join(r.DeletionNames, ", ")
		if more := r.DeletionCount - len(r.DeletionNames); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}
