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

// apart puts the namespace before the names of what lives in no namespace, and
// where the chart says them again.
func (v *conversion) apart() {
	var names []string
	for _, s := range v.sources {
		for _, d := range s.documents() {
			gk := d.gvk().GroupKind()
			at, found := s.named(d)
			if s.left || !found || s.gone(at.from) || !v.clusterScoped(gk) || slices.Contains(fixedNames, gk) || !separable(s.textOf(at)) {
				continue
			}
			names = append(names, s.textOf(at))
			s.prefix(at)
		}
	}
	for _, s := range v.sources {
		for _, at := range s.mentions() {
			if slices.Contains(names, s.textOf(at)) && !s.left && !s.gone(at.from) {
				s.prefix(at)
			}
		}
	}
}

// separable reports whether a name does not hold the namespace yet, and bears a
// text before it.
func separable(name string) bool {
	return !strings.Contains(name, ".Release.Namespace") && !strings.Contains(name, "quote") && !strings.HasPrefix(name, "{{-") &&
		!strings.HasPrefix(name, "'")
}

// named is where the name of a document stands.
func (s *source) named(d *document) (span, bool) {
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

// mentions are where names of what lives in no namespace may be said.
func (s *source) mentions() []span {
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

// prefix puts the namespace before a name, within its quotes.
func (s *source) prefix(name span) {
	if s.text[name.from] == '"' {
		s.replace(span{name.from, name.from + 1}, `"`+namespacePrefix)
		return
	}
	s.replace(span{name.from - 1, name.from}, s.text[name.from-1:name.from]+namespacePrefix)
}
