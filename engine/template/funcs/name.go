package funcs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

var nameFuncs = map[string]any{"childName": childName}

const (
	// MaxName is how long a name of an object may be: a DNS label, RFC 1123.
	MaxName  = 63
	hashSize = 8 // hexadecimal digits
)

// childName joins a name and a suffix with a dash. What is longer than 63
// bytes, or ends as no name may, is cut and gets a hash of the whole, so that
// other names still give others.
func childName(name, suffix string) (string, error) {
	for i, part := range []string{name, suffix} {
		if part == "" {
			return "", wrapArgument(i, errors.New("is empty"))
		}
	}
	whole := name + "-" + suffix
	if len(whole) <= MaxName && trimName(whole) == whole {
		return whole, nil
	}
	sum := sha256.Sum256([]byte(whole))
	head := whole[:alignEnd(whole, min(len(whole), MaxName-hashSize-1))]
	if head = trimName(head); head != "" {
		head += "-"
	}
	return head + hex.EncodeToString(sum[:])[:hashSize], nil
}

func trimName(s string) string { return strings.TrimRight(s, "-.") }
