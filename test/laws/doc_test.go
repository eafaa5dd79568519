// Package laws holds the laws of the repository: what must stay true of its code,
// data and documents, whatever is changed. Its tests run in the repository's root.
package laws

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
