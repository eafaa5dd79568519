package chart

import (
	"fmt"
	"strings"
)

// A held value is what an expression may be: any of some values of the
// resource, or a dict that a template made.
type held struct {
	uses   []*use
	fields map[string]held
}

func (h held) field(name string) held {
	out := h.fields[name]
	for _, u := range h.uses {
		out.uses = append(out.uses[:len(out.uses):len(out.uses)], u.field(name))
	}
	return out
}

func (h held) item() held {
	var out held
	for _, u := range h.uses {
		out.uses = append(out.uses, u.item())
	}
	for _, name := range sortedKeys(h.fields) {
		out = out.or(h.fields[name])
	}
	return out
}

func (h held) or(o held) held {
	out := held{uses: append(h.uses[:len(h.uses):len(h.uses)], o.uses...), fields: h.fields}
	if out.fields == nil {
		out.fields = o.fields
	}
	return out
}

// take notes that the value is taken as a whole.
func (h held) take() {
	for _, u := range h.uses {
		u.whole = true
	}
	for _, f := range h.fields {
		f.take()
	}
}

// test notes that something depends on the value.
func (h held) test() {
	for _, u := range h.uses {
		u.tested = true
	}
}

// build notes that the value is taken as a structure.
func (h held) build() {
	for _, u := range h.uses {
		u.structured = true
	}
	for _, f := range h.fields {
		f.build()
	}
}

func (h held) String() string {
	var b strings.Builder
	for _, u := range h.uses {
		fmt.Fprintf(&b, "%p ", u)
	}
	for _, name := range sortedKeys(h.fields) {
		fmt.Fprintf(&b, "%s{%s}", name, h.fields[name])
	}
	return b.String()
}
