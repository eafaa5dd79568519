package lint

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/engine/flow"
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

// names finds names and labels that can be longer than Kubernetes allows.
func (l *linter) names(d *document) {
	limit := validation.DNS1123SubdomainMaxLength
	if most, limited := nameLimits[d.gvk.GroupKind()]; limited {
		limit = most
	}
	metadata := entry(d.root, "metadata")
	l.tooLong(entry(metadata, "name"), limit, "metadata.name of "+d.subject())
	l.labels(metadata, d)
	if d.gvk.GroupKind() == (apischema.GroupKind{Kind: "Service"}) {
		l.values(entry(entry(d.root, "spec"), "selector"), "spec.selector", d)
	}
	l.inner(entry(d.root, "spec"), "spec", d)
}

// labels checks the labels of some metadata.
func (l *linter) labels(metadata *flow.Node, d *document) {
	l.values(entry(metadata, "labels"), "labels", d)
}

// inner finds labels, selectors and containers below a node.
func (l *linter) inner(n *flow.Node, path string, d *document) {
	if n == nil {
		return
	}
	for _, e := range n.Keys {
		switch e.Name {
		case "metadata":
			l.labels(e.Node, d)
		case "matchLabels":
			l.values(e.Node, below(path, e.Name), d)
		case "containers", "initContainers":
			for _, item := range e.Node.Items {
				l.tooLong(entry(item, "name"), validation.DNS1123LabelMaxLength, below(path, e.Name)+"[].name of "+d.subject())
			}
		}
		l.inner(e.Node, below(path, e.Name), d)
	}
	for _, item := range n.Items {
		l.inner(item, path+"[]", d)
	}
}

// values checks the values of labels.
func (l *linter) values(labels *flow.Node, path string, d *document) {
	if labels == nil {
		return
	}
	for _, e := range labels.Keys {
		l.tooLong(e.Node, validation.LabelValueMaxLength, fmt.Sprintf("the label %s in %s of %s", e.Name, path, d.subject()))
	}
}

// tooLong checks how long a text can get.
func (l *linter) tooLong(n *flow.Node, limit int, what string) {
	if n == nil {
		return
	}
	most, values := longest(n)
	if most <= limit {
		return
	}
	l.add(TooLong, n.Place, fmt.Sprintf("%s has at most %d characters, and this can have %d: %s", what, limit, most, l.shorter(values, limit)))
}

// longest is how many characters a node has at most, -1 if that is not known,
// and the values that it holds.
func longest(n *flow.Node) (most int, values []*flow.Value) {
	switch {
	case n.Value != nil:
		values = []*flow.Value{n.Value}
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

// shorter says how to make a text of these values short enough.
func (l *linter) shorter(values []*flow.Value, limit int) string {
	suffix, most := "", 0
	fromName := false
	for _, v := range values {
		if text, ok := v.Const.(string); v.Known && ok {
			suffix += text
		}
		if slices.Contains(v.Sources, flow.Source{Path: "metadata.name"}) {
			fromName, most = true, v.MaxLen
		}
	}
	if !fromName {
		return fmt.Sprintf("use trunc %d, or limit the field in the CRD with maxLength", limit)
	}
	rule := fmt.Sprintf("limit it in the CRD by the rule self.metadata.name.size() <= %d", limit-len(suffix))
	metadata, _ := schema.Root(l.kind.Version).Field("metadata")
	name, _ := metadata.Field("name")
	switch {
	case suffix != "" && limit >= validation.LabelValueMaxLength:
		return fmt.Sprintf("use childName .metadata.name %q, or %s", strings.Trim(suffix, "-."), rule)
	case most > name.MaxLength() && limit >= validation.LabelValueMaxLength:
		return "use childName .metadata.name with what comes after it"
	}
	return fmt.Sprintf("use trunc %d, or %s", limit, rule)
}
