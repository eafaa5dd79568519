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

// fieldOf returns what is held by a field of the value.
func (h held) fieldOf(name string) held {
	out := h.fields[name]
	for _, u := range h.uses {
		out.uses = append(out.uses[:len(out.uses):len(out.uses)], u.fieldUse(name))
	}
	return out
}

// itemOf returns what is held by an item of the value.
func (h held) itemOf() held {
	var out held
	for _, u := range h.uses {
		out.uses = append(out.uses, u.itemUse())
	}
	for _, name := range sortedKeys(h.fields) {
		out = out.joinHeld(h.fields[name])
	}
	return out
}

// joinHeld returns what one or the other value holds.
func (h held) joinHeld(o held) held {
	out := held{uses: append(h.uses[:len(h.uses):len(h.uses)], o.uses...), fields: h.fields}
	if out.fields == nil {
		out.fields = o.fields
	}
	return out
}

// markWhole records that the value is taken as a whole.
func (h held) markWhole() {
	for _, u := range h.uses {
		u.whole = true
	}
	for _, f := range h.fields {
		f.markWhole()
	}
}

// markTested records that something depends on the value.
func (h held) markTested() {
	for _, u := range h.uses {
		u.tested = true
	}
}

// markStructured records that the value is taken as a structure.
func (h held) markStructured() {
	for _, u := range h.uses {
		u.structured = true
	}
	for _, f := range h.fields {
		f.markStructured()
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
