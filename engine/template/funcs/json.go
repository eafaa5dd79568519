package funcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var jsonFuncs = map[string]any{
	"toJson": toJSON, "mustToJson": toJSON,
	"toPrettyJson": toPrettyJSON, "mustToPrettyJson": toPrettyJSON,
	"toRawJson": toRawJSON, "mustToRawJson": toRawJSON,
	"fromJson": fromJSON, "mustFromJson": fromJSON,
	"fromJsonArray": fromJSONArray,
}

func toJSON(lim Limits, v any) (string, error) { return encodeJSON(lim, v, "", true) }

func toPrettyJSON(lim Limits, v any) (string, error) { return encodeJSON(lim, v, "  ", true) }

// toRawJSON leaves <, > and & as they are.
func toRawJSON(lim Limits, v any) (string, error) { return encodeJSON(lim, v, "", false) }

func encodeJSON(lim Limits, v any, indent string, escapeHTML bool) (string, error) {
	m := jsonMeter{left: lim.Bytes, indent: len(indent), html: escapeHTML}
	if err := m.takeValue(v, 1); err != nil {
		if errors.Is(err, errDeep) {
			return "", err
		}
		return "", tooLong(int(^uint(0)>>1), lim)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return "", wrapArgument(0, errors.New("cannot be JSON"))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

var errTrailing = errors.New("has more than one value")

// fromJSON reads one JSON value. Integers stay exact; a key that occurs twice,
// an integer that neither 64 bits nor a float hold and an infinite number are
// errors.
func fromJSON(lim Limits, s string) (any, error) {
	if len(s) > lim.Bytes {
		return nil, wrapArgument(0, fmt.Errorf("is %d bytes, more than the limit of %d", len(s), lim.Bytes))
	}
	d := &jsonReader{Decoder: json.NewDecoder(strings.NewReader(s)), left: lim.Nodes}
	d.UseNumber()
	v, err := d.readValue(1)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errTrailing
		}
	}
	if errors.Is(err, errNone) {
		return nil, tooMany(lim)
	}
	if err != nil {
		return nil, wrapArgument(0, err)
	}
	return v, nil
}

func fromJSONArray(lim Limits, s string) (any, error) {
	v, err := fromJSON(lim, s)
	return onlyList(v, err)
}

func onlyList(v any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if _, ok := v.([]any); !ok && v != nil {
		return nil, wrapArgument(0, errors.New("must be text of a list, got one of "+kindName(v)))
	}
	return ifNil([]any{}, v), nil
}

// A jsonReader reads a value token by token and counts nodes.
type jsonReader struct {
	*json.Decoder
	left int
}

func (d *jsonReader) readValue(depth int) (any, error) {
	d.left--
	if d.left < 0 {
		return nil, errNone
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nests deeper than %d levels", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("is not valid JSON (after byte %d)", d.InputOffset())
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return d.readObject(depth)
		}
		return d.readArray(depth)
	case json.Number:
		return readNumber(token.String())
	}
	return token, nil // nil, bool or string
}

func (d *jsonReader) readObject(depth int) (any, error) {
	out := map[string]any{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("is not valid JSON (after byte %d)", d.InputOffset())
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("has a key twice (byte %d)", d.InputOffset())
		}
		if out[key], err = d.readValue(depth + 1); err != nil {
			return nil, err
		}
	}
	return out, d.close()
}

func (d *jsonReader) readArray(depth int) (any, error) {
	out := []any{}
	for d.More() {
		v, err := d.readValue(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, d.close()
}

func (d *jsonReader) close() error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("is not valid JSON (after byte %d)", d.InputOffset())
	}
	return nil
}

// readNumber reads a JSON number: an integer if it is written as one, and a float if
// that is beyond 64 bits and the very number that encoding/json writes so.
func readNumber(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == s {
			return f, nil
		}
		return nil, errors.New("has an integer beyond 64 bits")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, errors.New("has a number beyond 64 bits")
	}
	return f, nil
}
