package chart

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeAt is the node of values.yaml at a path, or nil.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		n = childNode(n, name)
	}
	return n
}

// childNode returns the value under a key of a map, or nil.
func childNode(n *yaml.Node, name string) *yaml.Node {
	n = resolveAlias(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolveAlias(n.Content[i+1])
		}
	}
	return nil
}

// resolveAlias returns the node that an alias stands for.
func resolveAlias(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// templateBelow is the path of a text at or below a node that is a template,
// or "".
func templateBelow(n *yaml.Node, path string) string {
	n = resolveAlias(n)
	if n == nil {
		return ""
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if strings.Contains(n.Value, "{{") {
			return path
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if found := templateBelow(n.Content[i+1], strings.TrimPrefix(path+"."+n.Content[i].Value, ".")); found != "" {
				return found
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if found := templateBelow(item, path+"[]"); found != "" {
				return found
			}
		}
	}
	return ""
}

var (
	paramLine  = regexp.MustCompile(`(?m)^\s*##?\s*@(?:param|extra)\s+(\S+)\s+(?:\[[^\]]*\]\s*)?(.*)$`)
	valueTag   = regexp.MustCompile(`^\([^)]*\)\s*`)
	looksYAML  = regexp.MustCompile(`^(?:- |["']?[\w./-]+["']?:(?:\s|$))`)
	annotation = regexp.MustCompile(`(?m)^@\w+.*$`)
)

// readParams returns the descriptions of values by path, from comments of the form `## @param path
// text`.
func readParams(text string) map[string]string {
	all := map[string]string{}
	for _, m := range paramLine.FindAllStringSubmatch(text, -1) {
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all
}

// describeKey returns the description of a key of values.yaml that its comments contain.
func describeKey(key, value *yaml.Node) string {
	text := key.HeadComment
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i+2:]
	}
	if said := cleanComment(text); said != "" {
		return said
	}
	if said := cleanComment(key.LineComment); said != "" {
		return said
	}
	return cleanComment(value.LineComment)
}

// cleanComment returns the prose of a comment, without values that are commented out.
func cleanComment(comment string) string {
	var lines []string
	for line := range strings.SplitSeq(comment, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#"))
		if rest, ok := strings.CutPrefix(line, "--"); ok {
			line = valueTag.ReplaceAllString(strings.TrimSpace(rest), "")
			lines = nil
		}
		if looksYAML.MatchString(line) || strings.HasPrefix(line, "@") {
			break
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(annotation.ReplaceAllString(strings.Join(lines, "\n"), ""))
}
