package laws

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
)

// chartFiles is where the chart has what `make chart` writes.
const chartFiles = "charts/jacquard/files/"

// TestChartFiles: what the chart has of the kinds and of the rights is what
// `jacquard pack` makes of them now, of every kind that ships and of no other.
func TestChartFiles(t *testing.T) {
	names := stems(t, "crds/*.yaml")
	if packed := stems(t, chartFiles+"kinds/*.yaml"); !slices.Equal(names, packed) {
		t.Errorf("the chart has %v, the kinds are %v: run `make chart`", packed, names)
	}
	for _, name := range names {
		fresh(t, filepath.Join("kinds", name+".yaml"), "pack", name)
	}
	fresh(t, "base.yaml", "pack", "--include", "base")
}

// fresh checks a file against what a command prints, which is always the same.
func fresh(t *testing.T, name string, args ...string) {
	t.Helper()
	var first, again, trouble bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &again} {
		if code := cli.Main(args, strings.NewReader(""), out, &trouble); code != 0 {
			t.Errorf("jacquard %s exits with %d: %s", strings.Join(args, " "), code, trouble.String())
		}
	}
	if first.String() != again.String() {
		t.Errorf("jacquard %s prints another thing each time", strings.Join(args, " "))
	}
	if !bytes.Equal(first.Bytes(), read(t, chartFiles+name)) {
		t.Errorf("%s is stale: run `make chart`", chartFiles+name)
	}
}
