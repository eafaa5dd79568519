package laws

import (
	"strings"
	"testing"
)

// notInOperator are the packages of engine/ that the operator's binary does not
// contain. The list may only shrink. Package engine is what others embed.
var notInOperator = []string{"engine"}

// TestOperatorPackages: the operator's binary contains every package of engine/,
// and none of author/ and admin/. So what runs in the Pod can be read in one place.
func TestOperatorPackages(t *testing.T) {
	inBinary := map[string]bool{}
	for _, p := range list(t, "-tags", "operator", "-json=ImportPath", ".") {
		if !p.ours() {
			continue
		}
		inBinary[p.name()] = true
		if area, _, _ := strings.Cut(p.name(), "/"); area == "author" || area == "admin" || area == "test" {
			t.Errorf("the operator's binary contains %s", p.name())
		}
	}
	excepted := map[string]bool{}
	for _, name := range notInOperator {
		excepted[name] = true
		if inBinary[name] {
			t.Errorf("the operator's binary contains %s: take it out of notInOperator", name)
		}
	}
	for _, name := range inPod {
		if !inBinary[name] && !excepted[name] {
			t.Errorf("the operator's binary does not contain %s: only tools use it, so it belongs into author/ or admin/", name)
		}
	}
}
