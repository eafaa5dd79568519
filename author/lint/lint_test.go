package lint

import (
	"context"
	"testing"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// TestShipped: nothing is found in what is shipped.
func TestShipped(t *testing.T) {
	for _, root := range []string{"../..", "../../examples/embedded", "../../examples/kinds/memcached", "../../examples/kinds/webapp",
		"../../examples/kinds/webhosting", "../../examples/patterns"} {
		c, err := catalog.Load([]string{root})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Kinds) == 0 || len(c.Faults()) > 0 {
			t.Errorf("%s: %d kinds, and %v", root, len(c.Kinds), c.Faults())
		}
		for name := range c.Kinds {
			for _, f := range Check(context.Background(), c, name) {
				t.Errorf("%s: %s", f.Class, f.Error())
			}
		}
	}
}

// BenchmarkShipped measures jacquard lint over the kinds of this repository,
// all of them for each operation: reading, loading and checking.
func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		c, err := catalog.Load([]string{"../.."})
		if err != nil {
			b.Fatal(err)
		}
		for name := range c.Kinds {
			Check(context.Background(), c, name)
		}
	}
}
