package funcs

import (
	"bytes"
	"errors"
	"math"
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
	w := &narrow{left: lim.Bytes + 1} // the last line break goes
	err := encode(w, plainNumbers(v))
	if w.left < 0 {
		return "", tooLong(math.MaxInt, lim)
	}
	if err != nil {
		return "", argument(0, errors.New("cannot be YAML"))
	}
	return strings.TrimSuffix(w.String(), "\n"), nil
}

// fitsYAML checks the nodes, and the bytes as JSON without marks, which is
// about the least that YAML takes.
func fitsYAML(lim Limits, v any) error {
	if err := fitsNodes(lim, v); err != nil {
		return err
	}
	c := textCounter{left: lim.Bytes}
	if c.count(v); c.left < 0 {
		return tooLong(math.MaxInt, lim)
	}
	return nil
}

// A textCounter counts down what a value takes in any text: its strings, keys
// and a byte for every other part.
type textCounter struct{ left int }

func (c *textCounter) count(v any) {
	if c.left < 0 {
		return
	}
	c.left--
	switch v := v.(type) {
	case string:
		c.left -= len(v) - 1
	case []any:
		for _, item := range v {
			c.count(item)
		}
	case map[string]any:
		for key, item := range v {
			c.left -= len(key) + 1
			c.count(item)
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
		return shortest(v)
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

// shortest gives a number as an integer where JSON writes it as one. Digits
// beyond a float's precision are zeros, as JSON has them.
func shortest(f float64) any {
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
