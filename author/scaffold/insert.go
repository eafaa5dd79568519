package scaffold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// A supply adds entries to the maps of a text of YAML, and leaves all else as
// it is.
type supply struct {
	lines     []string // with their ends
	additions []addition
}

// An addition is text in front of a line and column, both from 0; columns count
// characters.
type addition struct {
	line, column int
	text         string
}

// add adds what wanted says and n does not; false where n says otherwise.
func (s *supply) add(n, wanted *node) (bool, error) {
	if n.Kind != yamlv3.MappingNode {
		return false, nil
	}
	fresh := &node{Kind: yamlv3.MappingNode, Tag: "!!map"}
	for i := 0; i < len(wanted.Content); i += 2 {
		key, value := wanted.Content[i], wanted.Content[i+1]
		there := findNode(n, key.Value)
		switch {
		case there == nil:
			fresh.Content = append(fresh.Content, key, value)
		case value.Kind == yamlv3.MappingNode:
			if fits, err := s.add(there, value); !fits {
				return false, err
			}
		case key.Value == "type" && there.Value != value.Value:
			return false, nil
		}
	}
	if len(fresh.Content) == 0 {
		return true, nil
	}
	return true, s.insertEntries(n, fresh)
}

// insertEntries puts the entries of fresh into a map, in front of its last one.
func (s *supply) insertEntries(n, fresh *node) error {
	if n.Style&yamlv3.FlowStyle != 0 {
		text, err := json.Marshal(valueOf(fresh))
		if err != nil {
			return fmt.Errorf("printing what is added: %w", err)
		}
		within := string(text[1 : len(text)-1])
		if len(n.Content) == 0 {
			s.additions = append(s.additions, addition{n.Line - 1, n.Column, within})
			return nil
		}
		last := n.Content[len(n.Content)-2]
		s.additions = append(s.additions, addition{last.Line - 1, last.Column - 1, within + ", "})
		return nil
	}
	text, err := printNode(fresh)
	if err != nil {
		return fmt.Errorf("printing what is added: %w", err)
	}
	last := n.Content[len(n.Content)-2]
	a := addition{line: last.Line - 1, column: last.Column - 1}
	text = indentText(a.column, text) + "\n"
	if before := string([]rune(s.lines[a.line])[:a.column]); strings.TrimSpace(before) != "" { // the dash of an item
		a.text = strings.TrimLeft(text, " ") + strings.Repeat(" ", a.column)
	} else {
		for a.line > 0 && strings.HasPrefix(strings.TrimSpace(s.lines[a.line-1]), "#") { // it is about what follows
			a.line--
		}
		a.column, a.text = 0, text
	}
	s.additions = append(s.additions, a)
	return nil
}

// textWithAdditions returns the text with the additions.
func (s *supply) textWithAdditions() string {
	lines := slices.Clone(s.lines)
	slices.SortStableFunc(s.additions, func(a, b addition) int { return b.column - a.column }) // those in front move none behind
	for _, a := range s.additions {
		line := []rune(lines[a.line])
		lines[a.line] = string(line[:a.column]) + a.text + string(line[a.column:])
	}
	return strings.Join(lines, "")
}
