package refusals

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

var (
	invalidValue = regexp.MustCompile(`(?s)^(Invalid value|Unsupported value|Duplicate value|Too long|Forbidden|Required value)(?::\s*(.*))?$`)
	typedField   = regexp.MustCompile(`(?s)` + typedPatch + ` \(.*?\): (?:errors:\s*)?(.*)$`)
	fieldLine    = regexp.MustCompile(`^\s*(\.[^:]+): (.*)$`)
	duplicateKey = regexp.MustCompile(`^(duplicate entries for key) \[(.*)\]$`)
	strictField  = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)
)

// unsupported is how the server begins the list of the values that it supports.
const unsupported = "Unsupported value"

// unchecked is the field of a cause by which the server of a CRD says that it did not
// look at the rest.
const unchecked = "<nil>"

// listFields returns the refused fields that the causes of an Invalid answer name, the text of a
// typed patch error, or that of strict decoding.
func listFields(s metav1.Status, document map[string]any) []Field {
	var out []Field
	if s.Details != nil && (s.Code == unprocessable || s.Code == 409) {
		for _, c := range s.Details.Causes {
			if c.Field != unchecked {
				field := Field{Path: parsePath(c.Field, document), Text: describeCause(c.Message),
					IsDuplicate: c.Type == metav1.CauseTypeFieldValueDuplicate}
				out = append(out, cleanField(field, document))
			}
		}
	}
	if m := typedField.FindStringSubmatch(s.Message); m != nil {
		for _, line := range strings.Split(m[1], "\n") {
			if f := fieldLine.FindStringSubmatch(line); f != nil {
				field := Field{Path: parsePath(strings.TrimPrefix(f[1], "."), document), Text: maskQuotes(f[2])}
				out = append(out, cleanField(findDuplicate(field, document), document))
			}
		}
	}
	for _, m := range strictField.FindAllStringSubmatch(s.Message, -1) {
		out = append(out, Field{Path: parsePath(m[2], document), Text: m[1] + " field"})
	}
	return out
}

// findDuplicate returns the second of two entries with the same key, for the field of a list.
// The entries of a set are values, so they are left out.
func findDuplicate(f Field, document map[string]any) Field {
	m := duplicateKey.FindStringSubmatch(f.Text)
	list, _ := valueAt(document, f.Path).([]any)
	if m == nil || list == nil {
		return f
	}
	value, isSet := strings.CutPrefix(m[2], "=")
	if isSet {
		f.Text = m[1]
	}
	found := false
	for i, item := range list {
		keys, _ := item.(map[string]any)
		if same := keys != nil && hasKeys(keys, m[2]) || isSet && fmt.Sprint(item) == strings.Trim(value, `"`); same && found {
			f.Path = append(f.Path, i)
			break
		} else if same {
			found = true
		}
	}
	return f
}

// describeCause returns what the server says of a field, without the value. After the first line
// there is a diff, with values, of what was and what was sent.
func describeCause(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	m := invalidValue.FindStringSubmatch(message)
	if m == nil {
		return maskQuotes(message)
	}
	rest := m[2]
	if after, found := cutValue(rest); found {
		rest = after
	} else if i := strings.LastIndex(rest, ": "); i >= 0 && m[1] != "Forbidden" && m[1] != "Required value" {
		rest = rest[i+2:]
	}
	if m[1] == unsupported { // what follows are the supported ones
		return strings.TrimSpace(m[1] + " " + rest)
	}
	if rest == "" {
		return m[1]
	}
	rest, _, _ = strings.Cut(rest, " (e.g. ")
	return fmt.Sprintf("%s: %s", m[1], maskQuotes(rest))
}

// cutValue removes the value, quoted or JSON, from the beginning of what the server says.
func cutValue(text string) (rest string, found bool) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return strings.TrimPrefix(strings.TrimPrefix(text, quoted), ": "), true
	}
	value := json.NewDecoder(strings.NewReader(text))
	if err := value.Decode(new(any)); err != nil {
		return text, false
	}
	return strings.CutPrefix(text[value.InputOffset():], ": ")
}

// quoteMatch takes what the pattern matched. It is by others, and may quote what was
// sent.
func quoteMatch(a refused) explanation { return explanation{text: a.cleanText(a.match[0])} }

// explainBase64 finds the values that are not base64: the server names none.
func explainBase64(a refused) explanation {
	remedy := "print it with b64enc"
	if a.document["kind"] == "Secret" {
		remedy += ", or as it is under stringData"
	}
	return explanation{text: "a value is not base64", fields: findUnconvertible(a.document, "it is not base64"), remedy: remedy}
}

// explainConversion finds the values that do not fit their type.
func explainConversion(a refused) explanation {
	text := a.cleanText(a.match[1])
	return explanation{text: text, fields: findUnconvertible(a.document, text)}
}

// findUnconvertible returns the values of a document of a built-in kind that do not fit their
// type, each with the same text.
func findUnconvertible(document map[string]any, text string) []Field {
	apiVersion, _ := document["apiVersion"].(string)
	kind, _ := document["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	var all []Field
	eachLeaf(document, nil, func(path []any, leaf any) {
		alone := leaf
		for _, step := range slices.Backward(path) {
			if name, is := step.(string); is {
				alone = map[string]any{name: alone}
			} else {
				alone = []any{alone}
			}
		}
		encoded, err := json.Marshal(alone)
		into, unknown := scheme.Scheme.New(gvk)
		if err == nil && unknown == nil && json.Unmarshal(encoded, into) != nil {
			all = append(all, Field{Path: slices.Clone(path), Text: text})
		}
	})
	return all
}

// eachLeaf calls a function with each value of a document, in the order of their names.
func eachLeaf(at any, path []any, call func(path []any, leaf any)) {
	switch at := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(at)) {
			eachLeaf(at[key], append(path, key), call)
		}
	case []any:
		for i, item := range at {
			eachLeaf(item, append(path, i), call)
		}
	default:
		call(path, at)
	}
}

// explainLabels finds the labels whose keys or values are refused: the server names the
// map that they are in, and quotes them.
func explainLabels(a refused) explanation {
	if a.Details == nil {
		return explanation{}
	}
	var out []Field
	for _, c := range a.Details.Causes {
		f := cleanField(Field{Path: parsePath(c.Field, a.document), Text: describeCause(c.Message)}, a.document)
		_, quoted, _ := strings.Cut(c.Message, ": ")
		quoted, _ = strconv.QuotedPrefix(quoted)
		refused, _ := strconv.Unquote(quoted)
		labels, _ := valueAt(a.document, f.Path).(map[string]any)
		found := false
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			if refused != "" && (key == refused || labels[key] == refused) {
				found = true
				out = append(out, Field{Path: append(slices.Clone(f.Path), key), Text: f.Text})
			}
		}
		if !found {
			out = append(out, f)
		}
	}
	return explanation{fields: out}
}

// explainQuota says which amounts a quota has no room for. What was asked for is left
// out: it is in the document.
func explainQuota(a refused) explanation {
	used, limited := parseAmounts(a.match[3]), parseAmounts(a.match[4])
	var short []string
	var fields []Field
	for _, name := range slices.Sorted(maps.Keys(parseAmounts(a.match[2]))) {
		short = append(short, fmt.Sprintf("%s (%s of %s used)", name, used[name], limited[name]))
		fields = append(fields, resourceFields(a.document, name)...)
	}
	text := fmt.Sprintf("the ResourceQuota %s has no room for more %s", a.match[1], strings.Join(short, ", "))
	for i := range fields {
		fields[i].Text = text
	}
	return explanation{text: text, fields: fields, remedy: "raise the quota, or let the child ask for less"}
}

// parseAmounts reads "pods=1,requests.memory=1Gi".
func parseAmounts(text string) map[string]string {
	all := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		name, amount, _ := strings.Cut(pair, "=")
		all[name] = amount
	}
	return all
}

// explainUnlimited says which containers lack a request or limit that a quota demands.
func explainUnlimited(a refused) explanation {
	var out []Field
	for _, part := range strings.Split(a.match[2], ";") {
		names, containers, _ := strings.Cut(strings.TrimSpace(part), " for: ")
		for _, container := range strings.Split(containers, ",") {
			path := itemPath(a.document, container, "containers", "initContainers")
			for _, name := range strings.Split(names, ",") {
				if side, resource, found := strings.Cut(name, "."); found {
					out = append(out, Field{Path: append(slices.Clone(path), "resources", side, resource),
						Text: "the ResourceQuota " + a.match[1] + " demands it"})
				}
			}
		}
	}
	return explanation{text: a.cleanText(a.match[0]), fields: out, remedy: "write it, or have a LimitRange with a default"}
}

// itemPath is where a Pod has the container or volume of that name; else its spec.
func itemPath(document map[string]any, name string, lists ...string) []any {
	spec, _ := document["spec"].(map[string]any)
	for _, list := range lists {
		all, _ := spec[list].([]any)
		for i, item := range all {
			if m, _ := item.(map[string]any); m["name"] == name {
				return []any{"spec", list, i}
			}
		}
	}
	return []any{"spec"}
}

var (
	securityControl = regexp.MustCompile(`([^(),][^()]*) \(([^()]*)\)`)
	securitySubject = regexp.MustCompile(`^(?:pod or )?(container|volume)s? ((?:"[^"]*"(?:, )?)+) (.*)$`)
	quotedName      = regexp.MustCompile(`"([^"]*)"`)
)

// explainPodSecurity says of each container and volume what Pod Security demands.
func explainPodSecurity(a refused) explanation {
	var out []Field
	add := func(path []any, text string) {
		i := slices.IndexFunc(out, func(f Field) bool { return slices.Equal(f.Path, path) })
		if i < 0 {
			out = append(out, Field{Path: path, Text: text})
			return
		}
		out[i].Text += ", " + text
	}
	for _, control := range securityControl.FindAllStringSubmatch(a.match[2], -1) {
		for _, part := range strings.Split(control[2], "; ") {
			subject := securitySubject.FindStringSubmatch(part)
			if subject == nil {
				add([]any{"spec"}, a.cleanText(part))
				continue
			}
			for _, name := range quotedName.FindAllStringSubmatch(subject[2], -1) {
				lists := map[string][]string{"container": {"containers", "initContainers"}, "volume": {"volumes"}}[subject[1]]
				add(itemPath(a.document, name[1], lists...), a.cleanText(subject[3]))
			}
		}
	}
	return explanation{text: a.match[1], fields: out,
		remedy: "it " + a.match[1] + ": change the Pod, or the label pod-security.kubernetes.io/enforce of the namespace"}
}

// explainLimitRange says which amounts a LimitRange refuses, without them.
func explainLimitRange(a refused) explanation {
	e := explanation{text: a.match[1]}
	for _, side := range []string{"requests.", "limits."} {
		e.fields = append(e.fields, resourceFields(a.document, side+a.match[2])...)
	}
	for i := range e.fields {
		e.fields[i].Text = e.text
	}
	return e
}

// resourceFields are the fields of a document that ask for a resource, such as
// requests.memory.
func resourceFields(document map[string]any, name string) []Field {
	side, resource, _ := strings.Cut(name, ".")
	var all []Field
	eachLeaf(document, nil, func(path []any, _ any) {
		if n := len(path); n > 2 && path[n-3] == "resources" && path[n-2] == side && path[n-1] == resource {
			all = append(all, Field{Path: slices.Clone(path)})
		}
	})
	return all
}

// explainReference says that what a field of a Pod's spec names is not there.
func explainReference(name, text string) func(refused) explanation {
	return func(refused) explanation {
		return explanation{text: text, fields: []Field{{Path: []any{"spec", name}, Text: text}}}
	}
}
