package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A digested file is one of the release.
type digested struct{ name, sum string }

// listDigests returns the digests of all files that are there, sorted by name.
func (r *release) listDigests() ([]digested, error) {
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return nil, err
	}
	var all []digested
	for _, d := range entries {
		sum, err := sumOf(filepath.Join(r.output, d.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, digested{d.Name(), sum})
	}
	return all, nil
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(file string) (string, error) {
	from, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer from.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, from); err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// writeSums writes the checksums of all files that are there, as sha256sum
// --check reads them.
func (r *release) writeSums() error {
	all, err := r.listDigests()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range all {
		fmt.Fprintf(&text, "%s  %s\n", f.sum, f.name)
	}
	return os.WriteFile(filepath.Join(r.output, sums), []byte(text.String()), 0o644)
}
