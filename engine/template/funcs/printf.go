package funcs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPad is the largest width and precision that printf takes.
const maxPad = 1024

// formatText formats as fmt.Sprintf does, directive by directive; what fmt would
// report within the text, such as %!d(string=…), is an error.
func formatText(lim Limits, format string, args ...any) (string, error) {
	return Format(lim, format, args, nil)
}

// Format formats the arguments of printf. If want is given, no values are formatted: it is
// called with what the format wants of each argument, namely flags and width as they are
// written, and the verb, or a star for a width. Then Format returns the text of the format
// itself.
func Format(lim Limits, format string, args []any, want func(spec string, verb rune, i int)) (string, error) {
	f := &formatter{format: format, args: args, used: make([]bool, len(args)), want: want, lim: lim}
	return f.formatAll()
}

func (f *formatter) formatAll() (string, error) {
	for f.pos < len(f.format) {
		if err := f.takeStep(); err != nil {
			return "", err
		}
		if err := fitsAppended(f.out, f.lim); err != nil {
			return "", err
		}
	}
	for i, used := range f.used {
		if !used && !f.jumped {
			return "", wrapArgument(i+1, errors.New("is not used by the format"))
		}
	}
	return string(f.out), nil
}

// A formatter is one run through a printf format.
type formatter struct {
	format string
	pos    int
	args   []any
	next   int    // the argument for the next directive
	used   []bool // which arguments were used
	jumped bool   // an explicit index was used
	aimed  bool   // the last thing read was an explicit index
	out    []byte
	lim    Limits
	want   func(spec string, verb rune, i int) // instead of values
}

// takeStep copies text up to a directive, or does one directive.
func (f *formatter) takeStep() error {
	rest := f.format[f.pos:]
	if n := strings.IndexByte(rest, '%'); n != 0 {
		if n < 0 {
			n = len(rest)
		}
		f.pos += n
		f.out = append(f.out, rest[:n]...)
		return nil
	}
	f.pos++
	spec, err := f.readSpec()
	if err != nil {
		return err
	}
	verb, size := utf8.DecodeRuneInString(f.format[f.pos:])
	if size == 0 {
		return errors.New("the format ends within a directive")
	}
	f.pos += size
	if verb == '%' {
		f.out = append(f.out, '%')
		return nil
	}
	i, v, err := f.nextArgument()
	if err != nil {
		return err
	}
	return f.putValue(spec, verb, i, v)
}

// readSpec reads flags, width and precision and gives them with plain numbers.
func (f *formatter) readSpec() (string, error) {
	from := f.pos
	for f.pos < len(f.format) && strings.IndexByte("+-# 0", f.format[f.pos]) >= 0 {
		f.pos++
	}
	spec := "%" + f.format[from:f.pos]
	f.aimed = false
	width, err := f.readNumber()
	if err != nil {
		return "", err
	}
	spec += width
	if f.isAt(".") {
		if f.aimed {
			return "", errAim
		}
		f.pos++
		precision, err := f.readNumber()
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(precision, "-") {
			return "", errors.New("a precision in the format is negative")
		}
		spec += "." + precision
	}
	if f.aimed {
		return spec, nil
	}
	return spec, f.readIndex()
}

func (f *formatter) isAt(what string) bool { return strings.HasPrefix(f.format[f.pos:], what) }

// readNumber reads a width or precision: digits, or a star for an argument, which
// an index may stand before.
func (f *formatter) readNumber() (string, error) {
	if err := f.readIndex(); err != nil {
		return "", err
	}
	if f.isAt("*") {
		f.pos++
		f.aimed = false
		return f.readStar()
	}
	digits, err := f.readDigits()
	if err == nil && digits != "" && f.aimed {
		err = errAim
	}
	return digits, err
}

func (f *formatter) readStar() (string, error) {
	i, v, err := f.nextArgument()
	if err != nil {
		return "", err
	}
	if f.want != nil {
		f.want("", '*', i)
		return "", nil
	}
	n, err := readInteger(v)
	if err != nil {
		return "", wrapArgument(i+1, err)
	}
	if n > maxPad || n < -maxPad {
		return "", wrapArgument(i+1, fmt.Errorf("is a width or precision of more than %d", maxPad))
	}
	return strconv.FormatInt(n, 10), nil
}

func (f *formatter) readDigits() (string, error) {
	from := f.pos
	for f.pos < len(f.format) && f.format[f.pos] >= '0' && f.format[f.pos] <= '9' {
		f.pos++
	}
	digits := f.format[from:f.pos]
	if n, err := strconv.Atoi(digits); digits != "" && (err != nil || n > maxPad) {
		return "", fmt.Errorf("a number in the format is more than %d", maxPad)
	}
	return digits, nil
}

var errAim = errors.New("an argument index in the format stands before a number; it belongs before a star or the verb")

// readIndex reads an explicit argument index such as [2].
func (f *formatter) readIndex() error {
	if !f.isAt("[") {
		return nil
	}
	f.pos++
	digits, err := f.readDigits()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(digits)
	if err != nil || !f.isAt("]") {
		return errors.New("an argument index in the format is no number in brackets")
	}
	f.pos++
	f.next, f.jumped, f.aimed = n-1, true, true
	return nil
}

func (f *formatter) nextArgument() (int, any, error) {
	i := f.next
	if i < 0 || i >= len(f.args) {
		return 0, nil, fmt.Errorf("the format wants an argument %d, which is not there", i+2)
	}
	f.next, f.used[i] = i+1, true
	return i, f.args[i], nil
}

// longest is how many bytes a byte of text may become: \x00 with q, 0x00 and a
// blank with x.
var longest = map[rune]int{'q': 4, 'x': 5, 'X': 5}

// putValue formats one value.
func (f *formatter) putValue(spec string, verb rune, i int, v any) error {
	if f.want != nil {
		if !strings.ContainsRune(verbs, verb) {
			return wrapArgument(i+1, errVerb(verb))
		}
		f.want(spec, verb, i)
		return nil
	}
	v, err := fitVerb(verb, v)
	if err != nil {
		return wrapArgument(i+1, err)
	}
	switch v := v.(type) {
	case []any, map[string]any:
		if spec != "%" {
			return wrapArgument(i+1, fmt.Errorf("is %s, which takes no flags or width", kindName(v)))
		}
		f.out, err = AppendText(f.out, v, f.lim)
		return err
	case string:
		if n := multiplyLengths(len(v), max(1, longest[verb])); n > f.lim.Bytes-len(f.out) {
			return tooLong(math.MaxInt, f.lim)
		}
	}
	f.out = fmt.Appendf(f.out, spec+string(verb), v)
	return nil
}
