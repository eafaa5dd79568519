package template

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// trimSuffix keeps what toYaml and include gave where only a line break goes,
// which neither counts.
func trimSuffix(x *exec, at pos, args []any) (any, error) {
	if args[0] == "\n" {
		switch v := args[1].(type) {
		case *encoded:
			return v, nil
		case *fragment:
			return v.withoutEnds("\n"), nil
		}
	}
	for i, a := range args {
		text, err := x.toText(a)
		if err != nil {
			return nil, err
		}
		args[i] = text
	}
	return funcs.Table()["trimSuffix"].Call(args, x.set.limits.Functions)
}

// trimBlanks implements the function trim.
func trimBlanks(x *exec, _ pos, args []any) (any, error) {
	switch v := args[0].(type) {
	case *fragment:
		return v.withoutEnds(" \t\r\n"), nil
	case *encoded:
		if text, ok := v.value.(string); ok && v.form == asText {
			x.noteSecret(v.sealed)
			return x.chargeText(strings.TrimSpace(text), nil)
		}
		return &encoded{value: v.value, form: v.form, blanks: -1, sealed: v.sealed}, nil
	}
	text, err := x.toText(args[0])
	if err != nil {
		return nil, err
	}
	return funcs.Table()["trim"].Call([]any{text}, x.set.limits.Functions)
}

// widest bounds an indentation.
const widest = 200

func indentWith(name string) func(*exec, pos, []any) (any, error) {
	return func(x *exec, _ pos, args []any) (any, error) {
		n, ok := args[0].(int64)
		if !ok || n < 0 || n > widest {
			return nil, fmt.Errorf("%s needs a number of blanks from 0 to %d", name, widest)
		}
		switch v := args[1].(type) {
		case nil:
			return nil, nil
		case *fragment:
			return v.indentLines(x, int(n), name == "nindent")
		case *encoded:
			return &encoded{v.value, v.form, int(n) + max(v.blanks, 0), name == "nindent" || v.newline, v.sealed}, nil
		}
		plain, err := x.toText(args[1])
		if err != nil {
			return nil, err
		}
		text, err := textOf(plain, x.set.limits.Functions)
		if err != nil {
			return nil, err
		}
		return &encoded{value: text, form: asText, blanks: int(n), newline: name == "nindent"}, x.chargeBytes(len(text))
	}
}

// indentLines gives every line of the fragment its place.
func (f *fragment) indentLines(x *exec, n int, newline bool) (any, error) {
	size := len(f.text) + n*(1+strings.Count(f.text, "\n"))
	if most := x.set.limits.Output; size > most {
		return nil, fmt.Errorf("the text would be longer than %d bytes: %w", most, ErrBudget)
	}
	if err := x.chargeBytes(size + holeBytes*len(f.marks)); err != nil {
		return nil, err
	}
	first := strings.Repeat(" ", n)
	if newline {
		first = "\n" + first
	}
	out := f.withIndent(first, n)
	out.laid = true
	return out, nil
}
