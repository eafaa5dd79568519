package funcs

import (
	"errors"
	"math"
	"strconv"
)

var wholeFuncs = map[string]any{
	"add":  addNumbers,
	"add1": func(n whole) (int64, error) { return addNumbers(n, 1) },
	"sub":  subtractIntegers,
	"mul":  sized{1, -1, multiplyIntegers},
	"div":  divideIntegers,
	"mod":  remainderOf,
	"max":  sized{1, -1, func(ns ...whole) int64 { return findExtreme(ns, func(a, b whole) bool { return a > b }) }},
	"min":  sized{1, -1, func(ns ...whole) int64 { return findExtreme(ns, func(a, b whole) bool { return a < b }) }},
	"biggest": sized{1, -1, func(ns ...whole) int64 {
		return findExtreme(ns, func(a, b whole) bool { return a > b })
	}},
	"int":       toInt,
	"int64":     toInt,
	"atoi":      parseDecimal,
	"toDecimal": toDecimal,
}

var (
	errOverflow = errors.New("the result is beyond 64 bits")
	errZero     = errors.New("is zero")
)

func addNumbers(ns ...whole) (int64, error) {
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

func subtractIntegers(a, b whole) (int64, error) {
	out := int64(a) - int64(b)
	if (out < int64(a)) != (b > 0) && b != 0 {
		return 0, errOverflow
	}
	return out, nil
}

func multiplyIntegers(ns ...whole) (int64, error) {
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

func divideIntegers(a, b whole) (int64, error) {
	if b == 0 {
		return 0, wrapArgument(1, errZero)
	}
	if a == math.MinInt64 && b == -1 {
		return 0, errOverflow
	}
	return int64(a / b), nil
}

func remainderOf(a, b whole) (int64, error) {
	if b == 0 {
		return 0, wrapArgument(1, errZero)
	}
	return int64(a % b), nil
}

func findExtreme(ns []whole, better func(a, b whole) bool) int64 {
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
		return 0, wrapArgument(0, err)
	}
	return int64(n.(whole)), nil
}

func parseDecimal(s string) (int64, error) { return parseText(s, 10) }

// toDecimal reads octal digits, as file modes are written.
func toDecimal(v scalar) (int64, error) {
	switch v := v.(type) {
	case string:
		return parseText(v, 8)
	case int64:
		return parseText(strconv.FormatInt(v, 10), 8)
	}
	return 0, wrapArgument(0, mustBe("a string or an integer", v))
}

func parseText(s string, radix int) (int64, error) {
	n, err := strconv.ParseInt(s, radix, 64)
	if err != nil {
		return 0, wrapArgument(0, errors.New("is no 64-bit integer of base "+strconv.Itoa(radix)))
	}
	return n, nil
}
