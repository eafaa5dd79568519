package scaffold

import (
	"cmp"
	_ "embed" // for the labels
	"fmt"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// nameObjects derives the names of the objects from the resource's; names that
// have nothing in common with it, and those of others' objects, must be said.
func (w *making) nameObjects() {
	for _, m := range w.all {
		rest, derived := cutStem(m.plainName(), w.stem)
		action := nameOf(rest)
		if !derived || m.patch {
			action = w.requiredName(m.gvk.Kind, m.plainName(), fmt.Sprintf("The name of the %s.", m.gvk.Kind))
		}
		action = m.separateAction(action)
		w.refs[m.gvk.Kind+"/"+m.name] = action
		w.tokens.set(findNode(m.node, "metadata", "name"), action)
		if m.gvk.Kind == "Certificate" {
			if rest, ok := cutStem(textAt(m.node, "spec", "secretName"), w.stem); ok {
				w.refs["Secret/"+textAt(m.node, "spec", "secretName")] = nameOf(rest)
			}
		}
	}
	for _, m := range w.all {
		if action := w.refs["Namespace/"+m.namespaceText()]; action != "" {
			w.tokens.set(findNode(m.node, "metadata", "namespace"), action)
		}
	}
}

// requiredName returns the action for a name that a resource must set.
func (w *making) requiredName(kind, name, note string) string {
	key := kind + "/" + name
	if action := w.refs[key]; action != "" {
		return action
	}
	bounds := map[string]any{"type": "string", "minLength": int64(1), "maxLength": int64(253)}
	leaf := field{name: camelCase(kind) + "Name", note: note, schema: bounds, value: name, required: true}
	return "{{ .spec." + w.spec.add(leaf, false) + " }}"
}

// secretAction returns the action for the name of a Secret that was taken out.
func (w *making) secretAction(name string) string {
	key := "Secret/" + name
	if w.refs[key] == "" && slices.Contains(w.secrets, name) {
		leaf := "secretName"
		if len(w.secrets) > 1 {
			rest, _ := cutStem(name, w.stem)
			leaf = camelCase(strings.TrimSuffix(cmp.Or(rest, name), "-secret"), "secret", "name")
		}
		w.refs[key] = "{{ .spec." + w.spec.add(field{
			name: leaf, note: "The name of a Secret that is there.", value: name, required: true,
			schema: map[string]any{"type": "string", "minLength": int64(1), "maxLength": int64(253)},
		}, false) + " }}"
	}
	return w.refs[key]
}

// referToObjects makes texts that name an object of the manifests follow the name of that object.
func (w *making) referToObjects() {
	distinct := w.hasInstanceLabels()
	for _, m := range w.all {
		withParents(m.node, func(path []string, parent, n *node) {
			if n.Tag != "!!str" || w.tokens.hasTokens(n.Value) || slices.Equal(path, []string{"metadata", "namespace"}) {
				return
			}
			if action := w.referenceAction(path, parent, n.Value, distinct); action != "" {
				w.tokens.set(n, action)
				return
			}
			w.referText(path, parent, n)
		})
		w.warnSelector(m)
	}
}

// referenceAction returns the action for a text that names an object, the namespace or this
// resource. It returns "" for any other text.
func (w *making) referenceAction(path []string, parent *node, value string, distinct bool) string {
	last, namespace := path[len(path)-1], textAt(parent, "namespace")
	home := cmp.Or(w.home, "default")
	switch {
	case slices.Contains(path, "namespaceSelector"):
		if last == "kubernetes.io/metadata.name" && value == home {
			return namespaceAction
		}
	case isLabels(path):
		return w.labelAction(last, value, distinct)
	case last == "values" && slices.Contains(path, "matchExpressions"):
		return w.labelAction(textAt(parent, "key"), value, distinct)
	case last == "namespace" && len(path) > 1:
		if value == home && !slices.Contains(path, "data") {
			return namespaceAction
		}
	case namespace == "" || namespace == home || w.tokens.hasTokens(namespace):
		if kind := referredKind(path, parent); kind == "Secret" {
			return w.secretAction(value)
		} else if kind != "" {
			return w.refs[kind+"/"+value]
		}
	}
	return ""
}

// general are the recommended labels that say of what sort an object is, and
// not of which resource; instanceLabel is the one that does. See
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/.
var instanceLabel, general = splitLabels()

//go:embed forms/labels.txt
var recommendedLabels string

// splitLabels returns the recommended label for the instance, and the other recommended labels.
func splitLabels() (instance string, others []string) {
	all := strings.Fields(recommendedLabels)
	return all[0], all[1:]
}

// hasInstanceLabels reports whether every selector by general labels also names the resource, by
// the label that is meant for it.
func (w *making) hasInstanceLabels() bool {
	if w.stem == "" {
		return false
	}
	for _, m := range w.all {
		selector := findNode(m.node, "spec", "selector")
		if inner := findNode(selector, "matchLabels"); inner != nil {
			selector = inner
		}
		sorted := slices.ContainsFunc(general, func(key string) bool { return keyIndex(selector, key) >= 0 })
		if sorted && textAt(selector, instanceLabel) != w.stem {
			return false
		}
	}
	return true
}

// labelAction returns the action for the value of a label that tells resources apart.
func (w *making) labelAction(key, value string, distinct bool) string {
	if distinct && slices.Contains(general, key) {
		return ""
	}
	named := value == w.stem || slices.ContainsFunc(w.all, func(m *manifest) bool { return m.plainName() == value && !m.patch })
	rest, derived := cutStem(value, w.stem)
	if !named || !derived {
		return ""
	}
	return nameOf(rest)
}

// referText makes the names of hosts in a text follow the Services.
func (w *making) referText(path []string, parent, n *node) {
	last := path[len(path)-1]
	free := last == "value" || last == "args" || last == "command" ||
		len(path) > 1 && slices.Contains([]string{"data", "annotations"}, path[len(path)-2])
	if !free || strings.Contains(last, "jacquard.dev/") {
		return
	}
	for _, m := range w.all {
		action := w.refs["Service/"+m.name]
		if action == "" || m.gvk.Kind != "Service" {
			continue
		}
		key := cmp.Or(textAt(parent, "name"), last)
		if n.Value == m.name && (strings.Contains(m.name, "-") || hostKeys.MatchString(key)) {
			w.tokens.set(n, action)
			return
		}
		for _, pattern := range hosts {
			re := regexp.MustCompile(strings.ReplaceAll(pattern, "NAME", regexp.QuoteMeta(m.name)))
			if !re.MatchString(n.Value) {
				continue
			}
			token := w.tokens.addToken(action)
			n.Value = re.ReplaceAllString(n.Value, "${1}"+token+"${2}")
			n.Value = strings.ReplaceAll(n.Value, token+"."+cmp.Or(w.home, "default")+".svc", token+"."+w.tokens.addToken(namespaceAction)+".svc")
			n.Style &^= yamlv3.FoldedStyle
		}
	}
}

// warnSelector notes selectors that two resources would share.
func (w *making) warnSelector(m *manifest) {
	selector := findNode(m.node, "spec", "selector")
	if inner := findNode(selector, "matchLabels"); inner != nil {
		selector = inner
	}
	if selector == nil || m.patch || m.gvk.Kind == "Job" || len(selector.Content) == 0 {
		return
	}
	told := false
	eachEntry(selector, func(_ string, v *node) { told = told || w.tokens.hasTokens(v.Value) })
	if !told {
		w.draft.Note(fmt.Sprintf("%s: its selector does not name the resource, so two of them in one namespace would select each other's Pods: "+
			"add a label such as `%s: {{ .metadata.name }}` there, and to the Pods", m, instanceLabel))
	}
}
