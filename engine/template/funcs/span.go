package funcs

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var rangeFuncs = map[string]any{
	"until":     countUntil,
	"untilStep": untilStep,
	"seq":       sized{0, 3, makeSequence},
}

// countUntil counts from 0 to before n, down where n is negative.
func countUntil(lim Limits, n int64) ([]any, error) {
	if n < 0 {
		return untilStep(lim, 0, n, -1)
	}
	return untilStep(lim, 0, n, 1)
}

func untilStep(lim Limits, from, to, step int64) ([]any, error) {
	n := countSteps(from, to, step)
	if n >= uint64(lim.Nodes) {
		return nil, tooMany(lim)
	}
	out := make([]any, n)
	for i := range out {
		out[i] = from + int64(i)*step
	}
	return out, nil
}

// countSteps says how many numbers there are from one on, before another. Where a
// step does not lead there, there are none.
func countSteps(from, to, step int64) uint64 {
	var distance, stride uint64
	switch {
	case step > 0 && to > from:
		distance, stride = uint64(to)-uint64(from), uint64(step)
	case step < 0 && to < from:
		distance, stride = uint64(from)-uint64(to), -uint64(step)
	default:
		return 0
	}
	return (distance-1)/stride + 1
}

// makeSequence gives numbers in a text as the command of that name does: up to an end,
// from a start to an end, or from a start by a step to an end.
func makeSequence(lim Limits, args ...int64) (string, error) {
	from, step, to := int64(1), int64(0), int64(0)
	switch len(args) {
	case 0:
		return "", nil
	case 1:
		to = args[0]
	case 2:
		from, to = args[0], args[1]
	case 3:
		from, step, to = args[0], args[1], args[2]
	}
	toward := int64(1)
	if to < from {
		toward = -1
	}
	if step == 0 && len(args) < 3 {
		step = toward
	}
	if to == math.MaxInt64 || to == math.MinInt64 {
		return "", wrapArgument(len(args)-1, errors.New("is too large a number"))
	}
	n := countSteps(from, to+toward, step)
	if n > uint64(lim.Bytes) {
		return "", tooLong(math.MaxInt, lim)
	}
	var out strings.Builder
	for i := range n {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(strconv.FormatInt(from+int64(i)*step, 10))
		if out.Len() > lim.Bytes {
			return "", tooLong(math.MaxInt, lim)
		}
	}
	return out.String(), nil
}
