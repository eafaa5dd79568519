package funcs

import (
	"math"
	"regexp"
	"strings"
)

var regexFuncs = map[string]any{
	"regexMatch": regexMatch, "mustRegexMatch": regexMatch,
	"regexFind": regexFind, "mustRegexFind": regexFind,
	"regexFindAll": regexFindAll, "mustRegexFindAll": regexFindAll,
	"regexSplit": regexSplit, "mustRegexSplit": regexSplit,
	"regexReplaceAll": regexReplaceAll, "mustRegexReplaceAll": regexReplaceAll,
	"regexReplaceAllLiteral":     regexReplaceAllLiteral,
	"mustRegexReplaceAllLiteral": regexReplaceAllLiteral,
	"regexQuoteMeta":             regexp.QuoteMeta,
}

func regexMatch(expr, s string) (bool, error) {
	p, err := compileFor(expr, s)
	if err != nil {
		return false, err
	}
	return p.MatchString(s), nil
}

func regexFind(expr, s string) (string, error) {
	p, err := compileFor(expr, s)
	if err != nil {
		return "", err
	}
	return p.FindString(s), nil
}

// regexFindAll gives at most n matches, all if n is negative.
func regexFindAll(lim Limits, expr, s string, n int) ([]string, error) {
	p, err := forAll(lim, expr, s)
	if err != nil {
		return nil, err
	}
	return p.FindAllString(s, n), nil
}

// regexSplit gives at most n parts, all if n is negative.
func regexSplit(lim Limits, expr, s string, n int) ([]string, error) {
	p, err := forAll(lim, expr, s)
	if err != nil {
		return nil, err
	}
	return p.Split(s, n), nil
}

func regexReplaceAll(lim Limits, expr, s, to string) (string, error) {
	return replaceMatches(lim, expr, s, replacement{to, strings.Contains(to, "$")})
}

func regexReplaceAllLiteral(lim Limits, expr, s, to string) (string, error) {
	return replaceMatches(lim, expr, s, replacement{to, false})
}

// A replacement is what is put in for a match; expand puts groups in for $1.
type replacement struct {
	text   string
	expand bool
}

// replaceMatches replaces every match.
func replaceMatches(lim Limits, expr, s string, to replacement) (string, error) {
	p, err := forAll(lim, expr, s)
	if err != nil {
		return "", err
	}
	var out []byte
	last, groups := 0, 0
	if to.expand {
		groups = strings.Count(to.text, "$")
	}
	for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
		most := addLengths(m[0]-last+len(to.text), multiplyLengths(groups, m[1]-m[0]))
		if addLengths(len(out), most) > lim.Bytes {
			return "", tooLong(math.MaxInt, lim)
		}
		out = append(out, s[last:m[0]]...)
		if to.expand {
			out = p.ExpandString(out, to.text, s, m)
		} else {
			out = append(out, to.text...)
		}
		last = m[1]
	}
	return string(append(out, s[last:]...)), nil
}
