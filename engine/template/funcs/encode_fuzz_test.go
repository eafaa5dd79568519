package funcs

import (
	"encoding/json"
	"testing"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzEncode: what toYaml and toJson write is read back as it was.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{
		`null`, `"x"`, `{"a":[1,2.5,true,null,"no","1e3","~","\n","a: b","# c"," d "]}`, `[[],{},[{}]]`, `{"":"","y":"0o7","<<":1}`,
		`"\u2028\u0085\ufeff"`, `["-","?",":","|",">","!a","&a","*a","%a","@","` + "`" + `"]`, `9007199254740993`, `1e100`, `-0`, `0.1`,
		`"2024-01-01"`, `{"a":[{"<<":{"<<_":"<<__"}}],"b":"<<"}`, `["|\n x","\t"," \n"]`,
	} {
		f.Add(text)
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Table()["fromJson"].Call([]any{text}, Limits{})
		if err != nil || !json.Valid([]byte(text)) {
			return
		}
		parsed()
		for to, from := range map[string]string{"toJson": "fromJson", "toPrettyJson": "fromJson", "toRawJson": "fromJson", "toYaml": "fromYaml",
			"toYamlPretty": "fromYaml"} {
			written, err := Table()[to].Call([]any{value}, Limits{})
			if err != nil {
				continue // it grew too long
			}
			// The line break at the end goes, as in Helm, also where it is a text's.
			read, err := Table()[from].Call([]any{written.(string) + "\n"}, Limits{})
			if from == "fromYaml" && err != nil && isTop(value) {
				continue
			}
			if err != nil || !areEqual(read, readable(value)) {
				t.Fatalf("%s of %s is %q, which is read as %v (%v)", to, text, written, read, err)
			}
		}
	})
}

// readable is a value as it is read from a text of it. A float that is a whole number
// is written with the digits that tell it from other floats and with zeros, as JSON
// does. Beyond 2^53 that is another integer, and the same float.
func readable(v any) any {
	switch v := v.(type) {
	case float64:
		if n, ok := shortenNumber(v).(int64); ok && float64(n) == v {
			return n
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = readable(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = readable(item)
		}
		return out
	}
	return v
}

// isTop reports whether a value is no map, which fromYaml may refuse.
func isTop(v any) bool {
	_, found := v.(map[string]any)
	return !found
}
