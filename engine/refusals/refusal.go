package refusals

import (
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A Cause is what the server meant by refusing a write: it decides what
// happens next.
type Cause int

const (
	// TryAgain: the server is busy, down or unreachable.
	TryAgain Cause = iota
	// Exists: there is an object of this name (create-only).
	Exists
	// Gone: the object is not there or is another one by now (update-only).
	Gone
	// Invalid: the content is refused and will be again, until it changes.
	Invalid
	// Forbidden: the writer lacks a right; others may grant it.
	Forbidden
	// Quota: a ResourceQuota denies it, whoever writes; as with all up to Admission,
	// others may change that.
	Quota
	// PodSecurity: the level that the namespace enforces denies it.
	PodSecurity
	// Policy: a ValidatingAdmissionPolicy denies it.
	Policy
	// Webhook: an admission webhook denies it.
	Webhook
	// Admission: any other admission plugin denies it, such as LimitRanger.
	Admission
	// NotServed: the cluster does not have this kind.
	NotServed
	// NoNamespace: the namespace does not exist.
	NoNamespace
	// Terminating: the namespace is being deleted.
	Terminating
	// Conflict: other managers hold fields of a patch, which is not forced.
	Conflict

	// Waits: nothing was sent, or not all, since something else has to happen first. This and
	// all that follow are no answers of the API server.
	Waits
	// OwnedByOthers: an object of this name exists that may not be adopted.
	OwnedByOthers
	// WrongScope: the kind is namespaced where the child has no namespace, or the reverse.
	WrongScope
)

// IsAnswer reports whether the API server refused a request.
func (c Cause) IsAnswer() bool { return c < Waits }

// IsDenied reports whether admission denies the write: no right is missing.
func (c Cause) IsDenied() bool { return c >= Quota && c <= Admission }

// A Refusal is a refused write: what was meant, and which fields.
type Refusal struct {
	Cause Cause
	// Kind is the row of the table of kinds that the answer is of.
	Kind   Kind
	Fields []Field
	// RetryAfter is what the server asked for, or 0.
	RetryAfter time.Duration
	// Text says why, without values of the document.
	Text string
	// Remedy says what to do about it, or is "".
	Remedy string
	// Rule is the rule that would allow it, if RBAC refused; else "".
	Rule string
	Err  error
}

// A Field is a refused field: names as string, list indices as int.
type Field struct {
	Path []any
	Text string
	// Holders are the other managers that hold the field, or what is in its way.
	Holders []string
	// IsDuplicate: its value is already taken, by another entry of a list.
	IsDuplicate bool
}

// Error returns the reason, the fields and the remedy, without values.
func (r *Refusal) Error() string {
	return r.Describe(func(Field) string { return "" })
}

// Describe is Error with more about each field, such as where it is written.
func (r *Refusal) Describe(more func(Field) string) string {
	var texts []string
	for _, f := range r.Fields {
		texts = append(texts, f.String()+more(f))
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) == 0 {
		texts = []string{r.Text + more(Field{})}
	}
	if r.Remedy != "" {
		texts = append(texts, r.Remedy)
	}
	return strings.Join(texts, "; ")
}

// Name is the path as people write it; "" for the whole document.
func (f Field) Name() string { return shownPath(f.Path) }

// String is the path, what is wrong with it, and who holds it.
func (f Field) String() string {
	text := f.Text
	if len(f.Path) > 0 {
		text = f.Name() + ": " + text
	}
	if len(f.Holders) > 0 {
		text += ", held by " + strings.Join(f.Holders, ", ")
	}
	return text
}

// Unwrap returns the server's answer.
func (r *Refusal) Unwrap() error { return r.Err }

// Classify returns the Refusal that an error contains, or finds out what the server meant by the
// error of another client.
func Classify(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return ClassifyWrite(err, nil)
}

// ClassifyWrite finds out what the server meant by an error, after a document was sent. The lists
// of the document are searched for indices, and its values are in no text.
func ClassifyWrite(err error, document map[string]any) *Refusal {
	r := &Refusal{Err: err, Text: "the API server cannot be reached"}
	var answer apierrors.APIStatus
	var timeout *transport.TimeoutError
	switch {
	case errors.Is(err, transport.ErrNotSent):
		r.Text = "the request was not sent: " + transport.ErrNotSent.Error()
	case errors.As(err, &timeout):
		r.Text = timeout.Error()
	}
	if !errors.As(err, &answer) {
		return r
	}
	s := answer.Status()
	s.Message, _ = live.Unreadable(s.Message)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		r.RetryAfter = time.Duration(seconds) * time.Second
	}
	k, match := kindOf(s)
	r.Kind, r.Cause = k.kind, k.cause
	e := k.explainAnswer(refused{s, document, match})
	r.Text, r.Fields, r.Remedy = e.text, e.fields, e.remedy
	if r.Rule = missingRule(s.Message, document); r.Rule != "" {
		r.Text += "; the missing rule, in " + r.Rule
	}
	return r
}
