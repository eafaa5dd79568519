package kit

import (
	"os"
	"testing"
)

// Nightly skips a test that only a part of make nightly runs.
func Nightly(t testing.TB, part string) {
	t.Helper()
	if os.Getenv("NIGHTLY") == "" {
		t.Skip("make nightly-" + part + " runs it")
	}
}
