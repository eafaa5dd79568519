package lint

import (
	"context"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/offline"
)

// TestShipped: nothing is found in what is shipped.
func TestShipped(t *testing.T) {
	for _, root := range []string{"../..", "../../examples/embedded", "../../examples/kinds/memcached", "../../examples/kinds/webapp"} {
		c, err := offline.Load([]string{root})
		if err != nil {
			t.Fatal(err)
		}
		for name := range c.Kinds {
			for _, f := range Check(context.Background(), c, name) {
				t.Errorf("%s: %s", f.Class, f.Error())
			}
		}
	}
}
