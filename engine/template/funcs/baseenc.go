package funcs

import (
	"encoding/base32"
	"encoding/base64"
	"errors"
	"unicode/utf8"
)

var baseFuncs = map[string]any{
	"b64enc": makeEncoder(base64.StdEncoding),
	"b64dec": makeDecoder(base64.StdEncoding, "base64"),
	"b32enc": makeEncoder(base32.StdEncoding),
	"b32dec": makeDecoder(base32.StdEncoding, "base32"),
}

// A coding is base64 or base32.
type coding interface {
	EncodedLen(n int) int
	EncodeToString(src []byte) string
	DecodeString(s string) ([]byte, error)
}

func makeEncoder(c coding) any {
	return func(lim Limits, s string) (string, error) {
		if err := fitsBytes(c.EncodedLen(len(s)), lim); err != nil {
			return "", err
		}
		return c.EncodeToString([]byte(s)), nil
	}
}

func makeDecoder(c coding, name string) any {
	return func(s string) (string, error) {
		data, err := c.DecodeString(s)
		if err != nil {
			return "", wrapArgument(0, errors.New("is not valid "+name))
		}
		if !utf8.Valid(data) {
			return "", errors.New("the result is not text but binary data")
		}
		return string(data), nil
	}
}
