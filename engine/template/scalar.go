package template

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

var (
	ambiguous = regexp.MustCompile(`^(?i:yes|no|on|off|y|n)$`)
	decimal   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	infinite  = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF|nan|NaN|NAN)$`)
)

// shapeScalar turns a scalar into a constant, a whole value or a text.
func (p *shaper) shapeScalar(out *node, n *yaml.Node) error {
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if m := wholeHole.FindStringSubmatch(n.Value); m != nil && plain {
		out.kind = holeNode
		out.hole, _ = strconv.Atoi(m[2])
		out.block = holeBlock(m[1])
		return nil
	}
	if strings.ContainsFunc(n.Value, isHole) {
		out.kind = textNode
		out.parts = textParts(n.Value)
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			out.block = p.chompingOf(n)
		}
		return nil
	}
	if !plain {
		out.value = n.Value
		return nil
	}
	v, err := parseLiteral(n.Value)
	if err != nil {
		return p.errorAt(n, "%w", err)
	}
	out.value = v
	if v == nil {
		out.kind = emptyNode
	}
	return nil
}

// holeBlock marks a hole that gives items to a list.
func holeBlock(h string) byte {
	if h == holeList {
		return 'l'
	}
	return 0
}

// shapeKey turns a key into a constant or a text.
func (p *shaper) shapeKey(out *node, n *yaml.Node) error {
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if strings.ContainsFunc(n.Value, isHole) {
		out.kind, out.parts = textNode, textParts(n.Value)
		out.bare = plain && len(out.parts) == 1
		return nil
	}
	out.value = n.Value
	if !plain {
		return nil
	}
	if n.Value == "<<" {
		return p.errorAt(n, "YAML merge keys are not allowed")
	}
	v, err := parseLiteral(n.Value)
	if err != nil {
		return p.errorAt(n, "%w", err)
	}
	switch v := v.(type) {
	case nil:
		return p.errorAt(n, "a key must be a text, not nothing")
	case string:
	case float64:
		out.value = formatFloat(v)
	default:
		out.value = fmt.Sprint(v)
	}
	return nil
}

// parseLiteral returns what kubectl makes of a plain scalar (sigs.k8s.io/yaml), except that words
// which YAML 1.1 takes for booleans are errors.
func parseLiteral(text string) (any, error) {
	if ambiguous.MatchString(text) {
		return nil, fmt.Errorf("%s is a boolean to some and a text to others: quote it, or write true or false", text)
	}
	if !mayBeNumber(text) && !mayBeSpecial(text) {
		return text, nil
	}
	if infinite.MatchString(text) {
		return nil, fmt.Errorf("the number %s cannot be written in JSON", text)
	}
	asJSON, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return text, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(asJSON)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading %s: %w", text, err)
	}
	switch v := v.(type) {
	case json.Number:
		return parseNumber(text, string(v))
	case bool, nil:
		return v, nil
	}
	if decimal.MatchString(text) {
		return nil, fmt.Errorf("the number %s is too large", text)
	}
	return text, nil
}

// mayBeNumber reports whether a plain scalar may be a number.
func mayBeNumber(text string) bool {
	return text != "" && len(text) < 400 && strings.IndexByte("0123456789+-.", text[0]) >= 0
}

// mayBeSpecial reports whether a plain scalar may be a boolean or null.
func mayBeSpecial(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "null", "~", "":
		return true
	}
	return false
}

// parseNumber returns a number as int64 or float64.
func parseNumber(text, n string) (any, error) {
	if i, err := strconv.ParseInt(n, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || math.IsInf(f, 0) || (!strings.ContainsAny(text, ".eE") && math.Abs(f) >= 1<<63) {
		return nil, fmt.Errorf("the number %s is too large", text)
	}
	return f, nil
}

// textParts cuts a text at its holes.
func textParts(text string) []part {
	var parts []part
	end, line := 0, 0
	for _, m := range holeIn.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > end {
			parts = append(parts, part{text: text[end:m[0]], hole: -1})
		}
		group := 2
		for m[group] < 0 {
			group += 2
		}
		if i := strings.LastIndexByte(text[end:m[0]], '\n'); i >= 0 {
			line = end + i + 1
		}
		n, _ := strconv.Atoi(text[m[group]:m[group+1]])
		parts = append(parts, part{hole: n, lead: blanksOf(text[line:m[0]])})
		end = m[1]
	}
	if end < len(text) {
		parts = append(parts, part{text: text[end:], hole: -1})
	}
	return parts
}

// holeIn finds a hole with what made it valid YAML where it stood.
var holeIn = regexp.MustCompile(`\x{E000}(\d+)\x{E003}|\x{E001}(\d+)\x{E003}(?:: 0)?|(?:- )?\x{E002}(\d+)\x{E003}`)

// blanksOf is the leading blanks of a line.
func blanksOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

// chompingOf reads the header of a block scalar: '-', '+' or 'c' for none.
func (p *shaper) chompingOf(n *yaml.Node) byte {
	if n.Line > len(p.lines) {
		return 'c'
	}
	line := []rune(p.lines[n.Line-1])
	header := strings.TrimLeft(string(line[min(n.Column-1, len(line)):]), "|>123456789")
	if header != "" && (header[0] == '-' || header[0] == '+') {
		return header[0]
	}
	return 'c'
}
