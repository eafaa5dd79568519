package funcs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Parameter types that say more than Go's own what an argument may be.
type (
	// whole is an integer, a number without fraction, or text of an integer.
	whole int64
	// decimal is a number or text of a number.
	decimal float64
	// some is anything but nil.
	some any
	// scalar is text, a number or a boolean.
	scalar any
	// truth is a boolean; nil is false.
	truth bool
)

// A reader gives an argument as what a parameter of some type holds. Its
// errors follow "argument 1 ".
type reader func(v any) (any, error)

var readers = map[reflect.Type]reader{
	reflect.TypeFor[any]():            func(v any) (any, error) { return v, nil },
	reflect.TypeFor[some]():           requirePresent,
	reflect.TypeFor[scalar]():         readScalar,
	reflect.TypeFor[string]():         exactReader[string]("a string"),
	reflect.TypeFor[bool]():           exactReader[bool]("a boolean"),
	reflect.TypeFor[truth]():          readTruth,
	reflect.TypeFor[int64]():          func(v any) (any, error) { return boxResult(readInteger(v)) },
	reflect.TypeFor[int]():            readInt,
	reflect.TypeFor[whole]():          readWhole,
	reflect.TypeFor[decimal]():        readDecimal,
	reflect.TypeFor[[]any]():          orEmpty[[]any]("a list"),
	reflect.TypeFor[map[string]any](): orEmpty[map[string]any]("a map"),
}

var (
	errNothing  = errors.New("is nil (an absent field); use default or ifNil")
	errFraction = errors.New("must be a whole number, got one with a fraction or beyond 64 bits")
)

// kindName names what a value is, for errors.
func kindName(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "an unknown value"
}

func mustBe(what string, v any) error {
	if v == nil {
		return errNothing
	}
	return fmt.Errorf("must be %s, got %s", what, kindName(v))
}

func requirePresent(v any) (any, error) {
	if v == nil {
		return nil, errNothing
	}
	return v, nil
}

func exactReader[T any](what string) reader {
	return func(v any) (any, error) {
		if _, ok := v.(T); !ok {
			return nil, mustBe(what, v)
		}
		return v, nil
	}
}

// orEmpty reads a collection; nil is the empty one.
func orEmpty[T any](what string) reader {
	return func(v any) (any, error) {
		if _, ok := v.(T); !ok && v != nil {
			return nil, mustBe(what, v)
		}
		return v, nil
	}
}

func readScalar(v any) (any, error) {
	switch v.(type) {
	case string, bool, int64, float64:
		return v, nil
	}
	return nil, mustBe("a string, a number or a boolean", v)
}

func readTruth(v any) (any, error) {
	b, ok := v.(bool)
	if !ok && v != nil {
		return nil, mustBe("a boolean", v)
	}
	return truth(b), nil
}

// readInteger reads a number without fraction; JSON knows no other integers.
func readInteger(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && v >= -1<<63 && v < 1<<63 {
			return int64(v), nil
		}
		return 0, errFraction
	}
	return 0, mustBe("an integer", v)
}

// readInt is for functions that want int; lengths and positions fit easily.
func readInt(v any) (any, error) {
	n, err := readInteger(v)
	return int(n), err
}

func readWhole(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		n, err := readInteger(v)
		return whole(n), err
	}
	digits := strings.TrimPrefix(s, "-")
	if len(digits) > 1 && digits[0] == '0' {
		return nil, errors.New("is text with a leading zero; atoi reads it as decimal, toDecimal as octal")
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, errors.New("is text that is not a 64-bit integer")
	}
	return whole(n), nil
}

func readDecimal(v any) (any, error) {
	switch v := v.(type) {
	case int64:
		return decimal(v), nil
	case float64:
		return decimal(v), nil
	case string:
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || strings.Trim(v, "0123456789+-.eE") != "" {
			return nil, errors.New("is text that is not a number, or beyond 64 bits")
		}
		return decimal(f), nil
	}
	return nil, mustBe("a number", v)
}

// boxResult fits a typed result into a reader's.
func boxResult[T any](v T, err error) (any, error) { return v, err }
