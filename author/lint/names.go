package lint

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// nameLimits are how long the names of kinds can be that Kubernetes lets be
// shorter than 253 characters.
var nameLimits = map[apischema.GroupKind]int{
	{Kind: "Namespace"}:               validation.DNS1123LabelMaxLength,
	{Kind: "Service"}:                 validation.DNS1035LabelMaxLength,
	{Group: "batch", Kind: "Job"}:     validation.LabelValueMaxLength, // a label of its Pods
	{Group: "batch", Kind: "CronJob"}: 52,                             // its Jobs have 11 more
	// Its Pods have a label of the name and the 11 characters of a revision.
	{Group: "apps", Kind: "StatefulSet"}: 52,
}

// checkNames finds names and labels that can be longer than Kubernetes allows.
func (l *linter) checkNames(d *document) {
	limit := validation.DNS1123SubdomainMaxLength
	if most, limited := nameLimits[d.gvk.GroupKind()]; limited {
		limit = most
	}
	metadata := entryOf(d.root, "metadata")
	l.tooLong(bound{node: entryOf(metadata, "name"), limit: limit}, "metadata.name of "+d.kindAndVersion())
	l.checkLabels(metadata, d)
	if d.gvk.GroupKind() == (apischema.GroupKind{Kind: "Service"}) {
		l.checkLabelValues(entryOf(entryOf(d.root, "spec"), "selector"), "spec.selector", d)
	}
	l.checkInner(entryOf(d.root, "spec"), "spec", d)
}

// checkLabels checks the labels in the metadata of an object.
func (l *linter) checkLabels(metadata *typecheck.Node, d *document) {
	l.checkLabelValues(entryOf(metadata, "labels"), "labels", d)
}

// checkInner checks labels, selectors and containers below a node.
func (l *linter) checkInner(n *typecheck.Node, path string, d *document) {
	if n == nil {
		return
	}
	for _, e := range n.Keys {
		switch e.Name {
		case "metadata":
			l.checkLabels(e.Node, d)
		case "matchLabels":
			l.checkLabelValues(e.Node, joinPath(path, e.Name), d)
		case "containers", "initContainers":
			for _, item := range e.Node.Items {
				l.tooLong(bound{entryOf(item, "name"), validation.DNS1123LabelMaxLength, true}, joinPath(path, e.Name)+"[].name of "+d.kindAndVersion())
			}
		}
		l.checkInner(e.Node, joinPath(path, e.Name), d)
	}
	for _, item := range n.Items {
		l.checkInner(item, path+"[]", d)
	}
}

// checkLabelValues checks the values of labels.
func (l *linter) checkLabelValues(labels *typecheck.Node, path string, d *document) {
	if labels == nil {
		return
	}
	for _, e := range labels.Keys {
		l.tooLong(bound{node: e.Node, limit: validation.LabelValueMaxLength},
			fmt.Sprintf("the label %s in %s of %s", e.Name, path, d.kindAndVersion()))
	}
}

// A bound is how many characters the text of a node may have.
type bound struct {
	node  *typecheck.Node
	limit int
	// local: nothing but its neighbors in the same object must differ from it.
	local bool
}

// tooLong checks how long a text can get.
func (l *linter) tooLong(of bound, what string) {
	n, limit := of.node, of.limit
	if n == nil {
		return
	}
	most, values := maxLength(n)
	if most <= limit {
		return
	}
	l.add(TooLong, n.Place, fmt.Sprintf("%s has at most %d characters, and this can have %d: %s", what, limit, most,
		l.shorteningAdvice(of, values)))
}

// maxLength returns how many characters a node has at most, or -1 if that is not known, and the
// values that it holds.
func maxLength(n *typecheck.Node) (most int, values []*typecheck.Value) {
	switch {
	case n.Value != nil:
		values = []*typecheck.Value{n.Value}
	default:
		values = n.Text
	}
	for _, v := range values {
		length := v.MaxLen
		if text, ok := v.Const.(string); v.Known && ok {
			length = len(text)
		}
		if length < 0 {
			return -1, values
		}
		most += length
	}
	return most, values
}

// shorteningAdvice returns how to make a text of these values short enough.
func (l *linter) shorteningAdvice(of bound, values []*typecheck.Value) string {
	n, limit := of.node, of.limit
	name := slices.IndexFunc(values, func(v *typecheck.Value) bool {
		return slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool { return s.Read == "" && s.Path == "metadata.name" })
	})
	if name < 0 {
		return fmt.Sprintf("use trunc %d, or limit the field in the CRD with maxLength", limit)
	}
	r := l.restOf(n, values, name)
	var ways []string
	metadata, _ := schema.Root(l.kind.Version).Field("metadata")
	longest, _ := metadata.Field("name")
	switch joined := r.most > 0 || values[name].MaxLen > longest.MaxLength(); {
	case limit >= validation.LabelValueMaxLength && r.literal != "":
		ways = append(ways, fmt.Sprintf("use childName .metadata.name %q", strings.Trim(r.literal, "-.")))
	case limit >= validation.LabelValueMaxLength && joined:
		ways = append(ways, "use childName .metadata.name with what comes after it")
	case joined || !values[name].Exact:
	case of.local:
		ways = append(ways, fmt.Sprintf("use trunc %d", limit))
	case limit >= validation.LabelValueMaxLength: // trunc would give the same to names that differ at the end
		ways = append(ways, `use childName .metadata.name and a word of your own, such as "main"`)
	}
	if room := limit - r.most; room > 0 && r.told {
		ways = append(ways, fmt.Sprintf("limit it in the CRD by the rule self.metadata.name.size() <= %d, in x-kubernetes-validations", room))
	}
	if len(ways) == 0 {
		return "use trunc for what stands beside the name, and limit the name in the CRD by a rule"
	}
	return strings.Join(ways, ", or ")
}

// A rest is what a text has beside the resource's name.
type rest struct {
	// literal is all of it, "" where some of it is computed.
	literal string
	// most is how many characters it has at most; told: nothing else makes the
	// text longer.
	most int
	told bool
}

// restOf returns what a text has besides the value of that index, which is made of the resource's
// name.
func (l *linter) restOf(n *typecheck.Node, values []*typecheck.Value, name int) rest {
	r := rest{told: values[name].Exact}
	computed := false
	for i, v := range values {
		text, isText := v.Const.(string)
		switch {
		case i == name:
		case v.Known && isText:
			r.literal, r.most = r.literal+text, r.most+len(text)
		default:
			computed, r.most = true, r.most+v.MaxLen
		}
	}
	if computed {
		r.literal = ""
	}
	if suffix := l.literalSuffixAt(n.Place); !r.told && len(values) == 1 && suffix != "" { // of childName
		return rest{literal: suffix, most: len(suffix) + 1, told: true}
	}
	return r
}
