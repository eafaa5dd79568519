package ownership

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
)

// hashVersion prefixes every hash, so that another way of hashing can never
// be taken for this one.
const hashVersion = "v1:"

// Hash is "v1:" and the hexadecimal SHA-256 of obj's canonical JSON: sorted
// keys, no spaces, no HTML escaping, and numbers in their shortest form, so
// that int64(1) and float64(1) are the same. It fails for what JSON cannot say
// (NaN, infinities, functions).
func Hash(obj map[string]any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(obj); err != nil {
		return "", fmt.Errorf("hashing an object: %w", err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hashVersion + hex.EncodeToString(sum[:]), nil
}

var hash = regexp.MustCompile(`^` + hashVersion + `[0-9a-f]{64}$`)

// IsHash reports whether a text is a hash as Hash makes it.
func IsHash(text string) bool { return hash.MatchString(text) }
