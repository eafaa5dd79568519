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

// sealValue seals a value. The holes of a fragment are sealed one by one, also of one in a carrier.
func sealValue(v any, as grade) any {
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

// unsealValue returns what a hole holds, and whether it is sealed.
func unsealValue(v any) (any, bool) {
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

// toPlain is toText for those who seal their result themselves.
func (x *exec) toPlain(v any) (any, error) {
	before := x.taint
	v, err := x.toText(v)
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

// fieldOf returns a field of a sealed map. What a Secret says of itself, annotations apart, is no
// secret.
func (s *sealed) fieldOf(name string) any {
	v := s.value.(map[string]any)[name]
	switch s.as {
	case sealedText:
		return sealValue(v, sealedText)
	case sealedMetadata:
		if name != "annotations" {
			return v
		}
	case sealedObject:
		switch name {
		case "apiVersion", "kind", "type":
			return v
		case "metadata":
			return sealValue(v, sealedMetadata)
		}
	}
	return sealValue(v, sealedPart)
}

// entryOf returns what range sees of an entry or item.
func (s *sealed) entryOf(key, v any) (k, item any) {
	switch s.as {
	case sealedList:
		return key, sealObject(v)
	case sealedText:
		if _, text := key.(string); text {
			key = sealValue(key, sealedText)
		}
		return key, sealValue(v, sealedText)
	}
	return key, sealValue(v, sealedPart)
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
		return sealValue(v, sealedText)
	case as == sealedList:
		if _, list := v.([]any); list {
			return sealValue(v, sealedList)
		}
		if n <= 2 { // first, last, index: an item
			return sealObject(v)
		}
	}
	return sealValue(v, sealedPart)
}

// maySeal reports whether the value of an entry at the top of a Secret may be sealed.
func (e entry) maySeal(key string) bool {
	return e.value.depth == 2 && e.key.kind == constNode && (key == "data" || key == "stringData")
}

// checkSealed refuses a sealed value outside of a Secret's data.
func (f *filler) checkSealed(h hole) error {
	switch {
	case !h.sealed || f.open:
		return nil
	case f.secret:
		return h.at.errorAt("the value was read from a Secret and may only be written into data or stringData of a Secret")
	}
	return h.at.errorAt("the value was read from a Secret and may only be written into a Secret")
}

// hasSecret reports whether a value of the document was read from a Secret.
func (d *Document) hasSecret() bool {
	return slices.ContainsFunc(d.out.holes, func(h hole) bool { return h.sealed })
}

// errSealedQuestion refuses to ask for what a Secret says: what is read is
// named in messages and in the watches of the operator.
var errSealedQuestion = errors.New("what is read may not depend on a value that was read from a Secret")

// sealedMessage stands for a message with a value of a Secret.
const sealedMessage = "the message holds a value that was read from a Secret and is not shown"
