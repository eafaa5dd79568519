package template

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// fillWhole returns a value that stands alone, for the document to own: it keeps its own type.
// Nothing is absent.
func (f *filler) fillWhole(h hole, k keep) (any, error) {
	if err := f.checkSealed(h); err != nil {
		return nil, err
	}
	v := h.value
	if e, ok := v.(*encoded); ok {
		v = e.value
	}
	switch q := v.(type) {
	case nil:
		return absent{origin{at: h.at}}, nil
	case quoted:
		v = q.text
	}
	s := survey{left: f.left.nodes}
	s.surveyValue(v)
	if err := f.left.takeRoom(s.nodes, s.bytes); err != nil {
		return nil, h.at.wrapError(err)
	}
	switch {
	case s.strange != "":
		return nil, h.at.errorAt("a value of type %s cannot stand in a document", s.strange)
	case s.reserved:
		return nil, h.at.errorAt(reservedKey, api.Domain)
	case s.null && k != "":
		return nil, h.at.errorAt("a part of this value is null, and without it %s would select or allow more", string(k))
	}
	return deepCopy(v), nil
}

// A survey is what there is in a value, whatever the order of its keys. It
// ends when there are more nodes than are left.
type survey struct {
	left, nodes, bytes int
	reserved, null     bool
	strange            string
}

// surveyValue adds what there is in a value.
func (s *survey) surveyValue(v any) {
	if s.nodes++; s.nodes > s.left {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		s.bytes += min(len(v), 1) * mapBytes
		for key, item := range v {
			s.bytes += len(key)
			s.reserved = s.reserved || api.Reserved(key)
			s.surveyValue(item)
		}
	case []any:
		for _, item := range v {
			s.surveyValue(item)
		}
	case string:
		s.bytes += len(v)
	case nil:
		s.null = true
	case bool, int64, float64:
	default:
		s.strange = max(s.strange, fmt.Sprintf("%T", v))
	}
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = deepCopy(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = deepCopy(item)
		}
		return out
	}
	return v
}

// fillText puts values into a text.
func (f *filler) fillText(n *node) (string, error) {
	var b strings.Builder
	for _, p := range n.parts {
		if p.hole < 0 {
			b.WriteString(p.text)
			continue
		}
		h := f.holes[p.hole]
		if err := f.checkSealed(h); err != nil {
			return "", err
		}
		s, err := textOf(h.value, f.left.lim)
		if err != nil {
			return "", h.at.wrapError(err)
		}
		more := 0
		if n.block != 0 {
			more = strings.Count(s, "\n") * len(p.lead)
		}
		if most := f.left.lim.Bytes; b.Len()+len(s)+more > most {
			return "", h.at.errorAt("the text is longer than %d bytes: %w", most, ErrBudget)
		}
		if more > 0 {
			s = leadLines(s, p.lead)
		}
		b.WriteString(s)
	}
	if err := f.left.takeRoom(0, b.Len()); err != nil {
		return "", f.errorAt(n, "%w", err)
	}
	return chompText(b.String(), n.block), nil
}

// leadLines gives every further line of a text its leading blanks. What follows the last line break
// is no line of the text.
func leadLines(s, lead string) string {
	lines := strings.TrimRight(s, "\n")
	return strings.ReplaceAll(lines, "\n", "\n"+lead) + s[len(lines):]
}

// chompText gives the text of a block scalar the trailing line breaks that its header asks for.
func chompText(s string, block byte) string {
	switch block {
	case '-':
		return strings.TrimRight(s, "\n")
	case 'c':
		trimmed := strings.TrimRight(s, "\n")
		if trimmed != "" && trimmed != s {
			return trimmed + "\n"
		}
		return trimmed
	}
	return s
}
