package template

import (
	"errors"
	"slices"
)

// A sealed value was read from a Secret, or made of what was. It may be
// written into a Secret and nowhere else. It wraps a whole value and is never
// an item of a list or a map; nothing (nil) is never sealed.
//
// Functions get plain arguments through exec.text, which takes note of the
// seal in exec.taint; what they return is sealed again. So whoever looks into
// a value by text seals his result unless he says otherwise; plain is for
// those who see to it themselves.
type sealed struct {
	value any
	as    grade
}

// A grade says what is known of a sealed value, and so which parts of it are
// no secret. Of several values the highest counts.
type grade int

const (
	notSealed      grade = iota
	sealedList           // objects as they were read, some of them Secrets
	sealedObject         // a Secret as it was read
	sealedMetadata       // its metadata
	sealedPart           // a part as it was read: its keys are no secret
	sealedText           // made by a function
)

// seal seals a value. The holes of a fragment are sealed one by
// one, also of one in a carrier.
func seal(v any, as grade) any {
	switch v := v.(type) {
	case nil, *sealed, *fragment, *carrier:
		return v
	case *encoded:
		e := *v
		e.sealed = true
		return &e
	case quoted:
		v.sealed = true
		return v
	}
	return &sealed{v, as}
}

// unseal gives what a hole holds, and whether it is sealed.
func unseal(v any) (any, bool) {
	switch v := v.(type) {
	case *sealed:
		return v.value, true
	case *encoded:
		return v, v.sealed
	case quoted:
		return v, v.sealed
	}
	return v, false
}

// plain is text for those who seal their result themselves.
func (x *exec) plain(v any) (any, error) {
	before := x.taint
	v, err := x.text(v)
	x.taint = before
	return v, err
}

func isSecret(v any) bool {
	o, ok := v.(map[string]any)
	return ok && o["apiVersion"] == "v1" && o["kind"] == "Secret"
}

// sealObject seals an object that was read if it is a Secret.
func sealObject(v any) any {
	if isSecret(v) {
		return &sealed{v, sealedObject}
	}
	return v
}

// sealObjects seals a list of objects if Secrets are among them.
func sealObjects(list []any) any {
	for _, o := range list {
		if isSecret(o) {
			return &sealed{list, sealedList}
		}
	}
	return list
}

// field is a field of a sealed map. What a Secret says of itself, annotations
// apart, is no secret.
func (s *sealed) field(name string) any {
	v := s.value.(map[string]any)[name]
	switch s.as {
	case sealedText:
		return seal(v, sealedText)
	case sealedMetadata:
		if name != "annotations" {
			return v
		}
	case sealedObject:
		switch name {
		case "apiVersion", "kind", "type":
			return v
		case "metadata":
			return seal(v, sealedMetadata)
		}
	}
	return seal(v, sealedPart)
}

// entry is what range sees of an entry or item.
func (s *sealed) entry(key, v any) (k, item any) {
	switch s.as {
	case sealedList:
		return key, sealObject(v)
	case sealedText:
		if _, text := key.(string); text {
			key = seal(key, sealedText)
		}
		return key, seal(v, sealedText)
	}
	return key, seal(v, sealedPart)
}

// opens are the functions whose results are no secret, whatever they are
// given: lengths and checksums.
var opens = map[string]bool{
	"len": true, "sha1sum": true, "sha256sum": true, "sha512sum": true, "adler32sum": true,
}

// sealResult seals what a pure function made of n arguments, the most secret
// of which was sealed as it says. Keys as they were read and answers of yes or
// no are no secret.
func sealResult(name string, n int, as grade, v any) any {
	_, answer := v.(bool)
	parts := borrows[name] || name == "pick" || name == "omit"
	switch {
	case opens[name], answer && !parts, name == "keys" && as != sealedText:
		return v
	case !parts || as == sealedText:
		return seal(v, sealedText)
	case as == sealedList:
		if _, list := v.([]any); list {
			return seal(v, sealedList)
		}
		if n <= 2 { // first, last, index: an item
			return sealObject(v)
		}
	}
	return seal(v, sealedPart)
}

// opens reports whether the value of an entry at the top of a Secret may be
// sealed.
func (e entry) opens(key string) bool {
	return e.value.depth == 2 && e.key.kind == constNode && (key == "data" || key == "stringData")
}

// refuse refuses a sealed value outside of a Secret's data.
func (f *filler) refuse(h hole) error {
	switch {
	case !h.sealed || f.open:
		return nil
	case f.secret:
		return h.at.errorf("the value was read from a Secret and may only be written into data or stringData of a Secret")
	}
	return h.at.errorf("the value was read from a Secret and may only be written into a Secret")
}

// sealed reports whether a value of the document was read from a Secret.
func (d *Document) sealed() bool {
	return slices.ContainsFunc(d.out.holes, func(h hole) bool { return h.sealed })
}

// errSealedQuestion refuses to ask for what a Secret says: what is read is
// named in messages and in the watches of the operator.
var errSealedQuestion = errors.New("what is read may not depend on a value that was read from a Secret")

// sealedMessage stands for a message with a value of a Secret.
const sealedMessage = "the message holds a value that was read from a Secret and is not shown"
