package funcs

import (
	"errors"
	"math"
	"time"

	"github.com/Masterminds/sprig/v3"
)

var durationFuncs = map[string]any{
	"duration":      formatDuration,
	"durationRound": durationRound,
}

// formatDuration writes seconds as a duration: 95 is 1m35s.
func formatDuration(seconds whole) (string, error) {
	if seconds > math.MaxInt64/whole(time.Second) || seconds < math.MinInt64/whole(time.Second) {
		return "", errOverflow
	}
	return (time.Duration(seconds) * time.Second).String(), nil
}

var sprigRound = sprig.GenericFuncMap()["durationRound"].(func(any) string)

// durationRound keeps the largest unit of a duration: 2h10m5s is 2h. A number
// is in nanoseconds.
func durationRound(v some) (string, error) {
	switch v := v.(type) {
	case int64:
		return sprigRound(v), nil
	case string:
		d, err := time.ParseDuration(v)
		if err != nil {
			return "", wrapArgument(0, errors.New("is not a duration"))
		}
		return sprigRound(int64(d)), nil
	}
	return "", wrapArgument(0, mustBe("a string or an integer", v))
}
