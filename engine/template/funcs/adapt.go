package funcs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// A sized is a Go function together with the number of arguments that it
// takes, where its signature alone does not say it.
type sized struct {
	min, max int
	fn       any
}

// An adapter calls a Go function with template values. What the function may
// be given follows from the types of its parameters, see readers; a first
// parameter of type Limits gets the limits of the call.
type adapter struct {
	name     string
	min, max int
	fn       reflect.Value
	limited  bool
	direct   caller // nil where only reflection can call it
	params   []reader
	types    []reflect.Type
}

var (
	limitsType = reflect.TypeFor[Limits]()
	errorType  = reflect.TypeFor[error]()
)

// adaptFunc makes a Func of a Go function; it panics where the signature is none
// that templates can call, which is a mistake in this package.
func adaptFunc(name string, fn any) *Func {
	s, explicit := fn.(sized)
	if explicit {
		fn = s.fn
	}
	a := &adapter{name: name, fn: reflect.ValueOf(fn)}
	if !explicit {
		a.direct = directCaller(fn)
	}
	t := a.fn.Type()
	a.limited = t.NumIn() > 0 && t.In(0) == limitsType
	for i := a.countHidden(); i < t.NumIn(); i++ {
		p := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			p = p.Elem()
		}
		read, ok := readers[p]
		if !ok {
			panic(fmt.Sprintf("funcs: %s: parameter type %s", name, p))
		}
		a.params, a.types = append(a.params, read), append(a.types, p)
	}
	a.min, a.max = len(a.params), len(a.params)
	if t.IsVariadic() {
		a.min, a.max = a.min-1, -1
	}
	if explicit {
		a.min, a.max = s.min, s.max
	}
	return &Func{Name: name, Min: a.min, Max: a.max, Call: a.callFunc}
}

func (a *adapter) countHidden() int {
	if a.limited {
		return 1
	}
	return 0
}

func (a *adapter) callFunc(args []any, lim Limits) (out any, err error) {
	lim = lim.orDefault()
	// What the function panicked with may hold values, so it is not told.
	defer func() {
		if recover() != nil {
			out, err = nil, fmt.Errorf("%s: these arguments do not fit together", a.name)
		}
	}()
	if err := a.checkArity(len(args)); err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	in, err := a.read(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	if a.direct != nil {
		out, err = a.direct(in, lim)
	} else {
		out, err = a.callReflected(in, lim)
	}
	if err == nil {
		out, err = normaliseResult(out, lim)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	return out, nil
}

// callReflected calls the function whatever its signature.
func (a *adapter) callReflected(args []any, lim Limits) (any, error) {
	in := make([]reflect.Value, 0, len(args)+1)
	if a.limited {
		in = append(in, reflect.ValueOf(lim))
	}
	for i, arg := range args {
		if arg == nil {
			in = append(in, reflect.Zero(a.types[min(i, len(a.types)-1)]))
			continue
		}
		in = append(in, reflect.ValueOf(arg))
	}
	res := a.fn.Call(in)
	if last := res[len(res)-1]; last.Type() == errorType && !last.IsNil() {
		return nil, last.Interface().(error)
	}
	return res[0].Interface(), nil
}

func (a *adapter) checkArity(n int) error {
	switch {
	case n >= a.min && (a.max < 0 || n <= a.max):
		return nil
	case a.max < 0:
		return fmt.Errorf("needs at least %s, got %d", countArguments(a.min), n)
	case a.min == a.max:
		return fmt.Errorf("needs %s, got %d", countArguments(a.min), n)
	}
	return fmt.Errorf("needs %d to %s, got %d", a.min, countArguments(a.max), n)
}

func countArguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// read gives the arguments the types of the parameters; nil stands for the
// zero value.
func (a *adapter) read(args []any) ([]any, error) {
	in := make([]any, len(args))
	for i, arg := range args {
		v, err := a.params[min(i, len(a.params)-1)](arg)
		if err != nil {
			return nil, wrapArgument(i, err)
		}
		in[i] = v
	}
	return in, nil
}

// wrapArgument says which argument an error is about, counted from 0.
func wrapArgument(i int, err error) error {
	return fmt.Errorf("argument %d %w", i+1, err)
}

// normaliseResult gives a function's result as one of the values that templates
// know. Text is cut clean of broken characters: it must be fit for JSON.
func normaliseResult(v any, lim Limits) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64:
		return v, nil
	case []any:
		if v == nil {
			return []any{}, nil
		}
		return v, nil
	case map[string]any:
		if v == nil {
			return map[string]any{}, nil
		}
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if v-v != 0 {
			return nil, errors.New("the result is infinite or not a number")
		}
		return v, nil
	case string:
		if len(v) > lim.Bytes {
			return nil, tooLong(len(v), lim)
		}
		if !utf8.ValidString(v) {
			return strings.ToValidUTF8(v, ""), nil
		}
		return v, nil
	case []string:
		return anyList(v), nil
	}
	return nil, errors.New("the result is no value for a template")
}

func anyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
