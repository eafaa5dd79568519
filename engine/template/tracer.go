package template

import (
	"fmt"
	"strconv"
)

// A Tracer is told what one execution of a file does. A leave that it returns is called
// when the execution comes out again; after an error it is not.
type Tracer interface {
	// EnterCall is told that the file itself begins, and then of each template that it
	// calls, and where.
	EnterCall(at Place) (leave func())
	// EnterBranch is told which arm of an if, with or range is taken. at is where the
	// condition stands, came says what it came to without showing a text or a secret,
	// and items is how many items a range has.
	EnterBranch(at Place, taken bool, came string, items int) (leave func())
	// NextItem is told that the innermost range goes on to its item i, from 0.
	NextItem(i int)
	// Way is asked before each text. Document.Way gives what it returned for the text
	// that the document begins with.
	Way() any
	// End is told what the execution came to.
	End(docs []*Document, err error)
}

// Trace lets a Tracer follow each execution of the Rendering. begin makes one for a
// file, which is named without .yaml.
func (r *Rendering) Trace(begin func(file string) Tracer) *Rendering {
	r.trace = begin
	return r
}

// A passage is what a Tracer's Way returned for the text from off on.
type passage struct {
	off int
	way any
}

// recordPassage asks for the way by which the next text is written.
func (x *exec) recordPassage() {
	if x.tracer != nil {
		x.out.passages = append(x.out.passages, passage{len(x.out.buf), x.tracer.Way()})
	}
}

// Way is what the Tracer's Way returned for the text that the document begins with; nil
// if the execution was not traced.
func (d *Document) Way() any {
	off := d.out.offsetOf(d.root.line, d.root.column) + d.out.start
	var way any
	for _, p := range d.out.passages {
		if p.off > off {
			break
		}
		way = p.way
	}
	return way
}

// describeAnswer says what a condition came to: of texts and of what was read from a
// Secret no more than that.
func describeAnswer(v any) string {
	v, secret := unsealValue(v)
	if f, ok := v.(*fragment); ok {
		secret = f.sealed
		v = f.text
	}
	switch p := v.(type) {
	case *carrier:
		v = p.value
	case *encoded:
		v = p.value
	case quoted:
		v = p.text
	}
	if secret {
		return "a value of a Secret"
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64, float64:
		return fmt.Sprint(v)
	case string:
		if v == "" {
			return "an empty string"
		}
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		if len(v) == 0 {
			return "an empty map"
		}
		return fmt.Sprintf("a map of %d", len(v))
	}
	return describeType(v)
}
