package funcs

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

var yamlFuncs = map[string]any{
	"toYaml": toYAML, "mustToYaml": toYAML,
	"toYamlPretty":  toPrettyYAML,
	"fromYaml":      fromYAML,
	"fromYamlArray": fromYAMLArray,
}

// toYAML gives the YAML that kubectl and Helm write: sigs.k8s.io/yaml's, but
// for U+007F and U+0085, which that refuses and turns into a blank. It has no
// line break at its end. Nothing gives no text.
func toYAML(lim Limits, v any) (string, error) {
	return encodeYAML(lim, v, func(w *narrow, v any) error {
		enc := yamlv2.NewEncoder(w)
		if err := enc.Encode(v); err != nil {
			return err
		}
		return enc.Close()
	})
}

// YAML writes a JSON value as YAML, as toYaml does, but of any size and with a line
// break at its end. It is read back as the same value, whatever characters its
// texts have. Only what is no JSON value is an error.
func YAML(v any) ([]byte, error) {
	text, err := toYAML(Limits{Bytes: math.MaxInt - 1, Nodes: math.MaxInt}, v)
	return []byte(text + "\n"), err
}

// toPrettyYAML also indents the items of lists, as Helm's function does.
func toPrettyYAML(lim Limits, v any) (string, error) {
	return encodeYAML(lim, v, func(w *narrow, v any) error {
		enc := yamlv3.NewEncoder(w)
		enc.SetIndent(2)
		if err := enc.Encode(v); err != nil {
			return err
		}
		return enc.Close()
	})
}

func encodeYAML(lim Limits, v any, encode func(*narrow, any) error) (string, error) {
	if v == nil {
		return "", nil
	}
	if err := fitsYAML(lim, v); err != nil {
		return "", err
	}
	v, stand := withoutMerge(v)
	w := &narrow{left: lim.Bytes + 1} // the last line break goes
	err := encode(w, plainNumbers(v))
	if w.left < 0 {
		return "", tooLong(math.MaxInt, lim)
	}
	if err != nil {
		return "", wrapArgument(0, errors.New("cannot be YAML"))
	}
	text := strings.TrimSuffix(w.String(), "\n")
	if stand != "" {
		text = strings.ReplaceAll(text, stand, strconv.Quote(mergeKey))
	}
	return text, fitsBytes(len(text), lim)
}

// mergeKey is the key that, written plainly, puts another map in its place. The
// libraries quote it neither as a key nor as a value.
const mergeKey = "<<"

// withoutMerge gives a value with another word for that key, one that stands
// nowhere else in it; stand is "" where it does not occur.
func withoutMerge(v any) (out any, stand string) {
	if !anyText(v, func(text string) bool { return text == mergeKey }) {
		return v, ""
	}
	stand = mergeKey + "_"
	for anyText(v, func(text string) bool { return strings.Contains(text, stand) }) {
		stand += "_"
	}
	return renameMergeKey(v, stand), stand
}

// anyText reports whether some text or key of a value is so.
func anyText(v any, is func(text string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return anyText(item, is) })
	case map[string]any:
		for key, item := range v {
			if is(key) || anyText(item, is) {
				return true
			}
		}
	}
	return false
}

// renameMergeKey is a value with another word for the merge key.
func renameMergeKey(v any, stand string) any {
	switch v := v.(type) {
	case string:
		if v == mergeKey {
			return stand
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = renameMergeKey(item, stand)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if key == mergeKey {
				key = stand
			}
			out[key] = renameMergeKey(item, stand)
		}
		return out
	}
	return v
}

// fitsYAML checks the nodes, and the bytes as JSON without marks, which is
// about the least that YAML takes.
func fitsYAML(lim Limits, v any) error {
	if err := fitsNodes(lim, v); err != nil {
		return err
	}
	c := textCounter{left: lim.Bytes}
	if c.countText(v); c.left < 0 {
		return tooLong(math.MaxInt, lim)
	}
	return nil
}

// A textCounter counts down what a value takes in any text: its strings, keys
// and a byte for every other part.
type textCounter struct{ left int }

func (c *textCounter) countText(v any) {
	if c.left < 0 {
		return
	}
	c.left--
	switch v := v.(type) {
	case string:
		c.left -= len(v) - 1
	case []any:
		for _, item := range v {
			c.countText(item)
		}
	case map[string]any:
		for key, item := range v {
			c.left -= len(key) + 1
			c.countText(item)
		}
	}
}

// A narrow is a buffer that takes only so many bytes. It ends an encoder that
// writes more, however deep its indentation multiplies lines.
type narrow struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("no bytes are left")

func (w *narrow) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return w.Buffer.Write(p)
}

// plainNumbers copies a value as it is after a way through JSON, which is what
// sigs.k8s.io/yaml writes: 1e15 is an integer, and broken text is mended.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		return shortenNumber(v)
	case string:
		return string([]rune(v))
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plainNumbers(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[string([]rune(key))] = plainNumbers(item)
		}
		return out
	}
	return v
}

// shortenNumber gives a number as an integer where JSON writes it as one. Digits
// beyond a float's precision are zeros, as JSON has them.
func shortenNumber(f float64) any {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<64 {
		return f
	}
	digits := strconv.FormatFloat(f, 'f', -1, 64)
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return n
	}
	return f
}
