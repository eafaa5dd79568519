package template

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// A fragment is what `include` returns: the author's text with holes, which
// may be printed as structure because no value is in it.
type fragment struct {
	text  string
	holes []hole
	marks []mark
	// laid says that indent or nindent gave every line its place.
	laid bool
	// sealed: some hole is.
	sealed bool
}

// encoded is what toYaml and toJson return: the value itself, and the form its
// text would have.
type encoded struct {
	value any
	form  string // the pure function that gives the text: toYaml, toJson, …
	// blanks is the indentation given by indent or nindent, or -1.
	blanks  int
	newline bool // nindent
	sealed  bool
}

// asText is the form of a text that indent or nindent laid: the text itself.
const asText = ""

// quoted is what quote and squote return: a string as a whole value, and the
// string with its marks in a text or as an argument.
type quoted struct {
	text   string
	mark   string
	sealed bool
}

// errNothing is the error about nil where a text is needed.
var errNothing = errors.New("the value is nil (an absent field): give it a default, or leave the text out with `if`")

// toText returns v, or the text of v if it is printable and keeps what it is. It takes note of
// seals.
func (x *exec) toText(v any) (any, error) {
	switch p := v.(type) {
	case *sealed:
		x.taint = max(x.taint, p.as)
		return p.value, nil
	case *fragment:
		x.noteSecret(p.sealed)
		return x.chargeText(p.resolveText(x.set.limits.Functions))
	case *carrier:
		return x.textsOf(p)
	case *encoded:
		x.noteSecret(p.sealed)
		return x.chargeText(p.encodeText(x.set.limits.Functions))
	case quoted:
		x.noteSecret(p.sealed)
		return x.chargeText(p.withMarks(), nil)
	}
	return v, nil
}

// noteSecret takes note of a text with a sealed part.
func (x *exec) noteSecret(secret bool) {
	if secret {
		x.taint = sealedText
	}
}

// chargeText charges a text that was made.
func (x *exec) chargeText(text string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return text, x.chargeBytes(len(text))
}

// withMarks returns the string in its marks.
func (q quoted) withMarks() string {
	if q.mark == "'" {
		return "'" + q.text + "'"
	}
	return strconv.Quote(q.text)
}

// encodeText returns the text of toYaml or toJson.
func (e *encoded) encodeText(lim funcs.Limits) (string, error) {
	if e.value == nil && strings.Contains(strings.ToLower(e.form), "yaml") {
		return "", nil
	}
	s, err := e.encodeUnindented(lim)
	if err != nil {
		return "", err
	}
	if e.blanks >= 0 {
		name := map[bool]string{true: "nindent", false: "indent"}[e.newline]
		return callText(lim, name, int64(e.blanks), s)
	}
	return s, nil
}

// encodeUnindented returns the text without its indentation.
func (e *encoded) encodeUnindented(lim funcs.Limits) (string, error) {
	if e.form == asText {
		return e.value.(string), nil
	}
	return callText(lim, e.form, e.value)
}

// callText calls a pure function that returns a text.
func callText(lim funcs.Limits, name string, args ...any) (string, error) {
	v, err := funcs.Table()[name].Call(args, lim)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s gives %s, not a text", name, describeType(v))
	}
	return s, nil
}

// resolveText puts the values into the fragment's text.
func (f *fragment) resolveText(lim funcs.Limits) (string, error) {
	var b strings.Builder
	rest := f.text
	for _, h := range f.holes {
		i := strings.IndexFunc(rest, isHole)
		r := rest[i : i+holeSize]
		s, err := textOf(h.value, lim)
		if err != nil && (f.text != r || !errors.Is(err, errNothing)) { // a lone nil is an empty text
			return "", h.at.wrapError(err)
		}
		b.WriteString(strings.TrimSuffix(rest[:i], holeLead(r)))
		b.WriteString(s)
		rest = strings.TrimPrefix(rest[i+holeSize:], holeTail(r))
		if b.Len() > lim.Bytes {
			return "", fmt.Errorf("the text is longer than %d bytes: %w", lim.Bytes, ErrBudget)
		}
	}
	b.WriteString(rest)
	return b.String(), nil
}

// textOf is the text of a value that stands in a text. Maps and lists have
// none unless toYaml or toJson gave them one.
func textOf(v any, lim funcs.Limits) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errNothing
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return formatFloat(v), nil
	case quoted:
		return v.withMarks(), nil
	case *encoded:
		return v.encodeText(lim)
	}
	return "", fmt.Errorf("the value is %s and cannot be part of a text: print it as a whole value, or use toYaml or toJson", describeType(v))
}

// formatFloat writes a float as JSON does.
func formatFloat(f float64) string {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
