package funcs

import (
	"errors"

	"github.com/Masterminds/sprig/v3"
)

// borrowedNames are sprig's functions that are right as they are: pure, and
// with a result that is at most a few times as long as the argument.
var borrowedNames = []string{
	"upper", "lower", "title", "untitle", "swapcase",
	"snakecase", "camelcase", "kebabcase",
	"trimall", "trimAll", "trimSuffix", "trimPrefix",
	"abbrev", "abbrevboth", "plural",
	"contains", "hasPrefix", "hasSuffix",
	"sha1sum", "sha256sum", "sha512sum", "adler32sum",
	"base", "dir", "clean", "ext", "isAbs",
}

func borrowedFuncs() map[string]any {
	theirs := sprig.GenericFuncMap()
	out := map[string]any{"wrap": wrapText, "wrapWith": wrapWith}
	for _, name := range borrowedNames {
		out[name] = theirs[name]
	}
	return out
}

var (
	sprigWrap     = sprig.GenericFuncMap()["wrap"].(func(int, string) string)
	sprigWrapWith = sprig.GenericFuncMap()["wrapWith"].(func(int, string, string) string)
)

func wrapText(lim Limits, width int, s string) (string, error) {
	if err := fitsWrapped(lim, width, "\n", s); err != nil {
		return "", err
	}
	return sprigWrap(width, s), nil
}

func wrapWith(lim Limits, width int, sep, s string) (string, error) {
	if err := fitsWrapped(lim, width, sep, s); err != nil {
		return "", err
	}
	return sprigWrapWith(width, sep, s), nil
}

// fitsWrapped bounds the number of line breaks: a line may be shorter than the
// width only if the next word does not fit, so two lines use up one width.
func fitsWrapped(lim Limits, width int, sep, s string) error {
	if width < 1 {
		return wrapArgument(0, errors.New("must be at least 1"))
	}
	breaks := 2*(len(s)/width) + 2
	if n := addLengths(len(s), multiplyLengths(breaks, len(sep))); n > lim.Bytes {
		return tooLong(n, lim)
	}
	return nil
}
