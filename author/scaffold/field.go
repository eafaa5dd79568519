package scaffold

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A field is a part of the spec of a kind in the making: a group of fields, or
// a leaf that was lifted out of a manifest.
type field struct {
	name string
	note string
	// kids are the fields of a group.
	kids []*field
	// schema is the rest of a leaf's schema: its type and bounds.
	schema map[string]any
	// value is what the manifest says: the default, or where that would be
	// wrong for a second resource (required), what the example says.
	value    any
	required bool
	// shown says that the example says it although it is the default.
	shown bool
}

// ensureGroup returns the group of that name, and makes it if it is not there.
func (f *field) ensureGroup(name, note string) *field {
	for _, kid := range f.kids {
		if kid.name == name && kid.schema == nil {
			return kid
		}
	}
	g := &field{name: f.unusedName(name), note: note}
	f.kids = append(f.kids, g)
	return g
}

// add adds a leaf and returns its name: that of the leaf, or with a number
// behind it if another has the name. A leaf that says the same is shared.
func (f *field) add(leaf field, share bool) string {
	for _, kid := range f.kids {
		if share && kid.name == leaf.name && reflect.DeepEqual(kid.value, leaf.value) && kid.schema != nil {
			return kid.name
		}
	}
	leaf.name = f.unusedName(leaf.name)
	f.kids = append(f.kids, &leaf)
	return leaf.name
}

// unusedName returns the name, with a number if it is taken.
func (f *field) unusedName(name string) string {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try += strconv.Itoa(n)
		}
		if !slices.ContainsFunc(f.kids, func(kid *field) bool { return kid.name == try }) {
			return try
		}
	}
}

// isNeeded reports whether a resource must set the field or a field below it.
func (f *field) isNeeded() bool {
	return f.required || slices.ContainsFunc(f.kids, (*field).isNeeded)
}

// openAPI is its schema as a CRD has it.
func (f *field) openAPI() map[string]any {
	s := map[string]any{}
	if f.note != "" {
		s["description"] = f.note
	}
	if f.schema != nil {
		for key, v := range f.schema {
			s[key] = v
		}
		if !f.required {
			s["default"] = f.value
		}
		return s
	}
	s["type"] = "object"
	if len(f.kids) == 0 {
		return s
	}
	properties, required := map[string]any{}, []any{}
	for _, kid := range f.kids {
		properties[kid.name] = kid.openAPI()
		if kid.isNeeded() {
			required = append(required, kid.name)
		}
	}
	s["properties"] = properties
	if len(required) > 0 {
		s["required"] = required
	} else {
		s["default"] = map[string]any{}
	}
	return s
}

// exampleValue returns what an example resource has here: all fields that are needed, and those
// that are to be seen.
func (f *field) exampleValue() any {
	if f.schema != nil {
		return f.value
	}
	said := map[string]any{}
	for _, kid := range f.kids {
		if kid.shown || kid.isNeeded() {
			said[kid.name] = kid.exampleValue()
		}
	}
	return said
}

// camelCase makes the name of a field out of words. It consists of letters and digits, and starts
// with a small letter.
func camelCase(words ...string) string {
	var b strings.Builder
	foreign := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range strings.FieldsFunc(strings.Join(words, "-"), foreign) {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		first := strings.ToUpper(word[:1])
		if b.Len() == 0 {
			first = strings.ToLower(first)
		}
		b.WriteString(first + word[1:])
	}
	name := b.String()
	if name == "" || unicode.IsDigit(rune(name[0])) {
		return "n" + name
	}
	return name
}
