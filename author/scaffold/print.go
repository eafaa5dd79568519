package scaffold

import (
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// tokens stand in a document for actions while it is printed as YAML: words
// that need no quotes and occur in no manifest.
type tokens struct {
	mark    string
	actions []string
}

func (t *tokens) init(sources []Source) {
	var all strings.Builder
	for _, s := range sources {
		all.Write(s.Data)
	}
	t.mark = "Jq"
	for strings.Contains(all.String(), t.mark) {
		t.mark += "q"
	}
}

// addToken adds an action and returns its token.
func (t *tokens) addToken(action string) string {
	t.actions = append(t.actions, action)
	return fmt.Sprintf("%s%dz", t.mark, len(t.actions)-1)
}

// hasTokens reports whether a text holds tokens.
func (t *tokens) hasTokens(text string) bool { return strings.Contains(text, t.mark) }

// replaceTokens puts the actions in the place of their tokens.
func (t *tokens) replaceTokens(text string) string {
	pairs := make([]string, 0, 2*len(t.actions))
	for i, action := range t.actions {
		pairs = append(pairs, fmt.Sprintf("%s%dz", t.mark, i), action)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// set makes a node an action.
func (t *tokens) set(n *node, action string) {
	*n = node{Kind: yamlv3.ScalarNode, Tag: "!!str", Value: t.addToken(action), HeadComment: n.HeadComment, LineComment: n.LineComment}
}

// escapeTexts escapes texts that a template would otherwise read as actions, so that they mean
// themselves.
func (t *tokens) escapeTexts(root *node) {
	one := func(n *node) {
		if n.Kind != yamlv3.ScalarNode || n.Tag != "!!str" {
			return
		}
		if strings.Contains(n.Value, "{{") {
			n.Value = strings.ReplaceAll(n.Value, "{{", t.addToken(`{{ "{{" }}`))
			n.Style &^= yamlv3.FoldedStyle
		}
		if strings.ContainsFunc(n.Value, isPrivate) {
			n.Style = yamlv3.DoubleQuotedStyle
		}
	}
	pairKeys(root, one)
	walkNodes(root, nil, func(_ []string, n *node) { one(n) })
}

// isPrivate reports whether a character is one that templates write as an escape.
func isPrivate(r rune) bool { return r >= 0xE000 && r <= 0xF8FF }

// unfoldBraces sets maps and lists in braces that hold actions on lines of their own, where they
// can be read.
func (t *tokens) unfoldBraces(root *node) {
	walkNodes(root, nil, func(_ []string, n *node) {
		holds := false
		walkNodes(n, nil, func(_ []string, inner *node) {
			holds = holds || inner.Kind == yamlv3.ScalarNode && t.hasTokens(inner.Value)
		})
		if holds {
			n.Style &^= yamlv3.FlowStyle
		}
	})
}

// printTemplate prints a manifest as a template.
func (t *tokens) printTemplate(root *node) (string, error) {
	t.unfoldBraces(root)
	text, err := printNode(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range text {
		if isPrivate(r) {
			fmt.Fprintf(&b, `\u%04X`, r)
			continue
		}
		b.WriteRune(r)
	}
	return t.replaceTokens(b.String()), nil
}
