package lint

import (
	"slices"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// The classes of findings that this package adds to those of author/typecheck.
// Classes describes each.
const (
	FieldType         typecheck.Class = "field-type"
	InvalidChild      typecheck.Class = "invalid-child"
	TooLong           typecheck.Class = "too-long"
	JobTTL            typecheck.Class = "job-ttl"
	InvalidAnnotation typecheck.Class = "invalid-annotation"
	TripleBraces      typecheck.Class = "triple-braces"
	NameCollision     typecheck.Class = "name-collision"
	Contended         typecheck.Class = "contended"
	Oscillating       typecheck.Class = "oscillating"
	RemovedAPI        typecheck.Class = "removed-api"
	DroppedStatus     typecheck.Class = "dropped-status"
	Unpackable        typecheck.Class = "unpackable"
	UnusedField       typecheck.Class = "unused-field"
	UnusedPartial     typecheck.Class = "unused-partial"
	UnusedRule        typecheck.Class = "unused-rule"
	Example           typecheck.Class = "example"
	Golden            typecheck.Class = "golden"
	InvalidIgnore     typecheck.Class = "invalid-ignore"
	InvalidHealth     typecheck.Class = "invalid-health"
	UnknownHealth     typecheck.Class = "unknown-health"
	BreakingCRD       typecheck.Class = "breaking-crd"
	DroppedKind       typecheck.Class = "dropped-kind"
)

// renamedClasses are the present names of classes, by the name that they had before the first
// release.
var renamedClasses = map[typecheck.Class]typecheck.Class{
	"annotation": InvalidAnnotation, "braces": TripleBraces, "collision": NameCollision, "does-not-fit": FieldType, "health": InvalidHealth,
	"secret": typecheck.SecretLeak, "status-dropped": DroppedStatus, "wrong-type": typecheck.ArgumentType,
}

// A Description says what a class of findings is about.
type Description struct {
	Class typecheck.Class
	// IsSilenceable is true if a comment can silence findings of the class. What keeps a
	// folder from loading cannot be silenced, whatever its class.
	IsSilenceable bool
	// Mistake is what is wrong, as Markdown for a table, with links as in docs/tools.md.
	Mistake string
}

// Classes has every class of findings, in the order of the documents.
var Classes = []Description{
	{typecheck.UnknownField, true, "a field that no schema declares: of the resource, of an object that was read, of a child, of the result of `fromYaml " +
		"(include …)`; in printer columns, scale paths and selectable fields of the CRD; a field that the CRD requires and does " +
		"not declare"},
	{typecheck.ArgumentType, true, "an argument or operand that the function rejects, or that makes no sense: `add .spec.name 1`, `eq .spec.replicas " +
		"\"3\"`, `select` by `.spec.selector.matchLabels` instead of the selector, or by an empty selector; `child` of a file " +
		"with documents of several kinds, because it returns the newest object of any kind; a field of what `await` returns for " +
		"such a file"},
	{typecheck.NotAList, true, "`range` over a value without items"},
	{typecheck.Nil, true, "a value that may be absent where that is an error: in a text, as a key, as a list item, as a child's name, in a " +
		"selector, as an argument of `printf`. Inside `if` or `with`, and after `default`, `ifNil`, `required` or a `fail` for " +
		"its absence, the value is known to exist. If only a `spec` that the CRD does not require can be absent, there is one " +
		"finding, at the CRD"},
	{typecheck.Falsy, true, "0 or false treated as absent: `default` on a number or a boolean, `if` and `with` on a number that may be absent. Use " +
		"`ifNil`"},
	{FieldType, true, "a value of the wrong type for the child's field: a text for a number (use `int`), a number for a text (use `quote`)"},
	{typecheck.UnusedVar, true, "a variable that is not read, or `:=` where `=` was meant"},
	{UnusedPartial, true, "a `define` that is not called"},
	{UnusedField, true, "a field of the spec that no template, rule, printer column, selectable field or scale path uses"},
	{UnusedRule, true, "a rule in `children` or `reads` of kind.yaml, or a namespace or name in it, that no document, `lookup` or `select` " +
		"needs: its permissions are superfluous"},
	{typecheck.Unreachable, true, "a branch that no resource takes; code after `fail` or `wait`"},
	{typecheck.EndlessWait, true, "an `await` of a file that renders no object for some resources, unless the `await` stands under a condition that " +
		"excludes these, such as that of the awaited file. Rules of the CRD are not considered: [silence](#silencing-a-finding) " +
		"the finding if one excludes them"},
	{DroppedStatus, true, "output of `status.yaml` that the CRD's schema or the operator drops or rejects; a CRD without the status subresource or " +
		"without `conditions`, which cannot store `Ready`"},
	{Example, false, "an example that the API server would reject or that cannot be rendered, including its status"},
	{Golden, false, "a golden case whose resource the API server would reject or that cannot be rendered, including its status"},
	{InvalidChild, true, "a field that the child's type does not have, or lacks; a child without a name; a rendered child that its type rejects; " +
		"what [Kubernetes rejects beyond its schemas](#beyond-the-schemas). Among the children of one sample: a selector that " +
		"does not match the labels of its own template; a named target port of a Service that no selected Pod has; the backend " +
		"of an Ingress or the target of an autoscaler, with the resource's name as prefix, that is not a child; `minReplicas` " +
		"above `maxReplicas`"},
	{NameCollision, true, "a child whose name two resources can render: a cluster-scoped child of a namespaced kind without the namespace in its " +
		"name; two literal suffixes of one kind of child where one ends with a dash and the other (`x` with `b-c` and `x-b` with " +
		"`c` are both `x-b-c`), unless a rule of the CRD rejects such names"},
	{Contended, true, "replicas that both a HorizontalPodAutoscaler of the folder and the template of a workload set: add " +
		"`jacquard.dev/initial-fields: spec.replicas`"},
	{Oscillating, true, "a file that reads what it writes, so that each write causes the next one: its own whole child, the child's `metadata` " +
		"or `resourceVersion`, or a checksum of these; a field of `status.yaml` that depends on its own previous value, such as " +
		"a counter. Not whether the child exists, how many there are, or a single field that is picked from it"},
	{RemovedAPI, true, "a child of an API that Kubernetes no longer serves, such as `policy/v1beta1`, with the version that removed it and the " +
		"replacement. Not if the template asks `hasAPI` for it"},
	{typecheck.SecretLeak, true, "a value from a Secret that would be written into another kind of object"},
	{JobTTL, true, "a Job that deletes itself and would be recreated: it needs `jacquard.dev/run-once`"},
	{TooLong, true, "a name or label that can exceed its limit: use `childName`"},
	{InvalidAnnotation, true, "a misspelled annotation of `jacquard.dev`; a path in `jacquard.dev/initial-fields` that the child's type does not declare"},
	{BreakingCRD, true, "with `--against`: a change of the CRD that [breaks](#compare-with-an-earlier-state) existing resources or clients"},
	{DroppedKind, false, "with `--against`: a kind that an earlier state of the folder created or patched, and that this one neither renders nor " +
		"[retires](reference.md#retired-kinds)"},
	{TripleBraces, true, "`{{{`"},
	{Unpackable, false, "what else [`jacquard pack`](#jacquard-pack) rejects: a kind that is rendered or read whose CRD is not in `schemas/`, so " +
		"that its plural is not known; files that cannot be keys of a ConfigMap"},
	{InvalidHealth, true, "a [health expression](reference.md#health-expressions) that reads a field which the child's schema does not declare, or " +
		"that calls `filter(…).all(…)` and is true for an object without conditions"},
	{UnknownHealth, true, "a kind of another project for which neither the folder, its root nor the operator has a health expression, if an " +
		"`await` waits for it or `kind.yaml` sets `rollout`. The finding has an entry to paste"},
	{InvalidIgnore, false, "a comment `jacquard:ignore` that [silences](#silencing-a-finding) nothing, or gives no reason"},
	{typecheck.Syntax, true, "any other error that prevents the folder from loading; text that is not YAML in some branch"},
}

// Silenceable reports whether a comment can silence findings of a class.
func Silenceable(class typecheck.Class) bool {
	return slices.ContainsFunc(Classes, func(d Description) bool { return d.Class == class && d.IsSilenceable })
}
