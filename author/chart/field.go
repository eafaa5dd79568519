package chart

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"sigs.k8s.io/yaml"
)

// What a resource says of Helm's own things.
const (
	kubeVersion = "v1.36.0" // what `.Capabilities.KubeVersion` is taken for
	writtenBy   = "jacquard"
)

// magic are the fields of what Helm gives a template.
var magic = []string{"Values", "Release", "Chart", "Capabilities", "Files", "Template", "Subcharts"}

// magicAt is the index of the first name that is Helm's own, or -1.
func magicAt(names []string) int {
	return slices.IndexFunc(names, func(name string) bool { return slices.Contains(magic, name) })
}

// rewriteField rewrites a chain of fields that goes through an object of Helm.
func (r *rewriter) rewriteField(n parse.Node, names []string, alone bool) {
	i := magicAt(names)
	if i < 0 {
		return
	}
	at := r.operandSpan(n)
	path := names[i:]
	if instead := newField(path); instead != "" {
		from := at.to - len(strings.Join(path, "."))
		r.replaceSpan(span{from, at.to}, instead)
		return
	}
	if text, ok := r.literalText(path); ok {
		r.noteVersion(at.from, path)
		r.replaceSpan(at, text)
		return
	}
	what, do := fieldAdvice(path)
	r.replaceByFail(at, !alone, "."+strings.Join(path, "."), do+what)
}

// newField returns where a field of the values or of the release is found now.
func newField(path []string) string {
	switch {
	case path[0] == "Values":
		return strings.Join(append([]string{"spec"}, path[1:]...), ".")
	case len(path) == 1 && path[0] == "Release":
		return "metadata"
	case len(path) == 2 && path[0] == "Release" && path[1] == "Name":
		return "metadata.name"
	case len(path) == 2 && path[0] == "Release" && path[1] == "Namespace":
		return "metadata.namespace"
	}
	return ""
}

// literalText returns a literal for what is known before any resource is there.
func (r *rewriter) literalText(path []string) (string, bool) {
	if path[0] == "Template" && len(path) == 2 && path[1] == "Name" && !r.isPartial() {
		return strconv.Quote(r.chart.name + "/" + r.source.name), true
	}
	if s, ok := r.knownText(path); ok {
		return strconv.Quote(s), true
	}
	if len(path) == 1 && path[0] == "Chart" {
		return r.aboutDict(), true
	}
	return "", false
}

// aboutDict returns the texts of Chart.yaml as a dict.
func (r *rewriter) aboutDict() string {
	var b strings.Builder
	b.WriteString("(dict")
	for _, key := range sortedKeys(r.about) {
		if s, ok := r.about[key].(string); ok {
			b.WriteString(" " + strconv.Quote(upperFirst(key)) + " " + strconv.Quote(s))
		}
	}
	return b.String() + ")"
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// knownText returns the text that a field of Helm has, as far as it is known.
func (v *conversion) knownText(path []string) (string, bool) {
	switch strings.Join(path, ".") {
	case "Release.Service":
		return writtenBy, true
	case "Capabilities.KubeVersion", "Capabilities.KubeVersion.Version", "Capabilities.KubeVersion.GitVersion":
		return kubeVersion, true
	case "Capabilities.KubeVersion.Major":
		return "1", true
	case "Capabilities.KubeVersion.Minor":
		return strings.Split(kubeVersion, ".")[1], true
	}
	if path[0] != "Chart" || len(path) < 2 {
		return "", false
	}
	var at any = v.about
	for i, name := range path[1:] {
		m, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		key := name
		if i == 0 {
			key = lowerFirst(name)
		}
		at = m[key]
	}
	switch s := at.(type) {
	case string:
		return s, true
	case nil:
		return "", true
	}
	return "", false
}

// noteVersion says that the version of Kubernetes was taken for a fixed one.
func (r *rewriter) noteVersion(off int, path []string) {
	if path[0] == "Capabilities" {
		r.source.noteAt(off, "."+strings.Join(path, "."),
			"taken for that of "+kubeVersion+": a template cannot ask for the version; ask with hasAPI for what you need")

	}
}

// fieldAdvice returns what may be done about a field of Helm that has no counterpart.
func fieldAdvice(path []string) (what, do string) {
	switch path[0] {
	case "Release":
		return "", "a resource has no installs, upgrades and revisions, only what it wants: write what holds always, or take it from the spec"
	case "Capabilities":
		return "", "ask with hasAPI for the kinds that you need"
	case "Files":
		return "", "take texts of files/ by their names with file"
	case "Template":
		return "", "take what another file renders with rendered"
	case "Subcharts":
		return "", "make a kind of the subchart and a child of that kind"
	}
	return "", "Chart.yaml does not say it in one text: write the text itself"
}

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

// inlineText replaces an action that has become one literal by the text itself.
func (r *rewriter) inlineText(n *parse.ActionNode) {
	p := n.Pipe
	if len(p.Decl) > 0 || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return
	}
	at := r.commandSpan(p.Cmds[0])
	text, err := strconv.Unquote(r.resultOf(at))
	a := r.actionAt(at.from)
	if err != nil || r.resultOf(at) == r.textOf(at) || a.trimLeft || a.trimRight || !plainText.MatchString(text) {
		return
	}
	var v any
	if yaml.Unmarshal([]byte(text), &v) == nil && v == text {
		r.replaceSpan(span{a.from, a.to}, text)
	}
}
