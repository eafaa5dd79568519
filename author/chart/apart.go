package chart

import (
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// namespacePrefix stands before the name of what lives in no namespace. No
// namespace has a dot, so no two resources make such a name.
const namespacePrefix = "{{ $.metadata.namespace }}."

// fixedNames are cluster-scoped kinds whose names the API prescribes, or that
// may have no dots.
var fixedNames = []apischema.GroupKind{
	{Kind: "Namespace"}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	{Group: "apiregistration.k8s.io", Kind: "APIService"},
}

var (
	nameLine = regexp.MustCompile(`^name:[ \t]+(\S.*?)[ \t]*$`)
	roleRef  = regexp.MustCompile(`(?m)^roleRef:[ \t]*\n(?:[ \t]+[^\n]*(?:\n|$))+`)
	toRole   = regexp.MustCompile(`(?m)^[ \t]+kind:[ \t]*["']?ClusterRole["']?[ \t]*$`)
	refName  = regexp.MustCompile(`(?m)^[ \t]+name:[ \t]+(\S.*?)[ \t]*$`)
	refClass = regexp.MustCompile(`(?m)^[ \t-]*(?:priorityClassName|storageClassName|ingressClassName|gatewayClassName|runtimeClassName):[ \t]+(\S.*?)[ \t]*$`)
)

// prefixNames puts the namespace before the names of objects that live in no namespace. It does the
// same where the chart mentions these names again.
func (v *conversion) prefixNames() {
	var names []string
	for _, s := range v.sources {
		for _, d := range s.findDocuments() {
			gk := d.groupVersionKind().GroupKind()
			at, found := s.findName(d)
			if s.left || !found || s.isGone(at.from) || !v.clusterScoped(gk) || slices.Contains(fixedNames, gk) || !isSeparable(s.textOf(at)) {
				continue
			}
			names = append(names, s.textOf(at))
			s.prefixName(at)
		}
	}
	for _, s := range v.sources {
		for _, at := range s.findMentions() {
			if slices.Contains(names, s.textOf(at)) && !s.left && !s.isGone(at.from) {
				s.prefixName(at)
			}
		}
	}
}

// isSeparable reports whether a name does not hold the namespace yet, and can have a text put
// before it.
func isSeparable(name string) bool {
	return !strings.Contains(name, ".Release.Namespace") && !strings.Contains(name, "quote") && !strings.HasPrefix(name, "{{-") &&
		!strings.HasPrefix(name, "'")
}

// findName returns where the name of a document stands.
func (s *source) findName(d *document) (span, bool) {
	at, within := d.from, -1
	for line := range strings.Lines(s.textOf(d.span)) {
		bare := strings.TrimRight(line, "\r\n")
		indent := len(bare) - len(strings.TrimLeft(bare, " "))
		switch {
		case bare == "metadata:" || strings.HasPrefix(bare, "metadata: #"):
			within = 0
		case within < 0 || strings.TrimSpace(bare) == "" || strings.HasPrefix(bare, "{{"):
		case indent == 0:
			within = -1
		case within == 0 || indent == within:
			within = indent
			if m := nameLine.FindStringSubmatchIndex(bare[indent:]); m != nil {
				return span{at + indent + m[2], at + indent + m[3]}, true
			}
		}
		at += len(line)
	}
	return span{}, false
}

// findMentions returns where names of objects that live in no namespace may be mentioned.
func (s *source) findMentions() []span {
	var all []span
	for _, m := range refClass.FindAllStringSubmatchIndex(s.text, -1) {
		all = append(all, span{m[2], m[3]})
	}
	for _, ref := range roleRef.FindAllStringIndex(s.text, -1) {
		text := s.text[ref[0]:ref[1]]
		if m := refName.FindStringSubmatchIndex(text); m != nil && toRole.MatchString(text) {
			all = append(all, span{ref[0] + m[2], ref[0] + m[3]})
		}
	}
	return all
}

// prefixName puts the namespace before a name, within its quotes.
func (s *source) prefixName(name span) {
	if s.text[name.from] == '"' {
		s.replaceSpan(span{name.from, name.from + 1}, `"`+namespacePrefix)
		return
	}
	s.replaceSpan(span{name.from - 1, name.from}, s.text[name.from-1:name.from]+namespacePrefix)
}
