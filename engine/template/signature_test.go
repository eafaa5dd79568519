package template

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/funcs"
)

// TestSpecialsHaveSignatures: whoever checks calls before they are made knows
// every function that templates may call, with the numbers of its arguments.
func TestSpecialsHaveSignatures(t *testing.T) {
	for _, name := range Specials() {
		sig, ok := funcs.SignatureOf(name)
		if !ok {
			t.Errorf("%s has no signature", name)
			continue
		}
		if fn, own := specials[name]; own && (sig.Min != fn.min || sig.Max != fn.max) {
			t.Errorf("%s takes %d to %d arguments, but its signature says %d to %d", name, fn.min, fn.max, sig.Min, sig.Max)
		}
	}
}
