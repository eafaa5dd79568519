package funcs

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

var splitFuncs = map[string]any{
	"split":     splitText,
	"splitn":    splitTextN,
	"splitList": splitList,
	"join":      joinTexts,
	"cat":       sized{1, -1, joinWords},
	"sortAlpha": sortAlpha,
	"toString":  toString,
	"toStrings": toStrings,
}

func splitList(lim Limits, sep, s string) ([]string, error) {
	if err := fitsParts(lim, sep, s, -1); err != nil {
		return nil, err
	}
	return strings.Split(s, sep), nil
}

// splitText gives the parts as _0, _1, ….
func splitText(lim Limits, sep, s string) (map[string]any, error) {
	return splitTextN(lim, sep, -1, s)
}

func splitTextN(lim Limits, sep string, n int, s string) (map[string]any, error) {
	if err := fitsParts(lim, sep, s, n); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for i, part := range strings.SplitN(s, sep, n) {
		out["_"+strconv.Itoa(i)] = part
	}
	return out, nil
}

func fitsParts(lim Limits, sep, s string, n int) error {
	parts := strings.Count(s, sep) + 1
	if n >= 0 && n < parts {
		parts = n
	}
	if parts >= lim.Nodes {
		return tooMany(lim)
	}
	return nil
}

// joinTexts puts a separator between the texts of a list; a lone value is its own
// text.
func joinTexts(lim Limits, sep string, v any) (string, error) {
	texts, err := textsOf(lim, v, 1)
	if err != nil {
		return "", err
	}
	n := multiplyLengths(len(texts)-1, len(sep))
	for _, text := range texts {
		n = addLengths(n, len(text))
	}
	if err := fitsBytes(n, lim); err != nil {
		return "", err
	}
	return strings.Join(texts, sep), nil
}

// joinWords puts blanks between its arguments.
func joinWords(lim Limits, args ...some) (string, error) {
	text, err := withBlanks(lim, args)
	return strings.TrimSpace(text), err
}

func sortAlpha(lim Limits, v any) ([]string, error) {
	texts, err := textsOf(lim, v, 0)
	slices.Sort(texts)
	return texts, err
}

func toStrings(lim Limits, v any) ([]string, error) { return textsOf(lim, v, 0) }

func toString(lim Limits, v some) (string, error) {
	text, err := AppendText(nil, v, lim)
	return string(text), err
}

// textsOf gives the texts of a list's items, or of a lone value; arg is its
// argument's position.
func textsOf(lim Limits, v any, arg int) ([]string, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	if len(list) >= lim.Nodes {
		return nil, tooMany(lim)
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if _, err := readScalar(item); err != nil {
			return nil, wrapArgument(arg, itemError(ok, i, err))
		}
		text, err := AppendText(nil, item, lim)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}

func itemError(inList bool, i int, err error) error {
	if !inList {
		return err
	}
	return errors.New("item " + strconv.Itoa(i) + " " + err.Error())
}
