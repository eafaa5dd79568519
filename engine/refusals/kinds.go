package refusals

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Kind is a way in which the API server refuses a write.
type Kind string

// The kinds after which something is done, or something special is said. Those of
// OfChange are only known once the object is read.
const (
	// DuplicateKey: the document has two entries of a list with the same key.
	DuplicateKey Kind = "duplicate key"
	// DuplicateValue: two entries of a list have a value that only one may have.
	DuplicateValue Kind = "duplicate value"
	// NotBase64: a value should be base64 and is not.
	NotBase64 Kind = "not base64"
	// NotConvertible: a value does not fit its type.
	NotConvertible Kind = "not convertible"
	// BadLabel: the key or value of a label, or the key of an annotation.
	BadLabel Kind = "bad label"
	// BadContent is any other content that the API server refuses.
	BadContent Kind = "bad content"
	// TooLarge: etcd does not take it.
	TooLarge Kind = "too large"

	// Immutable: the content is fine, but the object has another one and does not
	// let it be changed.
	Immutable Kind = "immutable"
	// LeftOver: the object has a field that the document does not have, and that
	// does not go with what the document has, such as a default of another member
	// of a union.
	LeftOver Kind = "left over"
	// ForeignEntry: the object has an entry of a list that the document does not
	// have, and because of which an entry of the document is refused.
	ForeignEntry Kind = "foreign entry"
	// TextExists: the Secret exists already, so that a text that was generated for it is of no
	// use.
	TextExists Kind = "text exists"
)

// A refusalKind is a row of the table of kinds: how an answer is recognised, and what
// is said about it.
type refusalKind struct {
	kind  Kind
	cause Cause
	// codes are those of the answer; none: any.
	codes []int32
	// pattern is in its message; nil: anything.
	pattern *regexp.Regexp
	// also is what else must be so; nil: nothing.
	also func(metav1.Status) bool
	// explain finds fields and words; nil: those of the server are taken.
	explain func(refused) explanation
	// remedy is what to do, unless explain says.
	remedy string
}

// A refused is an answer, the document that was sent, and what the pattern of its
// kind matched.
type refused struct {
	metav1.Status
	document map[string]any
	match    []string
}

// cleanText removes quoted texts and the values of the document from a text of others.
func (a refused) cleanText(text string) string { return removeValues(maskQuotes(text), a.document) }

// An explanation is what is said of an answer, without values of the document.
type explanation struct {
	text   string
	fields []Field
	remedy string
}

// typedPatch begins the 500 by which the server answers an apply with an unknown or
// mistyped field or a duplicate list key; trying again is of no use.
const typedPatch = "failed to create typed patch object"

const (
	badRequest    = http.StatusBadRequest
	forbidden     = http.StatusForbidden
	notFound      = http.StatusNotFound
	unprocessable = http.StatusUnprocessableEntity
	internal      = http.StatusInternalServerError
)

// kinds are the ways in which the API server refuses a write. The first row that fits
// counts. test/refusals has a real answer for each.
var kinds = []refusalKind{
	{cause: Terminating, also: hasCause("NamespaceTerminating")},
	{cause: Conflict, also: hasCause(metav1.CauseTypeFieldManagerConflict)},
	{cause: Exists, codes: []int32{http.StatusConflict}},

	// Webhooks and policies choose their codes themselves, often that of invalid content.
	{cause: Policy, pattern: regexp.MustCompile(`ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request[^\n]*`),
		explain: quoteMatch, remedy: "change the child as the policy demands, or exclude it from the policy"},
	{cause: Webhook, pattern: regexp.MustCompile(`admission webhook "[^"]*" denied the request[^\n]*`),
		explain: quoteMatch, remedy: "change the child as the webhook demands, or exclude it from the webhook"},

	{cause: Gone, codes: []int32{unprocessable}, also: isAbout("metadata.uid")},
	{cause: Gone, codes: []int32{unprocessable}, pattern: regexp.MustCompile("UID in precondition")},

	{kind: DuplicateKey, cause: Invalid, codes: []int32{internal},
		pattern: regexp.MustCompile(typedPatch + `(?s:.*)duplicate entries for key`),
		remedy:  "render each key once"},
	{kind: BadContent, cause: Invalid, codes: []int32{internal}, pattern: regexp.MustCompile(typedPatch)},
	{kind: NotBase64, cause: Invalid, codes: []int32{internal},
		pattern: regexp.MustCompile("failed to convert new object.*illegal base64 data"),
		explain: explainBase64},
	{kind: NotConvertible, cause: Invalid, codes: []int32{internal}, pattern: regexp.MustCompile("failed to convert new object.*: ([^:]*)$"),
		explain: explainConversion},
	{kind: NotConvertible, cause: Invalid, codes: []int32{internal}, pattern: regexp.MustCompile("failed to convert new object")},
	{kind: TooLarge, cause: Invalid, codes: []int32{internal},
		pattern: regexp.MustCompile(`etcdserver: request is too large|trying to send message larger than max`)},

	{kind: NotBase64, cause: Invalid, codes: []int32{unprocessable},
		pattern: regexp.MustCompile("must be of type byte"), remedy: "print it with b64enc"},
	{kind: BadLabel, cause: Invalid, codes: []int32{unprocessable}, pattern: regexp.MustCompile(`a valid label `), explain: explainLabels,
		remedy: "limit the value in the CRD by a pattern, or replace in the template what does not fit"},
	{kind: DuplicateValue, cause: Invalid, codes: []int32{unprocessable}, also: hasCause(metav1.CauseTypeFieldValueDuplicate)},
	{kind: BadContent, cause: Invalid,
		codes: []int32{unprocessable, badRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}},

	{cause: TryAgain, pattern: unmapped}, // the API server finds out by itself

	{cause: Quota, codes: []int32{forbidden},
		pattern: regexp.MustCompile(`exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)`),
		explain: explainQuota},
	{cause: Quota, codes: []int32{forbidden},
		pattern: regexp.MustCompile(`failed quota: ([^:\s]+): must specify ([^\n]*)`), explain: explainUnlimited},
	{cause: Quota, codes: []int32{forbidden}, pattern: regexp.MustCompile(`(exceeded|failed|status unknown for) quota\b`)},
	{cause: PodSecurity, codes: []int32{forbidden},
		pattern: regexp.MustCompile(`(violates PodSecurity "[^"]*"): ([^\n]*)`), explain: explainPodSecurity},
	{cause: Admission, codes: []int32{forbidden}, explain: explainLimitRange, remedy: "change the value, or the LimitRange of the namespace",
		pattern: regexp.MustCompile(`((?:maximum|minimum) (\S+) usage per (?:Container|Pod|PersistentVolumeClaim) is [^\s,]+)`)},
	{cause: Admission, codes: []int32{forbidden}, explain: explainReference("serviceAccountName", "this ServiceAccount does not exist"),
		pattern: regexp.MustCompile(`error looking up service account .* not found`), remedy: missing},
	{cause: Admission, codes: []int32{forbidden}, explain: explainReference("priorityClassName", "this PriorityClass does not exist"),
		pattern: regexp.MustCompile(`no PriorityClass with name .* was found`), remedy: missing},
	{cause: Admission, codes: []int32{forbidden}, explain: explainReference("runtimeClassName", "this RuntimeClass does not exist"),
		pattern: regexp.MustCompile(`pod rejected: RuntimeClass .* not found`), remedy: missing},

	{cause: Forbidden, codes: []int32{forbidden}, pattern: regexp.MustCompile(
		`cannot (\w+ (resource|path) "|set blockOwnerDeletion|set an ownerRef )|is attempting to grant RBAC permissions`)},
	{cause: Forbidden, codes: []int32{forbidden}, pattern: creating},
	{cause: Forbidden, codes: []int32{http.StatusUnauthorized}},
	{cause: Admission, codes: []int32{forbidden}},

	{cause: NotServed, codes: []int32{http.StatusMethodNotAllowed}}, // its CRD is being deleted
	{cause: NotServed, codes: []int32{notFound}, also: func(s metav1.Status) bool { return s.Details == nil || s.Details.Name == "" }},
	{cause: NoNamespace, codes: []int32{notFound}, also: func(s metav1.Status) bool { return s.Details.Kind == "namespaces" },
		explain: func(refused) explanation { return explanation{text: "the namespace does not exist"} }},
	{cause: Gone, codes: []int32{notFound}},
}

// missing is what to do about a reference to what is not there.
const missing = "create it, or name another one"

// anyOther is the kind of all other answers, other errors of the server (5xx) and 429
// among them: they are tried again.
var anyOther = refusalKind{cause: TryAgain}

// kindOf finds the kind of an answer, and what its pattern matched.
func kindOf(s metav1.Status) (k *refusalKind, match []string) {
	for i := range kinds {
		if k = &kinds[i]; k.matchesAnswer(s) {
			if k.pattern != nil {
				match = k.pattern.FindStringSubmatch(s.Message)
			}
			return k, match
		}
	}
	return &anyOther, nil
}

func (k *refusalKind) matchesAnswer(s metav1.Status) bool {
	return (k.codes == nil || slices.Contains(k.codes, s.Code)) && (k.pattern == nil || k.pattern.MatchString(s.Message)) &&
		(k.also == nil || k.also(s))
}

// explainAnswer explains an answer.
func (k *refusalKind) explainAnswer(a refused) explanation {
	e := explanation{fields: listFields(a.Status, a.document)}
	if k.explain != nil {
		e = k.explain(a)
	}
	switch {
	case e.text != "":
	case k.cause == Forbidden: // it has no values left, and must not lose the names of resources
		e.text = maskQuotes(hideRights(a.Message))
	default:
		e.text = a.cleanText(a.Message)
	}
	e.text = strings.Trim(e.text, " :\n") // old servers give no reason after the colon
	if e.remedy == "" {
		e.remedy = k.remedy
	}
	return e
}

func hasCause(cause metav1.CauseType) func(metav1.Status) bool {
	return func(s metav1.Status) bool {
		return apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: s}, cause)
	}
}

// isAbout reports whether an Invalid answer is about this field.
func isAbout(field string) func(metav1.Status) bool {
	return func(s metav1.Status) bool {
		return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == field })
	}
}
