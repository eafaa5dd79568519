package chart

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeAt is the node of values.yaml at a path, or nil.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		n = below(n, name)
	}
	return n
}

func below(n *yaml.Node, name string) *yaml.Node {
	n = resolved(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolved(n.Content[i+1])
		}
	}
	return nil
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// templateBelow is the path of a text at or below a node that is a template,
// or "".
func templateBelow(n *yaml.Node, path string) string {
	n = resolved(n)
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

// params are the descriptions of values by path that comments give as
// `## @param path text`.
func params(text string) map[string]string {
	all := map[string]string{}
	for _, m := range paramLine.FindAllStringSubmatch(text, -1) {
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all
}

// description is what the comments at a key of values.yaml say of it.
func description(key, value *yaml.Node) string {
	text := key.HeadComment
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i+2:]
	}
	if said := clean(text); said != "" {
		return said
	}
	if said := clean(key.LineComment); said != "" {
		return said
	}
	return clean(value.LineComment)
}

// clean is the prose of a comment; a commented-out value is none.
func clean(comment string) string {
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
