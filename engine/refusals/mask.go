package refusals

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// shortest is the shortest value that is searched for in a message: anything
// shorter stands in too many words.
const shortest = 3

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	plainName  = regexp.MustCompile(`^"[A-Za-z0-9./:_-]*"$`)
	word       = regexp.MustCompile(`[\pL\pN]+`)
	// goValue reaches to the end: nobody can tell where such a value ends.
	goValue = regexp.MustCompile(`(?s)got &.*$`)
)

// maskQuotes removes quoted texts that are more than a name, and what a typed patch error
// prints of Go values, since they may be values of the document.
func maskQuotes(message string) string {
	message = goValue.ReplaceAllString(message, "got something else")
	return quotedText.ReplaceAllStringFunc(message, func(q string) string {
		if len(q) <= 66 && plainName.MatchString(q) {
			return q
		}
		return `"…"`
	})
}

// cleanField removes the values of a document, above all its own, from the text of a field.
func cleanField(f Field, document map[string]any) Field {
	f.Text = removeValue(removeValues(f.Text, document), textAt(document, f.Path))
	return f
}

// removeValues removes the values of a document from a text.
func removeValues(text string, document map[string]any) string {
	for _, secret := range secretValues(document) {
		text = removeValue(text, secret)
	}
	if strings.HasPrefix(text, unsupported) { // what follows are the supported ones
		return text
	}
	for _, value := range valuesOf(document) {
		text = removeWholeValue(text, value)
	}
	return text
}

// sortLongest puts the longest texts first: one may be part of another.
func sortLongest(all []string) []string {
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// valuesOf are the values of a document. Names are none, nor the names of items of
// lists, by which these are told apart; nor is what the engine itself wrote.
func valuesOf(document map[string]any) []string {
	var all []string
	var walk func(at any, skipped ...string)
	walk = func(at any, skipped ...string) {
		switch at := at.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(at)) {
				if !slices.Contains(skipped, key) && !api.Reserved(key) {
					walk(at[key])
				}
			}
		case []any:
			for _, item := range at {
				walk(item, "name")
			}
		case nil, bool:
		default:
			all = append(all, fmt.Sprint(at))
		}
	}
	for key, at := range document {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			walk(at, "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences")
		default:
			walk(at)
		}
	}
	return sortLongest(all)
}

// secretValues returns the values of a Secret, encoded and decoded.
func secretValues(document map[string]any) []string {
	if document["kind"] != "Secret" {
		return nil
	}
	var all []string
	data, _ := document["data"].(map[string]any)
	for _, v := range data {
		text, _ := v.(string)
		if meant, err := base64.StdEncoding.DecodeString(text); err == nil {
			all = append(all, string(meant))
		}
		all = append(all, text)
	}
	return sortLongest(all)
}

// textAt is the text at a path, or "".
func textAt(document map[string]any, path []any) string {
	text, _ := valueAt(document, path).(string)
	return text
}

func valueAt(document map[string]any, path []any) any {
	var at any = document
	for _, step := range path {
		at = stepInto(at, step)
	}
	return at
}

// removeValue removes a value of the document from what the server says of it, and every word
// of the value: some messages quote it in parts. What the server lists as supported stays
// readable.
func removeValue(message, value string) string {
	if len(value) < shortest {
		return message
	}
	message = strings.ReplaceAll(message, value, "…")
	if strings.HasPrefix(message, unsupported) {
		return message
	}
	return word.ReplaceAllStringFunc(message, func(w string) string {
		if len(w) >= shortest && strings.Contains(value, w) {
			return "…"
		}
		return w
	})
}

// removeWholeValue removes a value from a message where it is no part of a longer word.
func removeWholeValue(message, value string) string {
	if len(value) < shortest {
		return message
	}
	var b strings.Builder
	for {
		i := strings.Index(message, value)
		if i < 0 {
			return b.String() + message
		}
		before, _ := utf8.DecodeLastRuneInString(message[:i])
		after, _ := utf8.DecodeRuneInString(message[i+len(value):])
		b.WriteString(message[:i])
		if isWordPart(before) || isWordPart(after) {
			b.WriteString(value)
		} else {
			b.WriteString("…")
		}
		message = message[i+len(value):]
	}
}

func isWordPart(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
