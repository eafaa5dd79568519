package funcs

import (
	"errors"
	"math"
	"strconv"
)

var wholeFuncs = map[string]any{
	"add":  add,
	"add1": func(n whole) (int64, error) { return add(n, 1) },
	"sub":  sub,
	"mul":  sized{1, -1, mul},
	"div":  div,
	"mod":  mod,
	"max":  sized{1, -1, func(ns ...whole) int64 { return extreme(ns, func(a, b whole) bool { return a > b }) }},
	"min":  sized{1, -1, func(ns ...whole) int64 { return extreme(ns, func(a, b whole) bool { return a < b }) }},
	"biggest": sized{1, -1, func(ns ...whole) int64 {
		return extreme(ns, func(a, b whole) bool { return a > b })
	}},
	"int":       toInt,
	"int64":     toInt,
	"atoi":      atoi,
	"toDecimal": toDecimal,
}

var (
	errOverflow = errors.New("the result is beyond 64 bits")
	errZero     = errors.New("is zero")
)

func add(ns ...whole) (int64, error) {
	sum := int64(0)
	for _, n := range ns {
		next := sum + int64(n)
		if (next > sum) != (n > 0) && n != 0 {
			return 0, errOverflow
		}
		sum = next
	}
	return sum, nil
}

func sub(a, b whole) (int64, error) {
	out := int64(a) - int64(b)
	if (out < int64(a)) != (b > 0) && b != 0 {
		return 0, errOverflow
	}
	return out, nil
}

func mul(ns ...whole) (int64, error) {
	product := int64(1)
	for _, n := range ns {
		a, b := product, int64(n)
		if a != 0 && (a*b/a != b || a == -1 && b == math.MinInt64) {
			return 0, errOverflow
		}
		product = a * b
	}
	return product, nil
}

func div(a, b whole) (int64, error) {
	if b == 0 {
		return 0, argument(1, errZero)
	}
	if a == math.MinInt64 && b == -1 {
		return 0, errOverflow
	}
	return int64(a / b), nil
}

func mod(a, b whole) (int64, error) {
	if b == 0 {
		return 0, argument(1, errZero)
	}
	return int64(a % b), nil
}

func extreme(ns []whole, better func(a, b whole) bool) int64 {
	best := ns[0]
	for _, n := range ns[1:] {
		if better(n, best) {
			best = n
		}
	}
	return int64(best)
}

// toInt gives a number without its fraction, or the integer of a text.
func toInt(v any) (int64, error) {
	if f, ok := v.(float64); ok {
		v = math.Trunc(f)
	}
	n, err := readWhole(v)
	if err != nil {
		return 0, argument(0, err)
	}
	return int64(n.(whole)), nil
}

func atoi(s string) (int64, error) { return parseText(s, 10) }

// toDecimal reads octal digits, as file modes are written.
func toDecimal(v scalar) (int64, error) {
	switch v := v.(type) {
	case string:
		return parseText(v, 8)
	case int64:
		return parseText(strconv.FormatInt(v, 10), 8)
	}
	return 0, argument(0, mustBe("a string or an integer", v))
}

func parseText(s string, radix int) (int64, error) {
	n, err := strconv.ParseInt(s, radix, 64)
	if err != nil {
		return 0, argument(0, errors.New("is no 64-bit integer of base "+strconv.Itoa(radix)))
	}
	return n, nil
}
