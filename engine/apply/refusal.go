package apply

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// Forbidden: RBAC, quota or admission refuse; others may change that.
	Forbidden
	// NotServed: the cluster does not have this kind.
	NotServed
	// Terminating: the namespace is being deleted.
	Terminating
	// Conflict: other managers hold fields of a patch, which is not forced.
	Conflict
)

// A Refusal is a refused write: what was meant, and which fields.
type Refusal struct {
	Cause  Cause
	Fields []Field
	// RetryAfter is what the server asked for, or 0.
	RetryAfter time.Duration
	// Text says why, without values of the document.
	Text string
	// Denied: a webhook or an admission policy refuses.
	Denied bool
	// Rule is the rule that would allow it, if RBAC refused; else "".
	Rule string
	Err  error
}

// A Field is a refused field: names as string, list indices as int.
type Field struct {
	Path []any
	Text string
}

// Error returns the reason and the fields, without values.
func (r *Refusal) Error() string {
	if len(r.Fields) == 0 {
		return r.Text
	}
	texts := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		texts[i] = f.Text
		if len(f.Path) > 0 {
			texts[i] = shownPath(f.Path) + ": " + f.Text
		}
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "; ")
}

// Unwrap returns the server's answer.
func (r *Refusal) Unwrap() error { return r.Err }

// Classify returns the Refusal that a Writer returned, or tells what the server
// meant by an error of another client.
func Classify(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return classify(err, nil)
}

// classify tells what the server meant by an error. document is what was sent;
// its lists are looked into to find indices, and its values are not told.
func classify(err error, document map[string]any) *Refusal {
	r := &Refusal{Err: err, Text: "the API server cannot be reached"}
	var answer apierrors.APIStatus
	var timeout *transport.TimeoutError
	switch {
	case NotSent(err):
		r.Text = "the request was not sent: " + errNotSent.Error()
	case errors.As(err, &timeout):
		r.Text = timeout.Error()
	}
	if !errors.As(err, &answer) {
		return r
	}
	s := answer.Status()
	r.Text = strings.Trim(masked(ungranted(s.Message)), " :\n") // old servers give no reason after the colon
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		r.RetryAfter = time.Duration(seconds) * time.Second
	}
	if r.Rule = missingRule(s.Message, document); r.Rule != "" {
		r.Text += "; the missing rule, in " + r.Rule
	}
	r.Cause, r.Denied = cause(s), denied.MatchString(s.Message)
	r.Fields = fields(s, document)
	for _, secret := range secrets(document) {
		r.Text = without(r.Text, secret)
		for i := range r.Fields {
			r.Fields[i].Text = without(r.Fields[i].Text, secret)
		}
	}
	for i := range r.Fields {
		r.Fields[i].Text = without(r.Fields[i].Text, valueAt(document, r.Fields[i].Path))
	}
	return r
}

// secrets are the values of a Secret, as they are sent and as they are meant.
func secrets(document map[string]any) []string {
	if document["kind"] != "Secret" {
		return nil
	}
	var all []string
	data, _ := document["data"].(map[string]any)
	for _, v := range data {
		text, _ := v.(string)
		if meant, err := base64.StdEncoding.DecodeString(text); err == nil {
			all = append(all, string(meant))
		}
		all = append(all, text)
	}
	// The longest first: one may be part of another.
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// cause is what a refusal means. What none of the cases knows, all other errors of the
// server (5xx) and 429 among them, is to be tried again.
func cause(s metav1.Status) Cause {
	switch {
	case apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: s}, "NamespaceTerminating"):
		return Terminating
	case apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: s}, metav1.CauseTypeFieldManagerConflict):
		return Conflict
	case s.Code == http.StatusConflict:
		return Exists
	case denied.MatchString(s.Message):
		return Forbidden
	case s.Code == http.StatusUnprocessableEntity && about(s, "metadata.uid"),
		s.Code == http.StatusUnprocessableEntity && strings.Contains(s.Message, "UID in precondition"):
		return Gone
	case s.Code == http.StatusInternalServerError && aboutContent.MatchString(s.Message):
		return Invalid
	case s.Code == http.StatusUnprocessableEntity, s.Code == http.StatusBadRequest,
		s.Code == http.StatusRequestEntityTooLarge, s.Code == http.StatusUnsupportedMediaType:
		return Invalid
	case unmapped.MatchString(s.Message): // the API server finds out by itself
		return TryAgain
	case s.Code == http.StatusForbidden, s.Code == http.StatusUnauthorized:
		return Forbidden
	case s.Code == http.StatusMethodNotAllowed: // its CRD is being deleted
		return NotServed
	case s.Code == http.StatusNotFound && (s.Details == nil || s.Details.Name == ""):
		return NotServed
	case s.Code == http.StatusNotFound:
		return Gone
	}
	return TryAgain
}

// typedPatch begins the 500 by which the server answers an apply with an
// unknown or mistyped field or a duplicate list key; trying again is of no use.
const typedPatch = "failed to create typed patch object"

// aboutContent is in each 500 that is about the content: that, a value that does
// not fit its type, such as bad base64, and an object that is more than etcd
// takes.
var aboutContent = regexp.MustCompile(typedPatch +
	`|failed to convert new object|etcdserver: request is too large|trying to send message larger than max`)

// about reports whether an Invalid answer is about this field.
func about(s metav1.Status, field string) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == field })
}

// denied is how admission policies and webhooks refuse, with a code of their
// own choice, often that of invalid content.
var denied = regexp.MustCompile(`(ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request|admission webhook "[^"]*" denied the request)`)

var (
	invalidValue = regexp.MustCompile(`(?s)^(Invalid value|Unsupported value|Duplicate value|Too long|Forbidden|Required value)(?::\s*(.*))?$`)
	quotedText   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	typedField   = regexp.MustCompile(`(?s)` + typedPatch + ` \(.*?\): (?:errors:\s*)?(.*)$`)
	fieldLine    = regexp.MustCompile(`^\s*(\.[^:]+): (.*)$`)
	strictField  = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)
)

// fields finds the refused fields in the causes of an Invalid answer, in the
// text of a typed patch error, or in that of strict decoding.
func fields(s metav1.Status, document map[string]any) []Field {
	var out []Field
	if s.Details != nil && (s.Code == http.StatusUnprocessableEntity || s.Code == http.StatusConflict) {
		for _, c := range s.Details.Causes {
			out = append(out, Field{parsePath(c.Field, document), detail(c.Message)})
		}
	}
	if m := typedField.FindStringSubmatch(s.Message); m != nil {
		for _, line := range strings.Split(m[1], "\n") {
			if f := fieldLine.FindStringSubmatch(line); f != nil {
				out = append(out, Field{parsePath(strings.TrimPrefix(f[1], "."), document), masked(f[2])})
			}
		}
	}
	for _, m := range strictField.FindAllStringSubmatch(s.Message, -1) {
		out = append(out, Field{parsePath(m[2], document), m[1] + " field"})
	}
	return out
}

// detail is what the server says of a field, with the value cut.
func detail(message string) string {
	m := invalidValue.FindStringSubmatch(message)
	if m == nil {
		return masked(message)
	}
	rest := m[2]
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, quoted), ": ")
	} else if i := strings.LastIndex(rest, ": "); i >= 0 && m[1] != "Forbidden" && m[1] != "Required value" {
		rest = rest[i+2:]
	}
	if m[1] == "Unsupported value" { // what follows are the supported ones
		return strings.TrimSpace(m[1] + " " + rest)
	}
	if rest == "" {
		return m[1]
	}
	return fmt.Sprintf("%s: %s", m[1], masked(rest))
}

// masked cuts quoted texts that are more than a name, and what a typed patch
// error prints of Go values, since they may be values of the document.
func masked(message string) string {
	message = goValue.ReplaceAllString(message, "got something else")
	return quotedText.ReplaceAllStringFunc(message, func(q string) string {
		if len(q) <= 66 && plainName.MatchString(q) {
			return q
		}
		return `"…"`
	})
}

// goValue reaches to the end: nobody can tell where such a value ends.
var goValue = regexp.MustCompile(`(?s)got &.*$`)

var plainName = regexp.MustCompile(`^"[A-Za-z0-9./:_-]*"$`)
