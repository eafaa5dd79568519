package template

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// A carrier is a map or a list that dict or list made of what include gave, of
// which that keeps its structure until it is printed. Whoever takes the carrier
// for a value gets it by exec.text, with texts in it.
type carrier struct {
	value any // map[string]any or []any; an entry may be a *fragment or a *carrier
	by    *funcs.Func
	// depth is how many carriers are in one another.
	depth int
	// texts is the value with texts, once somebody asked for it, and sealed
	// says that one of these holds a sealed value.
	texts  any
	sealed bool
}

// mostCarriers bounds how deep carriers are in one another, as package funcs
// bounds it for values.
const mostCarriers = 1000

// A keeper is a function of package funcs that keeps the structure of fragments. ok is false where
// it cannot.
type keeper func(x *exec, e *callExpr, args []any) (v any, ok bool, err error)

var keepers map[string]keeper

func init() {
	keepers = map[string]keeper{
		"dict": makeCarrier, "list": makeCarrier, "tuple": makeCarrier, "ternary": keptTernary, "coalesce": keptCoalesce,
		"get": keptEntry, "index": keptEntry, "first": keptEnd, "last": keptEnd, "mustFirst": keptEnd, "mustLast": keptEnd,
	}
}

// isStructured reports whether a value keeps a structure that no value is in.
func isStructured(v any) bool {
	switch v.(type) {
	case *fragment, *carrier:
		return true
	}
	return false
}

// keepsStructure reports whether some argument has structure to keep, and none is sealed as a
// whole: what is made of that one is sealed as well.
func keepsStructure(args []any) bool {
	found := false
	for _, a := range args {
		if isStructured(a) {
			found = true
		} else if _, secret := unsealValue(a); secret {
			return false
		}
	}
	return found
}

// makeCarrier makes a carrier of the arguments of dict, list or tuple.
func makeCarrier(x *exec, e *callExpr, args []any) (any, bool, error) {
	c := &carrier{by: e.fn, depth: 1}
	given := make([]any, len(args))
	for i, a := range args {
		if inner, is := a.(*carrier); is {
			c.depth = max(c.depth, inner.depth+1)
		}
		if isStructured(a) && (e.fn.Name != "dict" || i%2 == 1) {
			continue // nothing, for now
		}
		var err error
		if given[i], err = x.toText(a); err != nil {
			return nil, false, err
		}
	}
	if c.depth > mostCarriers {
		return nil, false, fmt.Errorf("%s: the result would nest deeper than %d levels", e.fn.Name, mostCarriers)
	}
	v, err := e.fn.Call(given, x.set.limits.Functions)
	if err != nil {
		return nil, false, err
	}
	switch v := v.(type) {
	case map[string]any:
		for i := 1; i < len(args); i += 2 {
			v[given[i-1].(string)] = structureOr(given[i], args[i])
		}
		c.value = v
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = structureOr(v[i], args[i])
		}
		c.value = list
	}
	return c, true, x.chargeResult(e.fn.Name, given, c.value)
}

// structureOr returns an argument as it was given where it has structure, and otherwise its text.
func structureOr(text, given any) any {
	if isStructured(given) {
		return given
	}
	return text
}

// textsOf is what a carrier is as a value.
func (x *exec) textsOf(c *carrier) (any, error) {
	if c.texts == nil {
		var args []any
		before := x.taint
		x.taint = notSealed
		err := c.eachEntry(func(key string, v any) error {
			text, err := x.toText(v)
			if c.by.Name == "dict" {
				args = append(args, key)
			}
			args = append(args, text)
			return err
		})
		c.sealed = x.taint != notSealed
		x.taint = before
		if err != nil {
			return nil, err
		}
		if c.texts, err = c.by.Call(args, x.set.limits.Functions); err != nil {
			return nil, err
		}
		if err := x.chargeResult(c.by.Name, nil, c.texts); err != nil {
			return nil, err
		}
	}
	x.noteSecret(c.sealed)
	return c.texts, nil
}

// eachEntry calls f for each entry, in order.
func (c *carrier) eachEntry(f func(key string, v any) error) error {
	switch v := c.value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if err := f(key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := f("", item); err != nil {
				return err
			}
		}
	}
	return nil
}

func keptTernary(x *exec, e *callExpr, args []any) (any, bool, error) {
	if isStructured(args[2]) {
		return nil, false, nil
	}
	which, err := x.toText(args[2])
	if err != nil {
		return nil, false, err
	}
	chosen, err := e.fn.Call([]any{int64(0), int64(1), which}, x.set.limits.Functions)
	if err != nil {
		return nil, false, err
	}
	return args[chosen.(int64)], true, nil
}

func keptCoalesce(x *exec, _ *callExpr, args []any) (any, bool, error) {
	for _, a := range args {
		if holds, err := x.isTrue(a); holds || err != nil {
			return a, true, err
		}
	}
	return nil, true, nil
}

// keptEntry goes down into carriers as far as there are any.
func keptEntry(x *exec, e *callExpr, args []any) (any, bool, error) {
	at := args[0]
	for i, a := range args[1:] {
		c, is := at.(*carrier)
		if !is {
			v, err := e.callPlainly(x, append([]any{at}, args[i+1:]...))
			return v, true, err
		}
		key, err := x.toText(a)
		if err != nil {
			return nil, false, err
		}
		name, _ := key.(string)
		n, number := key.(int64)
		switch v := c.value.(type) {
		case map[string]any:
			if _, there := v[name]; !there {
				return nil, false, nil
			}
			at = v[name]
		case []any:
			if !number || n < 0 || n >= int64(len(v)) || e.fn.Name == "get" {
				return nil, false, nil
			}
			at = v[n]
		}
	}
	return at, true, nil
}

func keptEnd(_ *exec, e *callExpr, args []any) (any, bool, error) {
	c, is := args[0].(*carrier)
	if !is {
		return nil, false, nil
	}
	list, is := c.value.([]any)
	if !is {
		return nil, false, nil
	}
	if e.fn.Name == "first" || e.fn.Name == "mustFirst" {
		return list[0], true, nil
	}
	return list[len(list)-1], true, nil
}
