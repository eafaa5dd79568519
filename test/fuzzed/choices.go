package fuzzed

import (
	"encoding/json"
	"strings"
	"testing"
)

// Choices are what a fuzzer's bytes decide, one byte a choice. A target that
// makes its input by them gets past parsing, which text that was changed at
// random hardly does.
type Choices struct {
	left  []byte
	words []string
}

// Choose returns the choices of these bytes among the words of a text.
func Choose(choices []byte, text string) *Choices {
	return &Choices{left: choices, words: strings.Fields(text)}
}

// N is the next choice among n numbers from 0; without any byte left it is 0.
func (c *Choices) N(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	i := int(c.left[0]) % n
	c.left = c.left[1:]
	return i
}

// Word is one of the words, "a" if there are none.
func (c *Choices) Word() string {
	if len(c.words) == 0 {
		return "a"
	}
	return c.words[c.N(len(c.words))]
}

// Words are at most three of the words.
func (c *Choices) Words() []string {
	words := []string{}
	for range c.N(4) {
		words = append(words, c.Word())
	}
	return words
}

// Maybe sets a field of a map, or not.
func (c *Choices) Maybe(m map[string]any, field string, value any) {
	if c.N(4) == 1 {
		m[field] = value
	}
}

// Value is a value of JSON with at most so many levels below it.
func (c *Choices) Value(depth int) any {
	switch c.N(min(8, 5+3*depth)) {
	case 0:
		return c.Word()
	case 1:
		return c.N(256) - 99
	case 2:
		return float64(c.N(256)) / 8
	case 3:
		return c.N(2) == 1
	case 4:
		return nil
	case 5:
		list := []any{}
		for range c.N(4) {
			list = append(list, c.Value(depth-1))
		}
		return list
	default:
		return c.Map(depth)
	}
}

// Map is an object of JSON with at most so many levels, itself among them.
func (c *Choices) Map(depth int) map[string]any {
	m := map[string]any{}
	for range c.N(5) {
		m[c.Word()] = c.Value(depth - 1)
	}
	return m
}

// JSON is a value that choices made, as text.
func JSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
