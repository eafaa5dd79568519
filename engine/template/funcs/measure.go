package funcs

import (
	"errors"
	"fmt"
	"math"
)

// maxDepth is how deep collections may nest. It keeps every walk's stack, and
// the indentation of YAML and JSON, small.
const maxDepth = 1000

var errDeep = fmt.Errorf("the result would nest deeper than %d levels", maxDepth)

func tooLong(n int, lim Limits) error {
	if n == math.MaxInt {
		return fmt.Errorf("the result would be more than the limit of %d bytes", lim.Bytes)
	}
	return fmt.Errorf("the result would be %d bytes, more than the limit of %d", n, lim.Bytes)
}

func tooMany(lim Limits) error {
	return fmt.Errorf("the result would have more than the limit of %d nodes", lim.Nodes)
}

// fitsBytes checks a length before it is allocated.
func fitsBytes(n int, lim Limits) error {
	if n > lim.Bytes {
		return tooLong(n, lim)
	}
	return nil
}

// multiplyLengths multiplies lengths; what overflows is math.MaxInt.
func multiplyLengths(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// addLengths adds lengths; what overflows is math.MaxInt.
func addLengths(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// fitsNodes checks that a collection of these items stays within the limits.
// It stops counting at the limit: shared parts count each time that they are
// reached, so a few lines of a template can make a value of endless size.
func fitsNodes(lim Limits, items ...any) error {
	return fitsNodesOf(lim, len(items), func(i int) any { return items[i] })
}

// fitsNodesOf is fitsNodes for n items that are not in one slice.
func fitsNodesOf(lim Limits, n int, item func(i int) any) error {
	if n >= lim.Nodes {
		return tooMany(lim)
	}
	c := counter{left: lim.Nodes - 1}
	for i := range n {
		if err := c.countValue(item(i), 2); err != nil {
			if errors.Is(err, errDeep) {
				return err
			}
			return tooMany(lim)
		}
	}
	return nil
}

// A counter counts nodes down.
type counter struct{ left int }

var errNone = errors.New("no nodes are left")

func (c *counter) countValue(v any, depth int) error {
	c.left--
	if c.left < 0 {
		return errNone
	}
	if depth > maxDepth {
		return errDeep
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := c.countValue(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := c.countValue(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
