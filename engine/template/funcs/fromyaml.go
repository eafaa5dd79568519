package funcs

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// fromYAML reads one YAML document as Kubernetes does. Integers stay exact;
// aliases, tags, a key that occurs twice and further documents are errors. It
// takes a quarter of the limit of bytes: YAML's parts need much memory while
// they are read.
func fromYAML(lim Limits, s string) (any, error) {
	if most := lim.Bytes / 4; len(s) > most {
		return nil, wrapArgument(0, fmt.Errorf("is %d bytes, more than the limit of %d for YAML", len(s), most))
	}
	if err := checkYAML(lim, s); err != nil {
		return nil, err
	}
	data, err := yaml.YAMLToJSONStrict([]byte(s))
	if err != nil {
		return nil, wrapArgument(0, notYAML(err))
	}
	return fromJSON(Limits{Bytes: len(data) + 1, Nodes: lim.Nodes}, string(data))
}

func fromYAMLArray(lim Limits, s string) (any, error) {
	return onlyList(fromYAML(lim, s))
}

// checkYAML refuses what the second parser would take: it has no limits and
// gives values, not nodes.
func checkYAML(lim Limits, s string) error {
	dec := yamlv3.NewDecoder(strings.NewReader(s))
	var doc yamlv3.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return wrapArgument(0, notYAML(err))
	}
	var more yamlv3.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return wrapArgument(0, errors.New("has more than one YAML document"))
	}
	if err := (&counter{left: lim.Nodes + 1}).countNode(&doc, 0); err != nil {
		if errors.Is(err, errNone) {
			return tooMany(lim)
		}
		return wrapArgument(0, err)
	}
	return nil
}

// countNode checks one node and those below it. Keys count as nodes, too.
func (c *counter) countNode(n *yamlv3.Node, depth int) error {
	c.left--
	switch {
	case c.left < 0:
		return errNone
	case depth > maxDepth:
		return fmt.Errorf("nests deeper than %d levels (line %d)", maxDepth, n.Line)
	case n.Kind == yamlv3.AliasNode || n.Anchor != "" || n.Tag == "!!merge":
		return fmt.Errorf("has an anchor, alias or merge key (line %d)", n.Line)
	case n.Style&yamlv3.TaggedStyle != 0:
		return fmt.Errorf("has a tag (line %d)", n.Line)
	}
	for _, below := range n.Content {
		if err := c.countNode(below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

var lineNumber = regexp.MustCompile(`line \d+`)

// notYAML keeps only the line of a parser's error: the rest may quote values.
func notYAML(err error) error {
	text := err.Error()
	what := "is not valid YAML"
	if strings.Contains(text, "already set in map") {
		what = "has a key twice"
	}
	if line := lineNumber.FindString(text); line != "" {
		what += " (" + line + ")"
	}
	return errors.New(what)
}
