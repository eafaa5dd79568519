package funcs

import (
	"fmt"
	"strings"
)

// verbs are those that templates may use.
const verbs = "vstqxXeEfFgGbcdoOU"

// fitVerb gives the value in the type that a verb of printf formats.
func fitVerb(verb rune, v any) (any, error) {
	if v == nil {
		return nil, errNothing
	}
	switch {
	case verb == 'v':
		return v, nil
	case strings.ContainsRune("eEfFgG", verb):
		return readFor(verb, v, "a number")
	case strings.ContainsRune("bcdoOU", verb):
		return readFor(verb, v, "an integer")
	case verb == 's' || verb == 't' || strings.ContainsRune("qxX", verb):
		return readOther(verb, v)
	}
	return nil, errVerb(verb)
}

func errVerb(verb rune) error {
	return fmt.Errorf("is formatted with %%%c, which templates may not use", verb)
}

func readFor(verb rune, v any, what string) (any, error) {
	if n, ok := v.(int64); ok {
		if what == "a number" {
			return float64(n), nil
		}
		return n, nil
	}
	if n, ok := v.(float64); ok {
		if what == "a number" {
			return n, nil
		}
		if i, err := readInteger(n); err == nil {
			return i, nil
		}
	}
	return nil, verbError(verb, what, v)
}

func readOther(verb rune, v any) (any, error) {
	what := "a string"
	switch v.(type) {
	case string:
		if verb != 't' {
			return v, nil
		}
	case bool:
		if verb == 't' {
			return v, nil
		}
	case int64:
		if verb != 's' && verb != 't' {
			return v, nil
		}
	}
	if verb == 't' {
		what = "a boolean"
	}
	return nil, verbError(verb, what, v)
}

func verbError(verb rune, what string, v any) error {
	return fmt.Errorf("must be %s for %%%c, got %s; %%v formats any value", what, verb, kindName(v))
}
