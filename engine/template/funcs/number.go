package funcs

import (
	"errors"
	"math"

	"github.com/Masterminds/sprig/v3"
)

var numberFuncs = map[string]any{
	"float64": func(n decimal) float64 { return float64(n) },
	"ceil":    func(n decimal) any { return wholeIfFits(math.Ceil(float64(n))) },
	"floor":   func(n decimal) any { return wholeIfFits(math.Floor(float64(n))) },
	"round":   sized{2, 3, roundNumber},
	"maxf":    sized{1, -1, func(ns ...decimal) float64 { return foldNumbers(ns, math.Max) }},
	"minf":    sized{1, -1, func(ns ...decimal) float64 { return foldNumbers(ns, math.Min) }},
	"addf":    func(ns ...decimal) float64 { return sprigAddf(boxNumbers(ns)...) },
	"add1f":   func(n decimal) float64 { return sprigAddf(float64(n), 1.0) },
	"subf":    sized{1, -1, func(ns ...decimal) float64 { return sprigSubf(boxNumbers(ns)[0], boxNumbers(ns)[1:]...) }},
	"mulf":    sized{1, -1, func(ns ...decimal) float64 { return sprigMulf(boxNumbers(ns)[0], boxNumbers(ns)[1:]...) }},
	"divf":    sized{1, -1, divideFloats},
}

// sprig computes these with decimal numbers: 0.1 and 0.2 are 0.3.
var (
	sprigAddf = sprig.GenericFuncMap()["addf"].(func(...any) float64)
	sprigSubf = sprig.GenericFuncMap()["subf"].(func(any, ...any) float64)
	sprigMulf = sprig.GenericFuncMap()["mulf"].(func(any, ...any) float64)
	sprigDivf = sprig.GenericFuncMap()["divf"].(func(any, ...any) float64)
)

func boxNumbers(ns []decimal) []any {
	out := make([]any, len(ns))
	for i, n := range ns {
		out[i] = float64(n)
	}
	return out
}

func divideFloats(ns ...decimal) (float64, error) {
	for i, n := range ns {
		if i > 0 && n == 0 {
			return 0, wrapArgument(i, errZero)
		}
	}
	return sprigDivf(boxNumbers(ns)[0], boxNumbers(ns)[1:]...), nil
}

func foldNumbers(ns []decimal, pick func(a, b float64) float64) float64 {
	best := float64(ns[0])
	for _, n := range ns[1:] {
		best = pick(best, float64(n))
	}
	return best
}

// roundNumber gives a number with so many decimals; a last decimal of half or more
// (or of the third argument or more) goes up, away from zero.
func roundNumber(args ...decimal) (any, error) {
	n, places, half := float64(args[0]), float64(args[1]), 0.5
	if len(args) > 2 {
		half = float64(args[2])
	}
	if places != math.Trunc(places) || math.Abs(places) > 300 {
		return nil, wrapArgument(1, errors.New("must be a whole number from -300 to 300"))
	}
	pow := math.Pow(10, places)
	digits, fraction := math.Modf(math.Abs(n) * pow)
	if fraction >= half {
		digits++
	}
	rounded := math.Copysign(digits/pow, n)
	if math.IsNaN(rounded) || math.IsInf(rounded, 0) {
		return n, nil // beyond what the places can change
	}
	return wholeIfFits(rounded), nil
}

// wholeIfFits gives a number without fraction as an integer.
func wholeIfFits(f float64) any {
	if n, err := readInteger(f); err == nil {
		return n
	}
	return f
}
